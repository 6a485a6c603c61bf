"""The points of a sweep: one set of parameters for each run, from a grid, a list, or both. Pure.

Values stay the text that was written (`0.10`, `1e-3`, `yes`), as on the command line; the template's types judge
them later. `null` leaves a parameter out, which means its default.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from itertools import product
from math import prod
from typing import Any

from slipway.errors import ConfigError

MOST = 100_000
"""A grid multiplies quickly; nobody means more than this."""

SHAPE = "grid: {NAME: [VALUE, …], …}, or list: [{NAME: VALUE, …}, …], or a CSV with names in its first line"

Tree = Mapping[str, Any] | Sequence[Any] | str | None


@dataclass(frozen=True)
class Point:
    """`values` as text by parameter; `where` names its place in the file for errors."""

    index: int
    values: Mapping[str, str]
    where: str


@dataclass(frozen=True)
class Content:
    """A file's content: nested mappings, lists and texts; `lines` of the entries of its list, from 1, if known."""

    file: str
    tree: Tree
    lines: tuple[int, ...] = ()

    def wrong(self, what: str, fix: str = "") -> ConfigError:
        return ConfigError(f"{self.file}: {what}", fix=fix or SHAPE)


def points(content: Content) -> tuple[Point, ...]:
    """All points in order: each entry of the list with each combination of the grid, whose last name varies fastest.

    Raises ConfigError for a file of another shape, one without a point, and one with too many.
    """
    tree = content.tree
    if isinstance(tree, Sequence) and not isinstance(tree, str):
        tree = {"list": tree}
    if not isinstance(tree, Mapping):
        raise content.wrong("is not a sweep: it holds neither a grid nor a list")
    unknown = [key for key in tree if key not in ("grid", "list")]
    if unknown:
        raise content.wrong(f"{unknown[0]!r} is neither grid nor list")
    rows = _rows(content, tree["list"]) if "list" in tree else [({}, content.file)]
    axes = _axes(content, tree["grid"]) if "grid" in tree else {}
    count = len(rows) * prod(len(values) for values in axes.values())
    if count > MOST:
        raise content.wrong(f"makes {_many(count)} runs", fix=f"at most {MOST:,} in one sweep: split it")
    twice = sorted({name for row, _ in rows for name in row} & set(axes))
    if twice:
        raise content.wrong(f"{twice[0]} is in both the grid and the list", fix="leave it in one of them")
    found = tuple(
        Point(index, values, where) for index, (values, where) in enumerate(_combined(rows, axes, content.file))
    )
    if not found or not ("list" in tree or axes):
        raise content.wrong("has no point, so there is nothing to run")
    return found


def _combined(
    rows: Sequence[tuple[Mapping[str, str], str]], axes: Mapping[str, tuple[str, ...]], file: str
) -> Iterator[tuple[Mapping[str, str], str]]:
    for row, where in rows:
        for combination in product(*axes.values()):
            chosen = dict(zip(axes, combination, strict=True))
            place = ", ".join(f"{name}={value}" for name, value in chosen.items())
            yield {**row, **chosen}, f"{where} ({place})" if place and where != file else where


def _rows(content: Content, tree: Any) -> list[tuple[Mapping[str, str], str]]:
    if not isinstance(tree, Sequence) or isinstance(tree, str):
        raise content.wrong("list: is a list of points")
    found: list[tuple[Mapping[str, str], str]] = []
    for index, entry in enumerate(tree):
        where = f"{content.file}:{content.lines[index]}" if index < len(content.lines) else f"{content.file}[{index}]"
        if not isinstance(entry, Mapping):
            raise ConfigError(f"{where}: a point names its parameters", fix="- {NAME: VALUE, …}")
        nested = [name for name, value in entry.items() if not isinstance(value, str | None)]
        if nested:
            raise ConfigError(f"{where}: {nested[0]} is not one value", fix="one value for each parameter of a point")
        found.append(({name: value for name, value in entry.items() if value is not None}, where))
    return found


def _axes(content: Content, tree: Any) -> dict[str, tuple[str, ...]]:
    if not isinstance(tree, Mapping):
        raise content.wrong("grid: names parameters with their values")
    return {name: _axis(content, name, values) for name, values in tree.items()}


def _axis(content: Content, name: str, values: Any) -> tuple[str, ...]:
    if isinstance(values, Mapping):
        return _range(content, name, values)
    if not isinstance(values, Sequence) or isinstance(values, str):
        raise content.wrong(f"grid: {name} has no list of values", fix=f"{name}: [VALUE, …], or {{from: 0, to: 9}}")
    if not all(isinstance(value, str) for value in values):
        raise content.wrong(f"grid: {name} holds something that is not one value")
    if not values:
        raise content.wrong(f"grid: {name} has no values, so there is nothing to run")
    return tuple(values)


def _range(content: Content, name: str, given: Mapping[str, Any]) -> tuple[str, ...]:
    fix = f"{name}: {{from: 0, to: 9, step: 1}}, both ends included"
    if not {"from", "to"} <= set(given) <= {"from", "to", "step"}:
        raise content.wrong(f"grid: {name} is not a range", fix=fix)
    try:
        first, last, step = (Decimal(str(given.get(key, "1"))) for key in ("from", "to", "step"))
        count = int((last - first) / step) + 1 if (last - first) * step >= 0 else 0
    except (ArithmeticError, InvalidOperation):
        raise content.wrong(f"grid: {name} is a range of something that is not a number", fix=fix) from None
    if count > MOST:
        raise content.wrong(f"grid: {name} has {_many(count)} values", fix=f"at most {MOST:,} in one sweep")
    if count < 1:
        raise content.wrong(f"grid: {name} goes from {first} to {last} and never gets there", fix=fix)
    return tuple(str(first + step * index) for index in range(count))


def _many(count: int) -> str:
    """Python does not write out numbers of thousands of digits."""
    return f"{count:,}" if count < 10**100 else "far too many"
