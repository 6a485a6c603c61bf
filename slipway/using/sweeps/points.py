"""The points of a sweep: one set of parameters for each run, from a grid, a list, or both. Pure.

Values stay the text that was written (`0.10`, `1e-3`, `yes`), as on the command line; the template's types judge them
later. `null` leaves a parameter out, which means its default.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain, product
from math import prod

from slipway.base.errors import ConfigError, Fix, together
from slipway.base.formatting import first_lines, quoted
from slipway.model.catalog.parameter_types import Typed
from slipway.model.catalog.placeholders import render

MOST = 100_000
"""The most points: a grid multiplies quickly, and nobody means more than this."""

SHAPE = "grid: {NAME: [VALUE, …], …}, or list: [{NAME: VALUE, …}, …], or a CSV with names in its first line"
_SHOWN = 100
_PLAIN = re.compile(r"[\w.+-]+")
"""A value that stands in a list of YAML as it is."""


@dataclass(frozen=True)
class PointMistake:
    """A mistake of the author."""

    #: `grid.yaml:3:14` (line and column, both from 1), `grid.yaml` or `run 3`.
    place: str
    what: str
    fix: Fix = SHAPE

    def __str__(self) -> str:
        return f"{self.place}: {self.what}"


def refusal(source: str, mistakes: Sequence[PointMistake], head: str = "") -> ConfigError:
    """Return the error for mistakes in `source`, by line and column. `head` names what they spoil."""
    mistakes = sorted(mistakes, key=lambda each: [int(part) for part in each.place.split(":")[1:] if part.isdigit()])
    fix = together(mistake.fix for mistake in mistakes)
    if len(mistakes) == 1 and not head:
        return ConfigError(str(mistakes[0]), fix=fix)
    why = "\n".join(first_lines(map(str, mistakes), _SHOWN))
    return ConfigError(head or f"{source}: {len(mistakes):,} mistakes", why=why, fix=fix)


@dataclass(frozen=True, slots=True)
class Node:
    """A value with its place: a text, items of a list, or names with values. A node without any is null."""

    place: str
    text: str | None = None
    items: tuple[Node, ...] | None = None
    entries: tuple[tuple[Node, Node], ...] | None = None


@dataclass(frozen=True, slots=True)
class Given:
    """A parameter's value as its author wrote it."""

    text: Typed
    place: str
    named: str


@dataclass(frozen=True)
class Point:
    """The values given to one run by parameter."""

    given: Mapping[str, Given]
    #: The run's place, for missing parameters.
    where: str
    #: Parameters whose value is a mistake by itself; None where nothing could be read.
    unread: frozenset[str] | None = frozenset()

    @property
    def values(self) -> dict[str, Typed]:
        return {name: given.text for name, given in self.given.items()}


@dataclass(frozen=True)
class Points:
    """The points of a source, in order, without those that are mistakes."""

    source: str
    each: tuple[Point, ...]
    mistakes: tuple[PointMistake, ...] = ()

    @property
    def values(self) -> Mapping[str, list[str | None]]:
        """The values of each parameter that a point gives, in the points' order; None for points that do not."""
        given = [point.given for point in self.each]
        names = dict.fromkeys(chain.from_iterable(given))
        return {name: [str(each[name].text) if name in each else None for each in given] for name in names}


def points(source: str, root: Node | None, mistakes: Iterable[PointMistake] = ()) -> Points:
    """Combine each entry of the list with each combination of the grid, whose last name varies fastest. `root`: the
    outermost value of a `source` (a file's name); `mistakes`: those found while reading it."""
    maker = _PointMaker(source, list(mistakes))
    each = () if root is None else maker.each(root)
    if not each and not maker.mistakes:
        maker.wrong(source, "has no point, so there is nothing to run")
    return Points(source, each, tuple(maker.mistakes))


class _PointMaker:
    def __init__(self, source: str, mistakes: list[PointMistake]) -> None:
        self._source, self.mistakes = source, mistakes

    def wrong(self, place: str, what: str, fix: str = SHAPE) -> None:
        self.mistakes.append(PointMistake(place, what, fix))

    def _entries(self, node: Node) -> Iterator[tuple[str, Node, Node]]:
        seen: set[str] = set()
        for key, value in node.entries or ():
            if key.text is None:
                self.wrong(key.place, "a name must be a single string")
            elif key.text in seen:
                self.wrong(key.place, f"{key.text} appears twice", "name each parameter once")
            else:
                seen.add(key.text)
                yield key.text, key, value

    def each(self, root: Node) -> tuple[Point, ...]:
        if root.items is not None:
            return self._multiplied(self._rows(root), {})
        if root.entries is None:
            self.wrong(self._source, "is not a sweep: it holds neither a grid nor a list")
            return ()
        parts: dict[str, Node] = {}
        for name, key, value in self._entries(root):
            parts[name] = value
            if name not in ("grid", "list"):
                self.wrong(key.place, f"{quoted(name)} is neither grid nor list")
        rows = self._rows(parts["list"]) if "list" in parts else [Point({}, self._source)]
        axes = self._axes(parts["grid"]) if "grid" in parts else {}
        return self._multiplied(rows, axes) if "list" in parts or axes else ()

    def _multiplied(self, rows: Sequence[Point], axes: Mapping[str, tuple[Given, ...]]) -> tuple[Point, ...]:
        both = {name: given.named for row in rows for name, given in row.given.items() if name in axes}
        for name, place in both.items():
            self.wrong(place, f"{name} is in both the grid and the list", "leave it in one of them")
        unread = frozenset(name for name, values in axes.items() if not values)
        axes = {name: values for name, values in axes.items() if values}
        count = len(rows) * prod(len(values) for values in axes.values())
        if count > MOST:
            self.wrong(self._source, f"makes {_many(count)} runs", f"at most {MOST:,} in one sweep: split it")
            return ()
        made: list[Point] = []
        for row in rows:
            lacks = None if row.unread is None else row.unread | unread
            for combination in product(*axes.values()):
                chosen = dict(zip(axes, combination, strict=True))
                place = ", ".join(f"{name}={render(given.text)}" for name, given in chosen.items())
                where = f"{row.where} ({place})" if place and row.where != self._source else row.where
                made.append(Point({**row.given, **chosen}, where, lacks))
        return tuple(made)

    def _rows(self, node: Node) -> list[Point]:
        if node.items is None:
            self.wrong(node.place, "list: must be a list of points")
            return []
        return [self._row(entry) for entry in node.items]

    def _row(self, entry: Node) -> Point:
        where = entry.place.rpartition(":")[0] or entry.place
        if entry.entries is None:
            self.wrong(entry.place, "a point must name its parameters", "- {NAME: VALUE, …}")
            return Point({}, where, None)
        given: dict[str, Given] = {}
        unread = set()
        for name, key, value in self._entries(entry):
            text = _value(value)
            if text is not None:
                given[name] = Given(text=text, place=value.place, named=key.place)
            elif value.items is not None or value.entries is not None:
                self.wrong(value.place, f"{name} is not one value", "one value for each parameter of a point")
                unread.add(name)
        return Point(given=given, where=where, unread=frozenset(unread))

    def _axes(self, node: Node) -> dict[str, tuple[Given, ...]]:
        """Return the values of each parameter; none where they are a mistake."""
        if node.entries is None:
            self.wrong(node.place, "grid: names parameters with their values")
        axes: dict[str, tuple[Given, ...]] = {}
        for name, key, values in self._entries(node):
            axes[name] = self._range(name, key, values) if values.entries is not None else self._axis(name, key, values)
        return axes

    def _axis(self, name: str, key: Node, values: Node) -> tuple[Given, ...]:
        if not values.items:
            meant = values.text if values.text and _PLAIN.fullmatch(values.text) else "VALUE, …"
            fix = f"{name}: [{meant}], or {{from: 0, to: 9}}"
            self.wrong(values.place, f"grid: {name} has no {'list of ' if values.items is None else ''}values", fix)
        axis = []
        for value in values.items or ():
            text = _value(value)
            if text is None:
                self.wrong(value.place, f"grid: {name} holds something that is not one value")
            else:
                axis.append(Given(text=text, place=value.place, named=key.place))
        return tuple(axis)

    def _range(self, name: str, key: Node, given: Node) -> tuple[Given, ...]:
        bounds = {bound: value.text for bound, _, value in self._entries(given)}
        fix = f"{name}: {{from: 0, to: 9, step: 1}}, both ends included"
        if not {"from", "to"} <= set(bounds) <= {"from", "to", "step"}:
            self.wrong(given.place, f"grid: {name} is not a range", fix)
            return ()
        try:
            first, last, step = (Decimal(str(bounds.get(bound, "1"))) for bound in ("from", "to", "step"))
            count = int((last - first) / step) + 1 if (last - first) * step >= 0 else 0
        except ArithmeticError:
            self.wrong(given.place, f"grid: {name} is a range of something that is not a number", fix)
            return ()
        if count > MOST:
            self.wrong(given.place, f"grid: {name} has {_many(count)} values", f"at most {MOST:,} in one sweep")
        elif count < 1:
            self.wrong(given.place, f"grid: {name} goes from {first} to {last} and never gets there", fix)
        else:
            numbers = (first + step * index for index in range(count))
            return tuple(Given(text=str(number), place=given.place, named=key.place) for number in numbers)
        return ()


def _value(node: Node) -> Typed | None:
    """Return a value, or the texts of a list; None for anything else."""
    if node.items is None:
        return node.text
    items = [item.text for item in node.items if item.text is not None]
    return tuple(items) if len(items) == len(node.items) else None


def _many(count: int) -> str:
    """Return a count as text. Python does not write numbers of thousands of digits."""
    return f"{count:,}" if count < 10**100 else "far too many"
