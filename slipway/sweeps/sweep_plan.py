"""A sweep before anything is sent: every point's parameters judged, and runs of one shape put together. Pure."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from slipway.catalog.lookup import find_template
from slipway.catalog.model import Catalog, Scalar, Template
from slipway.catalog.placeholders import NUMERIC, whole
from slipway.errors import ConfigError
from slipway.labels import RUN_LABEL, label_value
from slipway.submission.candidates import Candidate, PreparedSubmission, SubmissionRequest, prepare
from slipway.submission.choice import Choice
from slipway.submission.parameters import resolve
from slipway.sweeps.points import Point
from slipway.sweeps.runs import Run

_SHOWN = 10


@dataclass(frozen=True)
class Group:
    """Runs that ask for the same machines and have the same candidates; `prepared` is its first run's."""

    prepared: PreparedSubmission
    runs: int


@dataclass(frozen=True)
class SweepPlan:
    """`digest` covers all that makes it this sweep; `of_group` has each run's place among `groups`."""

    id: str
    digest: str
    values: tuple[Mapping[str, Scalar], ...]
    groups: tuple[Group, ...]
    of_group: tuple[int, ...]

    @property
    def count(self) -> int:
        return len(self.values)

    def prepared(self, run: Run) -> PreparedSubmission:
        group = self.groups[self.of_group[run.index]].prepared
        overrides = replace(group.overrides, labels={**group.overrides.labels, RUN_LABEL: run.label})
        return replace(group, values=self.values[run.index], overrides=overrides, request_id=run.request_id(self.id))

    def candidate(self, run: Run, choices: Sequence[Choice]) -> Candidate:
        """The run's own, by the offer that its group takes."""
        taken = choices[self.of_group[run.index]].taken.candidate
        return next(one for one in self.prepared(run).candidates if one.offer is taken.offer)


def plan_sweep(
    catalog: Catalog, asked: SubmissionRequest, points: Sequence[Point], user: str, name: str | None
) -> SweepPlan:
    """`name` is the sweep's id; without one it follows from what the sweep is, so the same command is the same sweep.

    Raises one ConfigError with what is wrong in the points, by their places.
    """
    template = find_template(catalog, asked.template)
    values = _resolved(template, asked, points)
    digest = _digest(asked, points)
    id_ = name or f"{label_value(template.name)[:40].strip('-_')}-{digest[:10]}"
    asked = replace(asked, overrides=replace(asked.overrides, sweep=id_))
    shaping = tuple(_shaping(template))
    shapes = [tuple(one.get(name) for name in shaping) for one in values]
    firsts: dict[tuple[Scalar | None, ...], PreparedSubmission] = {}
    for point, shape in zip(points, shapes, strict=True):
        if shape not in firsts:
            one = replace(asked, params={**asked.params, **point.values})
            firsts[shape] = prepare(catalog, one, user).under(id_)
    count, place = Counter(shapes), {shape: index for index, shape in enumerate(firsts)}
    groups = tuple(Group(first, count[shape]) for shape, first in firsts.items())
    return SweepPlan(id_, digest, values, groups, tuple(place[shape] for shape in shapes))


def _resolved(
    template: Template, asked: SubmissionRequest, points: Sequence[Point]
) -> tuple[Mapping[str, Scalar], ...]:
    found: list[Mapping[str, Scalar]] = []
    wrong: list[str] = []
    for point in points:
        try:
            both = sorted(set(asked.params) & set(point.values))
            if both:
                raise ConfigError("", why=f"{both[0]} is given by -p as well")
            found.append(resolve(template, {**asked.params, **point.values}))
        except ConfigError as problem:
            wrong.append(f"{point.where}: {'; '.join(problem.why.splitlines())}")
    if wrong:
        more = [f"… and {len(wrong) - _SHOWN:,} more"] if len(wrong) > _SHOWN else []
        raise ConfigError(
            f"{template.name}: {len(wrong):,} of {len(points):,} runs are wrong",
            why="\n".join([*wrong[:_SHOWN], *more]),
            fix=f"slipway templates show {template.name}",
        )
    return tuple(found)


def _digest(asked: SubmissionRequest, points: Sequence[Point]) -> str:
    what: Any = {
        "template": asked.template,
        "params": dict(asked.params),
        "capacityType": asked.capacity_type,
        "kind": asked.kind,
        "package": asked.overrides.package,
        "experiment": asked.overrides.experiment,
        "points": [dict(point.values) for point in points],
    }
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()


def _shaping(template: Template) -> Iterator[str]:
    """The parameters that decide about machines and offers."""
    for offer in template.offers:
        yield from offer.when
        yield from _counts(offer.request, "")


def _counts(value: Any, key: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _counts(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from _counts(inner, key)
    elif key in NUMERIC and isinstance(value, str):
        name = whole(value)
        if name is not None:
            yield name
