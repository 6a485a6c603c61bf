"""The score of a review: the findings that it misses, and its needless warnings."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median

from slipway.findings.finding import Finding, Grade
from slipway.review.rendering.comment import comment
from slipway.review.review import Review
from tests.review.case import Case, Named

_HIDDEN = re.compile(r"<!--.*?-->|<details>.*?</details>|<sub>.*?</sub>", re.DOTALL)
_WORD = re.compile(r"\w[\w./:@$%,-]*")


@dataclass(frozen=True)
class Score:
    """The score of a case: its `harm`, `missed` required findings (also notes), `alarms`: unexpected warnings, of
    `warnings` in all, `shut`: what blocks and need not. `words` stand open in the comment."""

    case: Case
    harm: int
    missed: tuple[Named, ...]
    warnings: int
    alarms: tuple[Finding, ...]
    shut: tuple[Finding, ...]
    said: int
    words: int

    @property
    def harm_missed(self) -> int:
        return sum(one.harmful for one in self.missed)


def score(case: Case, found: Review) -> Score:
    warnings = [one for one in found.consequences if one.grade >= Grade.WARNING]
    return Score(
        case=case,
        harm=sum(one.harmful for one in case.names),
        missed=tuple(one for one in case.names if not any(_says(said, one) for said in found.consequences)),
        warnings=len(warnings),
        alarms=tuple(one for one in warnings if not _fair(one, case, Grade.WARNING)),
        shut=tuple(one for one in warnings if one.grade is Grade.BLOCKING and not _fair(one, case, Grade.BLOCKING)),
        said=len(found.consequences),
        words=len(_WORD.findall(html.unescape(_HIDDEN.sub("", comment((found,)))))),
    )


def _says(said: Finding, wanted: Named) -> bool:
    text = "\n".join((said.subject, said.sentence, *said.details, said.field))
    return (
        said.kind in wanted.kinds
        and wanted.subject in said.subject
        and said.grade >= wanted.least
        and all(word in text for word in wanted.words)
    )


def _fair(said: Finding, case: Case, grade: Grade) -> bool:
    named = (one for one in case.names if said.kind in one.kinds and one.subject in said.subject)
    return said.kind in case.may or any(one.least >= grade for one in named)


def figure(scores: Iterable[Score]) -> str:
    """Return the section of docs/review.md."""
    all_ = list(scores)
    harm, missed = sum(one.harm for one in all_), sum(one.harm_missed for one in all_)
    warnings, alarms = sum(one.warnings for one in all_), sum(len(one.alarms) for one in all_)
    harmless = [one for one in all_ if one.case.harmless]
    words = [one.words for one in all_]
    accidents = sum(bool(one.case.accident) for one in all_)
    rows: Mapping[str, str] = {
        "changes": f"{len(all_)}, {accidents} of them after public accidents, {len(harmless)} harmless",
        "harm that a careful person would name": str(harm),
        "named, with who or what is concerned": f"**{harm - missed} of {harm}**",
        "of all warnings, for nothing": f"**{100 * alarms / max(warnings, 1):.1f} %**",
        "words that stand open in a comment: median, largest": f"{median(words):.0f}, {max(words)}",
        "harmless changes without any warning": f"{sum(not one.alarms for one in harmless)} of {len(harmless)}",
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
