"""Rows of the table of rules, found again in what a review tells."""

import re
from collections.abc import Iterable
from functools import cache

from slipway.reviewing.consequence import IT, Consequence
from slipway.reviewing.rules.table import ROWS

_PARTS = ("who", "does", "so", "instead")
_VALUE = re.compile(r"\\\{.*?\\\}")


def rows_of(consequences: Iterable[Consequence]) -> frozenset[str]:
    """Return the rows whose phrases consequences have, with any values in them: of several that fit the one with the
    most words of its own."""
    fitting = ([row for row in ROWS if tells(told, row)] for told in consequences)
    return frozenset(max(rows, key=_own) for rows in fitting if rows)


def tells(told: Consequence, row: str) -> bool:
    if told.kind != ROWS[row]["kind"]:
        return False
    return all(_pattern(row, part).fullmatch(getattr(told, part)) for part in _PARTS)


def _own(row: str) -> int:
    return sum(len(re.sub(r"\{.*?\}", "", ROWS[row].get(part, ""))) for part in _PARTS)


@cache
def _pattern(row: str, part: str) -> re.Pattern[str]:
    phrase = ROWS[row].get(part, IT if part == "who" else "")
    name = re.escape(re.escape(IT))
    return re.compile(re.sub(rf"(?!{name}){_VALUE.pattern}", ".*", re.escape(phrase)), re.DOTALL)
