"""docs/played: what went well with the code as it is, kept with the code so that any machine goes on from there.

What did not go well is in no table: it is played again, and its words are on the page.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from bench.faults.points import FAULTS, named

Row = Mapping[str, Any]
"""A line of the journal: `code`, `kind`, `key`, `outcome`, and what else that kind has."""

GOOD: Mapping[str, tuple[str, ...]] = {
    "points": ("survived", "absent"),
    "sequences": ("held",),
    "mutants": ("noticed",),
}
_POINTS = ("journey", "call", "number", "code", *FAULTS)
_SEQUENCES = ("seed", "code", "steps", "refused")
_MUTANTS = ("rule", "code", "test")


def read(folder: Path) -> Iterator[Row]:
    """The rows of the tables in a folder, in no order; none where there is no table."""
    for row in _table(folder / "points.csv"):
        for fault in FAULTS:
            if row[fault]:
                key = " · ".join((row["journey"], row["call"], row["number"], fault))
                yield {"code": row["code"], "kind": "points", "key": key, "outcome": row[fault], "why": ""}
    for row in _table(folder / "sequences.csv"):
        counted = {"steps": int(row["steps"]), "refused": int(row["refused"]), "why": ""}
        yield {"code": row["code"], "kind": "sequences", "key": row["seed"], "outcome": "held", **counted}
    for row in _table(folder / "mutants.csv"):
        yield {"code": row["code"], "kind": "mutants", "key": row["rule"], "outcome": "noticed", "test": row["test"]}


def write(folder: Path, rows: Iterable[Row]) -> None:
    """The tables of these rows, in place of what was there."""
    every = [row for row in rows if row["outcome"] in GOOD[row["kind"]]]
    folder.mkdir(parents=True, exist_ok=True)
    calls: dict[tuple[str, str, int, str], dict[str, str]] = {}
    for row in every:
        if row["kind"] == "points":
            point = named(row["key"])
            key = point.journey, point.call, point.nth, row["code"]
            calls.setdefault(key, {})[point.fault] = row["outcome"]
    _write(
        folder / "points.csv",
        _POINTS,
        (dict(zip(_POINTS, map(str, key), strict=False)) | calls[key] for key in sorted(calls)),
    )
    _write(folder / "sequences.csv", _SEQUENCES, _of(every, "sequences", "seed", int))
    _write(folder / "mutants.csv", _MUTANTS, _of(every, "mutants", "rule", str))


def _of(rows: Iterable[Row], kind: str, name: str, order: Callable[[str], Any]) -> Iterator[Row]:
    mine = [row for row in rows if row["kind"] == kind]
    return ({**row, name: row["key"]} for row in sorted(mine, key=lambda row: order(row["key"])))


def _table(file: Path) -> list[dict[str, str]]:
    if not file.exists():
        return []
    with file.open(encoding="utf-8", newline="") as text:
        return list(csv.DictReader(text))


def _write(file: Path, head: tuple[str, ...], rows: Iterable[Row]) -> None:
    """Whole or not at all, as somebody may end the bench at any time."""
    part = file.with_suffix(".part")
    with part.open("w", encoding="utf-8", newline="") as text:
        table = csv.DictWriter(text, head, extrasaction="ignore", lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    part.replace(file)
