"""The data of time series, in a table of its own: one value for each step, the last one written."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from ...store import Store

_TABLE = """CREATE TABLE IF NOT EXISTS tensorboard_points (
    series TEXT NOT NULL, step INTEGER NOT NULL, wall_time TEXT NOT NULL, point TEXT NOT NULL,
    PRIMARY KEY (series, step)) WITHOUT ROWID"""
_TOP = "\U0010ffff"

Point = Mapping[str, Any]
"""A TimeSeriesDataPoint in canonical JSON."""


def open_table(store: Store) -> None:
    with store.transaction():
        store.execute(_TABLE)


def write(store: Store, series: str, points: Iterable[Point]) -> None:
    """Write points of the time series with this full name. Within a transaction."""
    for point in points:
        store.execute(
            "INSERT INTO tensorboard_points VALUES (?, ?, ?, ?) ON CONFLICT (series, step) DO UPDATE SET "
            "wall_time = excluded.wall_time, point = excluded.point",
            (series, int(point.get("step", 0)), point.get("wallTime", ""), json.dumps(point, separators=(",", ":"))),
        )


def read(store: Store, series: str, most: int) -> list[Point]:
    """Return the points by step: all, or (where `most` is not -1) so many evenly, with the first and the last."""
    rows = store.execute("SELECT point FROM tensorboard_points WHERE series = ? ORDER BY step", (series,)).fetchall()
    if 0 < most < len(rows):
        last = len(rows) - 1
        rows = [rows[at * last // (most - 1)] for at in range(most)] if most > 1 else rows[-1:]
    return [json.loads(row[0]) for row in rows]


def extent(store: Store, series: str) -> tuple[int, str] | None:
    """Return the largest step and the latest time, None while there are no points."""
    row = store.execute("SELECT max(step), max(wall_time) FROM tensorboard_points WHERE series = ?", (series,))
    step, moment = row.fetchone()
    return None if step is None else (int(step), str(moment))


def remove(store: Store, name: str) -> None:
    """Remove the points of a time series, or of all below a name. Within a transaction."""
    store.execute("DELETE FROM tensorboard_points WHERE series = ?", (name,))
    store.execute("DELETE FROM tensorboard_points WHERE series >= ? AND series < ?", (f"{name}/", f"{name}/{_TOP}"))
