"""The price book's tables, beside this file (`journey/prices.py` makes them anew)."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from pathlib import Path

HOURS_OF_A_MONTH = 730


def cell(table: str, row: str, region: str) -> Decimal | None:
    """Return the price of a machine or disk type in a region; None where the table has none."""
    columns, rows = _table(table)
    if region not in columns or row not in rows:
        return None
    text = rows[row].split(",")[columns[region]]
    return Decimal(text) if text else None


@cache
def _table(name: str) -> tuple[Mapping[str, int], Mapping[str, str]]:
    """Return columns by their heads, and lines by their first cell, unsplit: of a hundred lines two are looked up."""
    text = Path(__file__).with_name(f"{name}.csv").read_text("utf-8")
    head, *lines = [line for line in text.splitlines() if not line.startswith("#")]
    columns = {column: index for index, column in enumerate(head.split(","))}
    return columns, {line.partition(",")[0]: line for line in lines}
