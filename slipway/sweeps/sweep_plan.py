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
from slipway.labels import RUN_LABEL, label_value
from slipway.submission.candidates import Candidate, PreparedSubmission, SubmissionRequest, prepare
from slipway.submission.choice import Choice
from slipway.sweeps.mistakes import refusal
from slipway.sweeps.parameter_judge import ParameterJudge
from slipway.sweeps.points import Point, Points
from slipway.sweeps.runs import Run

Values = Mapping[str, Scalar]


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
    values: tuple[Values, ...]
    groups: tuple[Group, ...]
    of_group: tuple[int, ...]

    @property
    def count(self) -> int:
        return len(self.values)

    def prepared(self, run: Run) -> PreparedSubmission:
        group = self.groups[self.of_group[run.index]].prepared
        overrides = replace(group.overrides, labels={**group.overrides.labels, RUN_LABEL: run.label})
        asked = replace(group.asked, overrides=overrides)
        return replace(group, values=self.values[run.index], asked=asked, request_id=run.request_id(self.id))

    def runs_of(self, group: int) -> list[int]:
        """The runs of one of the groups, by their numbers."""
        return [index for index, place in enumerate(self.of_group) if place == group]

    def candidate(self, run: Run, prepared: PreparedSubmission, choices: Sequence[Choice]) -> Candidate:
        """The run's own, of how it is prepared, by the offer that its group takes."""
        taken = choices[self.of_group[run.index]].taken.candidate
        return next(one for one in prepared.candidates if one.offer is taken.offer)


def plan_sweep(
    catalog: Catalog, asked: SubmissionRequest, given: Points, user: str, name: str | None, shared: str = "-p"
) -> SweepPlan:
    """`name` is the sweep's id; without one it follows from what the sweep is, so the same command is the same sweep.
    `shared` is how the parameters that all runs share were given.

    Raises one ConfigError with all that is wrong in the points and in their parameters, by their places.
    """
    template, points = find_template(catalog, asked.template), given.each
    values = _resolved(template, asked, given, shared)
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


def _resolved(template: Template, asked: SubmissionRequest, given: Points, shared: str) -> tuple[Values, ...]:
    """Raises one ConfigError with what is wrong with the points and with their parameters, each mistake once: also one
    that stands at one place of the source and spoils many runs."""
    found: list[Values] = []
    judge = ParameterJudge(template, asked.params, shared)
    for index, point in enumerate(given.each):
        found.append(judge.values(index, point))
    mistakes = [*given.mistakes, *judge.mistakes(len(given.each))]
    if mistakes:
        wrong = f"{template.name}: {judge.spoiled:,} of {len(given.each):,} runs are wrong"
        raise refusal(given.source, mistakes, "" if given.mistakes else wrong)
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
