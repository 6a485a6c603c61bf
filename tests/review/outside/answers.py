"""Answers that readers who know nothing of Slipway gave from comments alone, and their grades (questions.md).

`python -m tests.review.outside.answers` prints the comments alone, numbered as `ALL` has the cases.
"""

from __future__ import annotations

import html
import json
import re
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from slipway.review.rendering.comment import comment
from tests.review.case import Case
from tests.review.outside.cases import ALL
from tests.review.play import play

QUESTIONS = ("who", "since", "effect", "cost", "instead")
MOST = 2
_SHEETS = Path(__file__).with_name("sheets")


@dataclass(frozen=True)
class Answered:
    """One comment's answers. `points`: 0 to 2 for each question. `wrong`: answers that were sure, and wrong."""

    title: str
    answers: tuple[str, ...]
    points: tuple[int, ...]
    wrong: tuple[str, ...]


@dataclass(frozen=True)
class Sheet:
    date: str
    commit: str
    answered: tuple[Answered, ...]


@cache
def sheets() -> tuple[Sheet, ...]:
    """Return all sheets, the oldest first."""
    return tuple(_sheet(json.loads(file.read_text(encoding="utf-8"))) for file in sorted(_SHEETS.glob("*.json")))


def _sheet(told: dict[str, object]) -> Sheet:
    listed = told["answered"]
    assert isinstance(listed, list)
    answered = tuple(
        Answered(one["case"], tuple(one[each] for each in QUESTIONS), tuple(one["points"]), tuple(one["wrong"]))
        for one in listed
    )
    return Sheet(str(told["date"]), str(told["commit"]), answered)


def share() -> str:
    """Return the rows of docs/review.md, of the newest sheet."""
    newest = sheets()[-1]
    points = [point for one in newest.answered for point in one.points]
    wrong = sum(len(one.wrong) for one in newest.answered)
    when = f"{newest.date}, {newest.commit}"
    return "\n".join(
        (
            f"| comments read by somebody who knows nothing of Slipway ({when}) | {len(newest.answered)} |",
            f"| right answers from the comment alone | **{sum(points) / (MOST * len(points)):.0%}** |",
            f"| answers that were sure, and wrong | {wrong} of {len(points)} |",
        )
    )


def alone() -> str:
    told = []
    for number, case in enumerate(ALL, 1):
        seen = comment((play(Case(case.title, case.edits, world=case.world)),))
        told.append(f"{'=' * 80}\nCOMMENT {number}\n{html.unescape(re.sub(r'<!--.*?-->', '', seen, flags=re.DOTALL))}")
    return "\n".join(told)


if __name__ == "__main__":
    sys.stdout.write(alone())
