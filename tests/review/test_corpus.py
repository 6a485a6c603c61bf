"""The corpus: whether everything that a change does is said, and nothing else. # N5

A case stands in the file of what it hurts first, so that whoever edits a rule finds its cases by their subject.

`python -m tests.review.test_corpus` writes what it comes to into docs/review.md.
"""

import html
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from statistics import median

import pytest

from slipway.model.findings.finding import Grade, Section
from slipway.model.findings.kinds import KINDS
from slipway.reviewing.change.change import Change
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.gate import unannounced
from slipway.reviewing.review import Review, review
from slipway.reviewing.rules.table import ROWS
from slipway.reviewing.told.comment import comment
from slipway.reviewing.told.headline import headline
from tests.review.case import Case, Named, World, h100, more, stack
from tests.review.chosen import parameters
from tests.review.edits import ADA, NIGHTLY, POLICY, RESERVED, VISION, trainer
from tests.review.play import change_of, play
from tests.review.rows import rows_of
from tests.review.test_conditions import GROUPS
from tests.review.test_rare_worlds import WORLDS

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
    *(section.value for section in Section if section not in (Section.CLUSTERS, Section.POLICY, Section.HEALTH)),
)
_SECTION = re.compile(r"(?<=<!-- corpus -->\n).*?(?=<!-- /corpus -->)", re.DOTALL)
_HIDDEN = re.compile(r"<!--.*?-->|<details>.*?</details>|<sub>.*?</sub>", re.DOTALL)
_WORD = re.compile(r"\w[\w./:@$%,-]*")


@dataclass(frozen=True)
class Score:
    """The score of a case."""

    case: Case
    harm: int
    #: Required findings, also notes.
    missed: tuple[Named, ...]
    #: The number of all warnings.
    warnings: int
    #: Unexpected warnings.
    alarms: tuple[Consequence, ...]
    #: What blocks and need not.
    shut: tuple[Consequence, ...]
    #: Comparisons that failed.
    unable: tuple[str, ...]
    said: int
    #: Those that stand open in the comment.
    words: int
    #: The rows of the table that told it.
    rows: frozenset[str]

    @property
    def harm_missed(self) -> int:
        return sum(finding.harmful for finding in self.missed)


def score(case: Case, reviewed: Review) -> Score:
    warnings = [consequence for consequence in reviewed.consequences if consequence.grade >= Grade.WARNING]
    return Score(
        case=case,
        harm=sum(name.harmful for name in case.names),
        missed=tuple(name for name in case.names if not any(_says(said, name) for said in reviewed.consequences)),
        warnings=len(warnings),
        alarms=tuple(warning for warning in warnings if not _fair(warning, case, Grade.WARNING)),
        shut=tuple(
            warning
            for warning in warnings
            if warning.grade is Grade.BLOCKING and not _fair(warning, case, Grade.BLOCKING)
        ),
        unable=tuple(part for part in reviewed.incomplete if "could not be compared" in part),
        said=len(reviewed.consequences),
        words=len(_WORD.findall(html.unescape(_HIDDEN.sub("", comment((reviewed,)))))),
        rows=rows_of(reviewed.consequences),
    )


def _says(said: Consequence, wanted: Named) -> bool:
    text = "\n".join((said.subject, said.sentence, said.instead, *map(str, said.edits), *said.details, said.field))
    return (
        said.kind in wanted.kinds
        and wanted.subject in said.subject
        and said.grade >= wanted.least
        and all(word in text for word in wanted.words)
    )


def _fair(said: Consequence, case: Case, grade: Grade) -> bool:
    named = (name for name in case.names if said.kind in name.kinds and name.subject in said.subject)
    return said.kind in case.may or any(required.least >= grade for required in named)


def figure(scores: Iterable[Score]) -> str:
    """Return the section of docs/review.md."""
    all_ = list(scores)
    harm, missed = sum(score.harm for score in all_), sum(score.harm_missed for score in all_)
    warnings, alarms = sum(score.warnings for score in all_), sum(len(score.alarms) for score in all_)
    harmless = [score for score in all_ if score.case.harmless]
    words = [score.words for score in all_]
    accidents = sum(bool(score.case.accident) for score in all_)
    rows: Mapping[str, str] = {
        "changes": f"{len(all_)}, {accidents} of them after public accidents, {len(harmless)} harmless",
        "harm that a careful person would name": str(harm),
        "named, with who or what is concerned": f"**{harm - missed} of {harm}**",
        "of all warnings, for nothing": f"**{100 * alarms / max(warnings, 1):.1f} %**",
        "words that stand open in a comment: median, largest": f"{median(words):.0f}, {max(words)}",
        "harmless changes without any warning": f"{sum(not score.alarms for score in harmless)} of {len(harmless)}",
    }
    table = "\n".join(f"| {what} | {how} |" for what, how in rows.items())
    return (
        "## How well it sees\n\n"
        "Measured by `tests/review/test_corpus.py`, which makes this table, on a corpus of small changes of the stack\n"
        "file, of templates, of job code and of the program: each with the jobs, quota and clusters that it meets and\n"
        "with what a careful person would say of it. The engine's events are given where only it knows.\n"
        "`tests/review/cases/others.py` is by an author who had not read the review.\n\n"
        f"| | |\n|---|---|\n{table}\n"
    )


def test_it_has_all_sides_and_sixty_harmless_changes() -> None:
    cases = list(CASES.values())
    assert len(cases) == sum(len(theme.CASES) for theme in THEMES)
    assert sum(bool(case.accident) for case in cases) >= len(cases) / 2
    assert sum(case.harmless for case in cases) >= 60
    sides = Counter(side for case in cases for side in {side_of(kind) for name in case.names for kind in name.kinds})
    assert all(sides[side] >= 4 for side in SIDES), sides


def side_of(kind: str) -> str:
    section = KINDS[kind].section
    return section.value if section is not Section.CLUSTERS else "jobs" if kind.startswith("jobs-") else "capacity"


def stops(change: Change) -> list[str]:
    """Return what stops the scheduled deployment, which is of the deployed commit: it does what time brings and stops
    at any edit."""
    if change.before is None or change.after is None:
        return ["no deployment to compare"]
    deployed = change.before.catalog
    catalog = replace(change.after.catalog, commit=deployed.commit, dirty=deployed.dirty)
    same = replace(change, after=replace(change.after, catalog=catalog))
    return [consequence.kind for consequence in unannounced([review(same)])]


@pytest.mark.corpus
@pytest.mark.parametrize("says", parameters(CASES))
def test_everything_is_named_nothing_else_and_the_gate_is_shut_where_it_should_be(says: str) -> None:
    change = change_of(CASES[says])
    reviewed = review(change)
    required = score(CASES[says], reviewed)
    assert (required.missed, required.alarms, required.shut, required.unable) == ((), (), (), ())
    assert [secret for secret in required.case.never if secret in repr(reviewed)] == []
    assert required.said == 0 or not required.case.silent, "it means nothing"
    assert required.words <= 160
    if required.case.by_itself:  # N14 # B6
        assert required.case.world.first or stops(change) == []
    elif required.said:
        assert stops(change)


def test_the_headline_names_what_hits_every_job_before_what_hits_a_submission() -> None:
    case = CASES["A parameter gets another name, in its argument as well, and the code keeps the old one"]
    assert headline((play(case),)).startswith("⛔ prod: Jobs of `lora` fail at their start")


def test_the_headline_names_what_a_program_does_before_that_it_is_edited() -> None:
    case = replace(CASES["Anybody on the internet may read the results"], files=("__main__.py",))
    first, second = headline((play(case),)).split(" · ")
    assert first.startswith("⛔ prod: Anybody on the internet") and second == "Code that may deploy or judge is edited"


def test_the_headline_names_the_cluster_that_goes_before_the_jobs_that_lose_it() -> None:
    limit = stack("retireWithin: 7d\n", "retireWithin: 7d\n      idleLimit: 1h\n")
    idle = Case("The CPU cluster goes when idle", (limit,), given=(stack("    - tune\n", ""),))
    assert headline((play(idle),)).startswith("⚠ prod: `cpu` is idle and is deleted")


def test_what_people_of_no_team_submit_is_not_told_to_name_one() -> None:
    given = (trainer(ADA), more("digits", 'trainer="tuning"'))
    told = play(Case("A cluster becomes a team's", (stack(POLICY, VISION + POLICY),), given=given)).consequences
    (lost,) = (part.so for part in told if part.kind == "offer-unavailable")
    assert lost.startswith("cluster `cpu` takes jobs of team `vision` alone")


def test_a_bucket_that_is_kept_for_jobs_has_no_card_of_clusters() -> None:
    told = play(
        CASES["H100 that came from another region are to be at home again, while a job runs on them"]
    ).consequences
    (kept,) = (part for part in told if part.row == "kept-for-jobs")
    assert kept.section is Section.DATA


def test_a_reservation_that_ends_sooner_is_told_of_the_templates_that_it_leaves() -> None:
    given, sooner = stack("machines: 2 }", "machines: 2, until: 2027-01-10 }"), stack("2027-01-10", "2026-12-02")
    case = Case("A reservation ends sooner", (sooner,), given=(given,), world=World(jobs=(RESERVED,)))
    (told,) = play(case).consequences
    assert told.grade is Grade.WARNING and "no submission of `lora` takes its machines" in told.sentence


def test_what_ends_in_the_same_change_is_no_way_to_run_from_then_on() -> None:
    given = (stack("machines: 2 }", "machines: 2, until: 2027-01-10 }"), h100("until: 2027-02-01"))
    sooner = stack("2027-01-10", "2026-12-02")
    case = Case("Both ends come sooner", (sooner, stack("2027-02-01", "2026-12-04")), given=given)
    told = {part.kind: part.sentence for part in play(case).consequences}
    assert "the reservation" not in told["season-changed"]


def test_a_person_who_sent_nothing_and_may_be_in_a_group_shuts_no_gate() -> None:
    leaves = CASES["A person who has a job running leaves the submitters"]
    (gone,) = play(replace(leaves, world=World())).consequences
    assert gone.grade is Grade.WARNING and "submission" not in gone.sentence


def test_a_leaver_is_told_with_the_key_that_takes_submitting_away() -> None:
    leaves = CASES["The account of the nightly search leaves the submitters"]
    empty = stack(f"      submitters:\n        - {NIGHTLY}\n", "      submitters: []\n")
    edits = (stack(f"      - {NIGHTLY}\n    catalogBucket", "    catalogBucket"), empty)
    told = play(replace(leaves, edits=edits, given=(trainer(NIGHTLY),))).consequences
    assert [part.field for part in told if part.row == "submitter-gone"] == ["slipway:workspace.submitters"]


def test_a_line_below_the_title_has_the_key_of_what_it_tells() -> None:
    says = "Fewer and larger machines, of which the nightly search asks for more than there can be"
    said = comment((play(CASES[says]),))
    key = "slipway:persistentResources.cpu.pools.workers.machine"
    assert f"- ⚠ edits of `machine`, `min` and `max` make a second `cpu` (`{key}`)\n" in said


def test_a_comment_is_the_same_in_each_process() -> None:
    says = "A cluster becomes a team's, where sessions of all may run alone and another team has a share"
    code = f"from tests.review.test_corpus import *; print(comment((play(CASES[{says!r}]),)))"
    # These two seeds put the names of its clusters into either order.
    seeds = ({**os.environ, "PYTHONHASHSEED": seed} for seed in ("1", "11"))
    first, second = (subprocess.check_output([sys.executable, "-c", code], env=env) for env in seeds)
    assert first == second


def test_the_cost_of_a_usual_run_is_told_once() -> None:
    (cost,) = (part for part in play(CASES["A smaller disk for the weights"]).consequences if part.kind == "run-cost")
    assert "A default run" in cost.sentence and "on Spot" in cost.sentence


@pytest.mark.corpus
def test_together_they_have_each_row_and_each_value_and_the_page_says_what_they_come_to() -> None:
    """All in one test, as a worker plays each case for it. A brace of a phrase is left in no comment; `${name}` is an
    argument's, and an edited line may have any."""
    reviews = [play(case) for case in CASES.values()]
    scores = list(map(score, CASES.values(), reviews))
    told = {row for score in scores for row in score.rows} | {row for group in GROUPS for row in group.rows}
    assert {name for name, row in ROWS.items() if "kind" in row} <= told | WORLDS.keys()
    phrases = {
        (part.row, phrase)
        for reviewed in reviews
        for part in reviewed.consequences
        for phrase in (part.sentence, part.instead.replace("{it}", ""), part.field)
    }
    assert [each for each in phrases if re.search(r"(?<!\$)\{[a-z_]+\}", each[1])] == []
    assert median(score.words for score in scores) <= 60
    match = _SECTION.search(PAGE.read_text(encoding="utf-8"))
    assert match and match[0] == figure(scores), "python -m tests.review.test_corpus writes it"


if __name__ == "__main__":
    table = figure(score(case, play(case)) for case in CASES.values())
    PAGE.write_text(_SECTION.sub(lambda _: table, PAGE.read_text(encoding="utf-8")), encoding="utf-8")
