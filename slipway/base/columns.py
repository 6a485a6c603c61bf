"""Columns of a list, declared once: its table's cells under their heads, and its JSON's values under their keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from slipway.base.table import Table

Row = TypeVar("Row")


@dataclass(frozen=True)
class Column(Generic[Row]):
    """A column of a list."""

    #: None where only JSON has it.
    head: str | None
    #: Returns a row's value, as JSON has it.
    value: Callable[[Row], Any]
    #: The key in JSON; empty where only the table has it.
    key: str = ""
    #: Returns the text of a row's cell, where that is not the value.
    text: Callable[[Row], str] | None = None
    right: bool = False
    wraps: bool = False
    name: bool = False
    #: Whether it is left out where no row has a text.
    optional: bool = False

    def cell(self, row: Row) -> str:
        return self.text(row) if self.text else str(self.value(row))


def table_of(columns: Iterable[Column[Row]], rows: Sequence[Row]) -> Table:
    """Return the table of the columns that have a head."""
    headed = [(column.head, column) for column in columns if column.head is not None]
    shown = [(head, column) for head, column in headed if not column.optional or any(map(column.cell, rows))]
    return Table(
        heads=[head for head, _ in shown],
        rows=[[column.cell(row) or ("–" if column.optional else "") for _, column in shown] for row in rows],
        right=[head for head, column in shown if column.right],
        wraps=[head for head, column in shown if column.wraps],
        names=sum(column.name for _, column in shown),
    )


def documents(columns: Iterable[Column[Row]], rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Return each row as an object, for `slipway.base.codec.document` to write."""
    keyed = [column for column in columns if column.key]
    return [{column.key: column.value(row) for column in keyed} for row in rows]
