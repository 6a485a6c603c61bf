"""Pages of a table of resources: columns name, region, number (by age), display_name, state, create_time, body."""

import json
from collections.abc import Mapping
from typing import Any

from local.cloud.store import Store
from local.cloud.vertex.job_filter import Condition

ORDERS = {"create_time": "number", "display_name": "display_name", "state": "state"}


def page(
    store: Store, table: str, region: str, condition: Condition, order: str, descending: bool, after: str, size: int
) -> tuple[list[Mapping[str, Any]], str]:
    """Up to `size` bodies and where the next page starts ("" at the end). `order` is a key of ORDERS.

    By age a page costs what it holds, whatever there is before it. Raises ValueError for a foreign `after`.
    """
    column, way = ORDERS[order], "DESC" if descending else "ASC"
    start, values = "1", list(condition.values)
    if after:
        key, _, number = after.rpartition("|")
        comes = "<" if descending else ">"
        if column == "number":
            start, values = f"number {comes} ?", [*values, int(number)]
        else:
            start, values = f"({column}, number) {comes} (?, ?)", [*values, key, int(number)]
    rows = store.execute(
        f"SELECT body, number, {column} FROM {table} WHERE region = ? AND ({condition.sql}) AND {start} "
        f"ORDER BY {column} {way}, number {way} LIMIT ?",
        (region, *values, size + 1),
    ).fetchall()
    more = f"{rows[size - 1][2]}|{rows[size - 1][1]}" if len(rows) > size else ""
    return [json.loads(body) for body, _, _ in rows[:size]], more
