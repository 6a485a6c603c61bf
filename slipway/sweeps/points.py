"""The points of a sweep: one set of parameters for each run, made of a grid, a list, or both. Pure.

Values stay the text that was written (`0.10`, `1e-3`, `yes`), as on the command line; the template's types judge
them later. `null` leaves a parameter out, which means its default.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from math import prod

from slipway.formatting import quoted
from slipway.sweeps.mistakes import SHAPE, Mistake

MOST = 100_000
"""A grid multiplies quickly; nobody means more than this."""


@dataclass(frozen=True, slots=True)
class Node:
    """One value with its place: a text, the items of a list, or names with their values. With none of them: null."""

    place: str
    text: str | None = None
    items: tuple[Node, ...] | None = None
    entries: tuple[tuple[Node, Node], ...] | None = None

    def entry(self, name: str) -> Node | None:
        return next((value for key, value in self.entries or () if key.text == name), None)


@dataclass(frozen=True)
class Content:
    """What was given, by its `source` (a file's name): its outermost value, and what was wrong with reading it."""

    source: str
    root: Node | None
    mistakes: tuple[Mistake, ...] = ()


@dataclass(frozen=True, slots=True)
class Given:
    """A parameter's value as text, its place, and the place where the parameter is named."""

    text: str
    place: str
    named: str


@dataclass(frozen=True)
class Point:
    """What is `given` for each parameter of one run; `where` names the run's place, for what it lacks.

    `unread`: parameters that were given as something that is a mistake by itself; None where nothing could be read.
    """

    given: Mapping[str, Given]
    where: str
    unread: frozenset[str] | None = frozenset()

    @property
    def values(self) -> dict[str, str]:
        return {name: one.text for name, one in self.given.items()}


@dataclass(frozen=True)
class Points:
    """All points of a source, in order, as far as it has no mistakes."""

    source: str
    each: tuple[Point, ...]
    mistakes: tuple[Mistake, ...] = ()


def points(content: Content) -> Points:
    """Each entry of the list with each combination of the grid, whose last name varies fastest."""
    return _PointMaker(content.source, list(content.mistakes)).made(content.root)


class _PointMaker:
    """Collects what is wrong instead of stopping at it."""

    def __init__(self, source: str, mistakes: list[Mistake]) -> None:
        self._source, self._mistakes = source, mistakes

    def made(self, root: Node | None) -> Points:
        each = () if root is None else self._each(root)
        if not each and not self._mistakes:
            what = "is not a sweep: it holds neither a grid nor a list" if root is None else "has no point"
            self._wrong(self._source, f"{what}{', so there is nothing to run' if root is not None else ''}")
        return Points(self._source, each, tuple(self._mistakes))

    def _wrong(self, place: str, what: str, fix: str = SHAPE) -> None:
        self._mistakes.append(Mistake(place, what, fix))

    def _each(self, root: Node) -> tuple[Point, ...]:
        if root.items is not None:
            return self._multiplied(self._rows(root), {})
        if root.entries is None:
            self._wrong(self._source, "is not a sweep: it holds neither a grid nor a list")
            return ()
        for key, _ in root.entries:
            if key.text not in ("grid", "list"):
                self._wrong(key.place, f"{quoted(key.text or '')} is neither grid nor list")
        listed, grid = root.entry("list"), root.entry("grid")
        rows = [Point({}, self._source)] if listed is None else self._rows(listed)
        axes = {} if grid is None else self._axes(grid)
        return () if listed is None and not axes else self._multiplied(rows, axes)

    def _multiplied(self, rows: Sequence[Point], axes: Mapping[str, tuple[Given, ...]]) -> tuple[Point, ...]:
        both = {name: one.named for row in rows for name, one in row.given.items() if name in axes}
        for name, place in both.items():
            self._wrong(place, f"{name} is in both the grid and the list", "leave it in one of them")
        unread = frozenset(name for name, values in axes.items() if not values)
        axes = {name: values for name, values in axes.items() if values}
        count = len(rows) * prod(len(values) for values in axes.values())
        if count > MOST:
            self._wrong(self._source, f"makes {_many(count)} runs", f"at most {MOST:,} in one sweep: split it")
            return ()
        return tuple(self._combined(rows, axes, unread))

    def _combined(
        self, rows: Sequence[Point], axes: Mapping[str, tuple[Given, ...]], unread: frozenset[str]
    ) -> Iterator[Point]:
        for row in rows:
            lacks = None if row.unread is None else row.unread | unread
            for combination in product(*axes.values()):
                chosen = dict(zip(axes, combination, strict=True))
                place = ", ".join(f"{name}={one.text}" for name, one in chosen.items())
                told = place and row.where != self._source
                yield Point({**row.given, **chosen}, f"{row.where} ({place})" if told else row.where, lacks)

    def _rows(self, node: Node) -> list[Point]:
        if node.items is None:
            self._wrong(node.place, "list: must be a list of points")
            return []
        return [self._row(entry) for entry in node.items]

    def _row(self, entry: Node) -> Point:
        where = entry.place.rpartition(":")[0] or entry.place
        if entry.entries is None:
            self._wrong(entry.place, "a point must name its parameters", "- {NAME: VALUE, …}")
            return Point({}, where, None)
        found: dict[str, Given] = {}
        unread = set()
        for key, value in entry.entries:
            name = key.text or ""
            if value.items is not None or value.entries is not None:
                self._wrong(value.place, f"{name} is not one value", "one value for each parameter of a point")
                unread.add(name)
            elif value.text is not None:
                found[name] = Given(value.text, value.place, key.place)
        return Point(found, where, frozenset(unread))

    def _axes(self, node: Node) -> dict[str, tuple[Given, ...]]:
        if node.entries is None:
            self._wrong(node.place, "grid: names parameters with their values")
            return {}
        return {key.text or "": self._axis(key, values) for key, values in node.entries}

    def _axis(self, key: Node, values: Node) -> tuple[Given, ...]:
        """Empty where it is a mistake."""
        name = key.text or ""
        if values.entries is not None:
            return self._range(key, values)
        if values.items is None:
            fix = f"{name}: [VALUE, …], or {{from: 0, to: 9}}"
            self._wrong(values.place, f"grid: {name} has no list of values", fix)
        elif not values.items:
            self._wrong(values.place, f"grid: {name} has no values, so there is nothing to run")
        found = [Given(one.text, one.place, key.place) for one in values.items or () if one.text is not None]
        for one in values.items or ():
            if one.text is None:
                self._wrong(one.place, f"grid: {name} holds something that is not one value")
        return tuple(found)

    def _range(self, key: Node, given: Node) -> tuple[Given, ...]:
        name, bounds = key.text or "", {one.text: value.text for one, value in given.entries or ()}
        fix = f"{name}: {{from: 0, to: 9, step: 1}}, both ends included"
        if not {"from", "to"} <= set(bounds) <= {"from", "to", "step"}:
            self._wrong(given.place, f"grid: {name} is not a range", fix)
            return ()
        try:
            first, last, step = (Decimal(str(bounds.get(key, "1"))) for key in ("from", "to", "step"))
            count = int((last - first) / step) + 1 if (last - first) * step >= 0 else 0
        except ArithmeticError:
            self._wrong(given.place, f"grid: {name} is a range of something that is not a number", fix)
            return ()
        if count > MOST:
            self._wrong(given.place, f"grid: {name} has {_many(count)} values", f"at most {MOST:,} in one sweep")
        elif count < 1:
            self._wrong(given.place, f"grid: {name} goes from {first} to {last} and never gets there", fix)
        else:
            return tuple(Given(str(first + step * index), given.place, key.place) for index in range(count))
        return ()


def _many(count: int) -> str:
    """Python does not write out numbers of thousands of digits."""
    return f"{count:,}" if count < 10**100 else "far too many"
