"""The form of a comment on an outside case, as GitHub shows it, and whether the gate agrees with its truths."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import median

from slipway.findings.finding import Grade
from slipway.review.gate import unapproved
from slipway.review.rendering.comment import comment
from tests.review.case import Case
from tests.review.outside.truth import OutsideCase
from tests.review.play import play

_HIDDEN = re.compile(r"<!--.*?-->|<details>.*?</details>|<sub>.*?</sub>", re.DOTALL)
_WORD = re.compile(r"\w[\w./:@$%,-]*")


@dataclass(frozen=True)
class Judged:
    """A judgement. `words` of open lines, the table's too; `headline` without its heading sign; `lines` that are open.
    `alarmed`: a warning, or a stop, without harm."""

    case: OutsideCase
    headline: str
    lines: tuple[str, ...]
    words: int
    shut: bool
    alarmed: bool

    @property
    def rightly(self) -> bool:
        """Whether the gate is shut exactly where a careful team would look twice."""
        return self.shut is any(truth.stop for truth in self.case.truths)


@cache
def judged(case: OutsideCase) -> Judged:
    found = play(Case(case.title, case.edits, world=case.world))
    seen = html.unescape(_HIDDEN.sub("", comment((found,))))
    lines = tuple(line.removeprefix("- ") for line in seen.splitlines() if line.startswith("- "))
    harmful = any(truth.harmful for truth in case.truths)
    return Judged(
        case=case,
        headline=next(line for line in seen.splitlines() if line.startswith("### ")).removeprefix("### "),
        lines=lines,
        words=len(_WORD.findall(seen)),
        shut=any(True for _ in unapproved((found,))),
        alarmed=not harmful and any(one.grade > Grade.NOTE for one in found.consequences),
    )


def figure(some: Sequence[Judged]) -> str:
    """Return the rows of docs/review.md."""
    words = [one.words for one in some]
    shut, asked = ([one for one in some if one.shut], [one for one in some if not one.rightly])
    rows = (
        ("changes by somebody who had not read the review", len(some)),
        ("words that stand open: median, largest", f"{median(words):.0f}, {max(words)}"),
        ("characters of the longest headline", max(len(one.headline.replace("`", "")) for one in some)),
        ("false alarms where nobody is hurt", sum(one.alarmed for one in some)),
        ("gates shut", len(shut)),
        ("gates open that should be shut", sum(not one.shut for one in asked)),
        ("gates shut that need not be", sum(one.shut for one in asked)),
    )
    return "\n".join(f"| {what} | {told} |" for what, told in rows)
