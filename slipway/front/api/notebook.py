"""HTML that notebooks show in place of a value's text: small tables, with every text escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from slipway.base.errors import visible
from slipway.base.formatting import short

_MOST_ROWS = 200
_LONGEST = 120
_LEFT = ' style="text-align: left"'


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Return a row for each known fact."""
    rows = (f"<tr><th{_LEFT}>{_text(name)}</th>{_cell(value)}</tr>" for name, value in pairs if value)
    return f"<table>{''.join(rows)}</table>"


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return the first rows, and the number of the others."""
    head = "".join(f"<th{_LEFT}>{_text(title)}</th>" for title in heads)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows[:_MOST_ROWS])
    more = f"<p>and {len(rows) - _MOST_ROWS:,} more</p>" if len(rows) > _MOST_ROWS else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _cell(value: str) -> str:
    return f"<td{_LEFT}>{_text(value)}</td>"


def _text(value: str) -> str:
    return escape(visible(short(value, _LONGEST)))
