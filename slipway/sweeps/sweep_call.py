"""Points of a sweep that was called for from Python: as a grid, as a list, or by its file. Pure but for that."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from numbers import Real
from pathlib import Path

from slipway.catalog.placeholders import render
from slipway.sweeps.points import MOST, Content, Node, Points, points
from slipway.sweeps.sweep_file import read

Value = str | float | None
Runs = Mapping[str, Iterable[Value]] | Iterable[Mapping[str, Value]] | str | os.PathLike[str]
"""`{"trees": [100, 200], "seed": range(10)}` is every combination, `[{"trees": 100}, {"trees": 200, "seed": 3}]` a run
for each entry (None is the default), and a text the path of a sweep's file."""

_FIX = 'runs={"trees": [100, 200]}, for every combination, or runs=[{"trees": 100}, {"trees": 200}]'


def points_of(runs: Runs) -> Points:
    """Make points with their mistakes, by the numbers of runs, or by the place among a parameter's values: `trees[1]`.

    Raises ConfigError for a file that can't be read.
    """
    if isinstance(runs, str | os.PathLike):
        return read(Path(os.fsdecode(runs)))
    if isinstance(runs, Mapping):
        axes = tuple((Node(str(name), str(name)), _node(values, str(name))) for name, values in runs.items())
        root = Node("runs", entries=((Node("runs", "grid"), Node("runs", entries=axes)),))
    else:
        root = Node(
            "runs", items=tuple(_entry(run, f"run {number}") for number, run in enumerate(islice(runs, MOST + 1)))
        )
    found = points(Content("runs", root))
    return replace(found, mistakes=tuple(replace(one, fix=_FIX) for one in found.mistakes))


def _entry(run: object, place: str) -> Node:
    if not isinstance(run, Mapping):
        return Node(place)
    pairs = ((Node(place, str(name)), _node(value, place)) for name, value in run.items())
    return Node(place, entries=tuple(pairs))


def _node(value: object, place: str) -> Node:
    """Make a node; of what is neither a text nor a number, nor made of them, a list without items, which is refused."""
    if value is None:
        return Node(place)
    if isinstance(value, str | Real):
        try:
            return Node(place, render(value))
        except ValueError:  # Python writes no whole number of thousands of digits.
            return Node(place, items=())
    if isinstance(value, Mapping):
        return Node(place, entries=tuple((Node(place, str(name)), _node(one, place)) for name, one in value.items()))
    if isinstance(value, Iterable) and not isinstance(value, bytes):
        # A set of texts has another order in each process, and the sweep another id with each order.
        ordered = sorted(value, key=repr) if isinstance(value, set | frozenset) else value
        listed: Sequence[object] = list(islice(ordered, MOST + 1))
        return Node(place, items=tuple(_node(one, f"{place}[{index}]") for index, one in enumerate(listed)))
    return Node(place, items=())
