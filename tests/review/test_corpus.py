"""The corpus: whether everything that a change does is said, and nothing else. # N5

`python -m tests.review.test_corpus` writes what it comes to into docs/review.md.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from importlib import import_module
from pathlib import Path
from statistics import median

import pytest

from slipway.findings.finding import Section
from slipway.findings.kinds import KINDS
from tests.review.play import play
from tests.review.score import Score, figure, score

THEMES = tuple(
    import_module(f"tests.review.cases.{path.stem}")
    for path in sorted(Path(__file__).with_name("cases").glob("[a-z]*.py"))
)
CASES = {case.says: case for theme in THEMES for case in theme.CASES}
PAGE = Path(__file__).parents[2] / "docs" / "review.md"
# What a change can do, as the requirements list it.
SIDES = (
    "jobs",
    "capacity",
    *(one.value for one in Section if one not in (Section.CLUSTERS, Section.POLICY, Section.HEALTH, Section.NOTICES)),
)
_SECTION = re.compile(r"(?<=<!-- corpus -->\n).*?(?=<!-- /corpus -->)", re.DOTALL)


@cache
def scored(says: str) -> Score:
    return score(CASES[says], play(CASES[says]))


def test_it_is_large_and_has_all_sides_and_a_quarter_of_it_is_harmless() -> None:
    cases = list(CASES.values())
    assert len(cases) == sum(len(theme.CASES) for theme in THEMES) >= 90
    assert sum(bool(case.accident) for case in cases) >= len(cases) / 2
    assert sum(case.harmless for case in cases) >= len(cases) / 4
    sides = Counter(side for case in cases for side in {side_of(kind) for one in case.names for kind in one.kinds})
    assert all(sides[side] >= 4 for side in SIDES), sides


def side_of(kind: str) -> str:
    section = KINDS[kind].section
    return section.value if section is not Section.CLUSTERS else "jobs" if kind.startswith("jobs-") else "capacity"


@pytest.mark.parametrize("says", CASES)
def test_everything_is_named_and_shuts_the_gate_where_it_should(says: str) -> None:
    assert scored(says).missed == ()
    assert scored(says).shut == ()


@pytest.mark.parametrize("says", [says for says, case in CASES.items() if case.silent])
def test_not_a_word_of_what_means_nothing(says: str) -> None:
    assert scored(says).said == 0


@pytest.mark.parametrize("says", [says for says, case in CASES.items() if case.never])
def test_no_secret_is_told(says: str) -> None:
    said = repr(play(CASES[says]))
    assert [secret for secret in CASES[says].never if secret in said] == []


def test_no_warning_is_false_and_the_page_says_what_it_comes_to() -> None:
    scores = [scored(says) for says in CASES]
    false = {one.case.says: [(said.kind, said.subject) for said in one.alarms] for one in scores if one.alarms}
    assert false == {}
    found = _SECTION.search(PAGE.read_text(encoding="utf-8"))
    assert found and found[0] == figure(scores), "python -m tests.review.test_corpus writes it"


def test_comments_are_short() -> None:
    words = [scored(says).words for says in CASES]
    assert median(words) <= 60 and max(words) <= 160


if __name__ == "__main__":
    PAGE.write_text(_SECTION.sub(figure(map(scored, CASES)).replace("\\", r"\\"), PAGE.read_text(encoding="utf-8")))
