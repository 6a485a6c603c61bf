"""The table of rules: `table.json` has a row for each consequence, with its kind and its fixed phrases.

A row's word is its kind, where the kind has no other row. In the phrases `{it}` is the subject's name, and other words
in braces are the values that the rule fills in. In brackets stand alternatives, parted by `|`: the first one counts
whose values are all there (nothing empty, and no 0), and none where each lacks one; `busy?` in front of an alternative
asks for a value that it does not show. Lines are joined by `; `, and those without text left out. A part that is
missing is empty, `who` is the subject itself, and the grade is the kind's. `did` is what people lately did whom it
hits, `of` the group of a cluster's fate, and `says` a phrase of no consequence.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from string import Formatter
from typing import Any

from slipway.deploying.engine.lifecycle import Effect
from slipway.model.findings.finding import Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.model.prices import Price
from slipway.reviewing.change.edits import Edit
from slipway.reviewing.consequence import IT, Consequence, consequence
from slipway.reviewing.rules.row_names import RowName as RowName

_PARTS = ("who", "does", "so", "instead", "field")
Row = Mapping[str, str]
ROWS: Mapping[str, Row] = {
    row.get("row") or row["kind"]: row for row in json.loads(Path(__file__).with_name("table.json").read_text("utf-8"))
}
_INNERMOST = re.compile(r"\[([^\[\]]*)\]")
_ASKS = re.compile(r"^(?:\w+\? ?)+")


def phrase(text: str, values: Mapping[str, object]) -> str:
    """Return a text of the table with its values, and of its alternatives those whose values are there."""

    def chosen(match: re.Match[str]) -> str:
        there = (part for part in match[1].split("|") if _stands(part, values))
        return _ASKS.sub("", next(there, ""))

    while _INNERMOST.search(text):
        text = _INNERMOST.sub(chosen, text)
    return "; ".join(filter(None, text.split("\n"))).format_map({"it": IT, **values})


def _stands(text: str, values: Mapping[str, object]) -> bool:
    """Tell whether all values are there that an alternative has or asks for."""
    asks = _ASKS.match(text)
    named = [*re.findall(r"\w+", asks[0] if asks else ""), *(name for _, name, _, _ in Formatter().parse(text) if name)]
    return all(values[name] for name in named if name != "it")


def say(row: RowName, **values: object) -> str:
    """Return a row's phrase that is no consequence's, with these values in it."""
    return phrase(ROWS[row]["says"], values)


def by_row(
    row: RowName,
    subject: Subject,
    *,
    edits: Iterable[Edit] = (),
    details: Iterable[str] = (),
    grade: Grade | None = None,
    cost: Price | None = None,
    field: str = "",
    as_kind: str = "",
    **values: object,
) -> Consequence:
    """Return the consequence of a row, with these values in its phrases. `grade`, `field` and `as_kind`: where they are
    not the row's; `cost`: USD an hour."""
    told = {**ROWS[row], **({"kind": as_kind} if as_kind else {})}
    parts: dict[str, Any] = {"row": row, "edits": edits, "details": details, "cost": float(cost.known) if cost else 0.0}
    # Of two remedies the first may be missing.
    parts |= {part: phrase(told[part], values).removeprefix("or ") for part in _PARTS if part in told}
    parts |= {"field": field} if field else {}
    return consequence(told["kind"], subject, grade=grade or usual_grade(told), **parts)


def follows(
    row: RowName | Row, *, grade: Grade | None = None, details: tuple[str, ...] = (), **words: object
) -> Effect:
    """Return a row's phrases with these values in them. `grade`: where it is not the row's."""
    told = ROWS[row] if isinstance(row, str) else row
    does, so, instead = (phrase(told.get(part, ""), words) for part in ("does", "so", "instead"))
    name = told.get("row", told["kind"])
    return Effect(does, so, grade or usual_grade(told), instead, told["kind"], details=details, row=name)


def usual_grade(told: Row) -> Grade:
    return Grade[told["grade"].upper()] if "grade" in told else KINDS[told["kind"]].usual
