"""Comments on outside cases: short, without false alarms, and the gate shut just where a careful team looks twice. # N5

`python -m tests.review.outside.test_judged` writes what they come to into docs/review.md.
"""

from __future__ import annotations

import re
from pathlib import Path
from statistics import median

import pytest

from slipway.review.rendering.lines import MOST_OPEN
from slipway.review.words import LONGEST
from tests.review.outside.answers import share
from tests.review.outside.cases import CASES
from tests.review.outside.judged import figure, judged
from tests.review.outside.truth import OutsideCase

PAGE = Path(__file__).parents[3] / "docs" / "review.md"
_SECTION = re.compile(r"(?<=<!-- outside -->\n).*?(?=\n<!-- /outside -->)", re.DOTALL)
_FIELD = re.compile(r" \(`[^`]*`\)$")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_a_comment_is_short_and_its_gate_right(case: OutsideCase) -> None:
    found = judged(case)
    assert len(found.headline.replace("`", "")) <= 120 and "…" not in found.headline
    assert len(found.lines) <= MOST_OPEN
    for line in found.lines:
        sign, sentence = _FIELD.sub("", line).split(" ", 1)
        assert sign in "⛔⚠•✓" and len(sentence.split()) <= LONGEST, line
    assert not found.alarmed
    assert found.rightly


def test_half_of_the_comments_have_at_most_60_words_open_and_the_page_says_so() -> None:
    some = [judged(case) for case in CASES]
    assert median(one.words for one in some) <= 60
    assert max(one.words for one in some) <= 120
    found = _SECTION.search(PAGE.read_text(encoding="utf-8"))
    assert found and found[0] == made(), "python -m tests.review.outside.test_judged writes it"


def made() -> str:
    return f"\n| | |\n|---|---|\n{figure([judged(case) for case in CASES])}\n{share()}\n"


if __name__ == "__main__":
    PAGE.write_text(_SECTION.sub(lambda _: made(), PAGE.read_text(encoding="utf-8")), encoding="utf-8")
