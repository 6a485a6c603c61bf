"""The parameters of a sweep's points held to their template: what is wrong is told once, where it is written. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from slipway.catalog.model import Scalar, Template
from slipway.submission.parameters import judged
from slipway.sweeps.points import Mistake, Point


@dataclass
class _Found:
    """What is wrong at one place: first with one value, and then with `others` that come from there too."""

    what: str
    runs: int = 0
    others: set[str] = field(default_factory=set)


class ParameterJudge:
    """Judges one point after the other. `params` are those that all share, and `shared` how they were given: `-p`."""

    def __init__(self, template: Template, params: Mapping[str, str], shared: str) -> None:
        self._template, self._params, self._shared = template, params, shared
        self._known = frozenset(one.name for one in template.parameters)
        self._found: dict[tuple[str, str], _Found] = {}
        self.spoiled = 0

    def values(self, index: int, point: Point) -> dict[str, Scalar]:
        """Those of the point, typed, as far as they are right. `index` is its run's, from 0."""
        values, problems = judged(self._template, {**self._params, **point.values})
        twice = {name: f"{name} is given by {self._shared} as well" for name in point.given if name in self._params}
        alone = [(name, what) for name, what in problems if name not in twice and self._is_sure(name, point)]
        for name, what in (*twice.items(), *alone):
            found = self._found.setdefault((self._place(index, point, name), name), _Found(what))
            found.runs += 1
            found.others |= {what} - {found.what}
        self.spoiled += bool(twice or alone)
        return values

    def mistakes(self, runs: int) -> list[Mistake]:
        """Those of all points, of which there are so many."""
        fix = f"slipway templates show {self._template.name}"
        return [Mistake(place, f"{one.what}{_many(one, runs)}", fix) for (place, _), one in self._found.items()]

    def _is_sure(self, name: str, point: Point) -> bool:
        """What could not be read is a mistake by itself, and not missing."""
        return point.unread is not None and name not in point.unread

    def _place(self, index: int, point: Point, name: str) -> str:
        if given := point.given.get(name):
            return given.place if name in self._known and name not in self._params else given.named
        if name in self._params:
            return self._shared
        return point.where if name else f"run {index}"


def _many(one: _Found, runs: int) -> str:
    """How much it spoils, where that is more than one run."""
    others = f", and so are {len(one.others):,} other values" if len(one.others) > 1 else ""
    others = ", and so is 1 other value" if len(one.others) == 1 else others
    if one.runs == 1:
        return others
    return f"{others} ({'all' if one.runs == runs else 'in'} {one.runs:,} runs)"
