"""The plan of a sweep: every point's parameters are judged, and runs of one shape grouped. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from slipway.base.errors import ConfigError
from slipway.base.formatting import counted, short
from slipway.google.catalog.lookup import find_template, named
from slipway.google.jobs import VertexJob
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.parameter_types import Typed, Value
from slipway.model.catalog.placeholders import NUMERIC, render, whole
from slipway.model.catalog.template import Template
from slipway.model.kinds import JobKind
from slipway.model.labels import OF_CODE, RUN_LABEL, RUNS_LABEL, label_value
from slipway.using.submission.order import nothing_after
from slipway.using.submission.parameters import ParameterMistake, judged
from slipway.using.submission.prepared import PreparedSubmission, prepare
from slipway.using.submission.submission_request import SubmissionRequest
from slipway.using.sweeps.points import Point, PointMistake, Points, refusal
from slipway.using.sweeps.runs import Run
from slipway.using.sweeps.sweep_code import SweepCode
from slipway.using.sweeps.sweep_journal import SweepDigests, siblings

Values = Mapping[str, Value]


@dataclass(frozen=True)
class SweepPlan:
    """A sweep before anything is sent."""

    id: str
    #: Covers all that identifies the sweep: its points and flags.
    digest: str
    values: tuple[Values, ...]
    #: The point of each run, with the values that were given to it alone.
    points: tuple[Point, ...]
    shared: frozenset[str]
    #: Runs that ask for the same machines and have the same candidates, by the first of them.
    groups: tuple[PreparedSubmission, ...]
    #: The place of each run's group in `groups`.
    of_group: tuple[int, ...]
    #: The capacity types that runs may take where the first one would wait; they do not make another sweep.
    then: tuple[str, ...] = ()
    #: The ids of the same runs asked for in another way; none for a sweep that was given a name.
    siblings: Mapping[str, SubmissionRequest] = field(default_factory=dict)
    #: The digest that covers a folder's code as well; empty where a template's code runs.
    by_code: str = ""

    @property
    def count(self) -> int:
        return len(self.values)

    @property
    def template(self) -> Template:
        return self.groups[0].template

    @property
    def kind(self) -> JobKind:
        return self.groups[0].kind

    @property
    def id_by_code(self) -> str:
        """The id of these runs with the folder's code as it is now: the name that earlier versions gave the sweep."""
        return _id(self.template, self.by_code)

    @property
    def named(self) -> bool:
        """Tell whether somebody has given it a name."""
        return self.id != _id(self.template, self.digest)

    @property
    def code(self) -> SweepCode | None:
        """The code that it runs in place of the template's; None where it runs that."""
        overrides = self.groups[0].overrides
        return SweepCode.labelled(overrides.package, overrides.labels)

    def with_code(self, code: SweepCode) -> SweepPlan:
        groups = []
        for group in self.groups:
            labels = {key: value for key, value in group.overrides.labels.items() if key not in OF_CODE}
            overrides = replace(group.overrides, package=code.package, labels={**labels, **code.labels})
            groups.append(replace(group, asked=replace(group.asked, overrides=overrides)))
        return replace(self, groups=tuple(groups))

    def under(self, id_: str) -> SweepPlan:
        """Return the plan under an id, which stands for its runs' request ids until they are decided."""
        groups = tuple(
            replace(group, asked=replace(group.asked, overrides=replace(group.overrides, sweep=id_)), request_id=id_)
            for group in self.groups
        )
        return replace(self, id=id_, groups=groups, siblings={})

    def prepared(self, run: Run) -> PreparedSubmission:
        group = self.groups[self.of_group[run.index]]
        labels = {RUN_LABEL: run.label, RUNS_LABEL: str(self.count)}
        overrides = replace(group.overrides, labels={**group.overrides.labels, **labels})
        asked = replace(group.asked, overrides=overrides)
        return replace(group, values=self.values[run.index], asked=asked, request_id=run.request_id(self.id))

    def difference(self, job: VertexJob) -> str:
        """Describe how a job differs from the run whose request id it bears, where somebody used the sweep's name for
        other runs; empty for no difference, and for a job of no run.

        A parameter that nobody gave is compared only where the job was made from this very template: its default may
        have changed since.
        """
        run = Run.of(job)
        if run is None or job.request_id != run.request_id(self.id):
            return ""
        if run.index >= self.count:
            return f"run {run.index}: sent then, and none of {self.count:,} now"
        if (runs := job.labels.get(RUNS_LABEL, "no number")) != str(self.count):
            return f"run {run.index}: one of {runs} then, of {self.count:,} now"
        first, ours = self.groups[0], self.values[run.index]
        pairs: list[tuple[str, Value | None, Value | None]] = [
            ("template", job.template, label_value(self.template.name))
        ]
        then, now = SweepCode.of(job), self.code
        if self.named and not _alike(then, now, of_folder=first.overrides.of_folder):
            pairs.append(("code", str(then or "the template's"), str(now or "the template's")))
        theirs, revision = job.parameters or {}, first.catalog.revision
        same = revision.exact and job.revision == revision
        names = {*theirs, *ours} if same else {*self.shared, *self.points[run.index].given}
        pairs += [(name, theirs.get(name), ours.get(name)) for name in sorted(names)]
        differences = [(name, then, now) for name, then, now in pairs if then != now]
        before = ", ".join(f"{short(name)}={_shown(then)}" for name, then, _ in differences)
        after = ", ".join(f"{short(name)}={_shown(now)}" for name, _, now in differences)
        return f"run {run.index}: {before} then, {after} now" if differences else ""


def plan_sweep(
    catalog: Catalog,
    asked: SubmissionRequest,
    given: Points,
    user: str,
    name: str | None,
    shared: str = "-p",
    team: str = "",
    then: tuple[str, ...] = (),
) -> SweepPlan:
    """Plan a sweep with the id `name`; without one the id follows from the sweep's content, so the same command is the
    same sweep. `shared` tells how the parameters that all runs share were given; `team` is as in `prepare`.
    `then`: the capacity types that may be taken where the first one would wait.

    Raises one ConfigError with all mistakes in the points and in their parameters, by their places, and ConfigError for
    a type that the template does not have.
    """
    if asked.race is not None:
        raise ConfigError("a sweep can't race", why="one claim is for one job", fix="leave race out")
    template, points = find_template(catalog, asked.template), given.each
    values = _resolved(template, asked, given, shared)
    shaping = tuple(_shaping(template))
    shapes = [tuple(of_run.get(name) for name in shaping) for of_run in values]
    firsts: dict[tuple[Value | None, ...], PreparedSubmission] = {}
    for point, shape in zip(points, shapes, strict=True):
        if shape not in firsts:
            firsts[shape] = prepare(
                catalog, replace(asked, params={**asked.params, **point.values}), user, team, elsewhere=False
            )
    place = {shape: index for index, shape in enumerate(firsts)}
    of_group = tuple(place[shape] for shape in shapes)
    groups = tuple(firsts.values())
    if then and (asked.pool or asked.capacity_type is not None):
        raise nothing_after(asked)
    offered = tuple(offer for group in groups for offer, _ in group.offers)
    for type_ in then:
        named(template, offered, type_, "then")
    digests = SweepDigests(points)
    digest = digests.of(asked)
    own = _id(template, digest)
    plan = SweepPlan(
        id=own,
        digest=digest,
        values=values,
        points=points,
        shared=frozenset(asked.params),
        groups=groups,
        of_group=of_group,
        then=then,
        by_code=digests.of(asked, by_code=True) if asked.overrides.of_folder else "",
    )
    if name:
        return plan.under(name)
    others = {_id(template, digests.of(other)): other for other in siblings(template, plan.kind.name, asked)}
    return replace(plan.under(own), siblings=others)


def _id(template: Template, digest: str) -> str:
    name = label_value(template.name)[:40].strip("-_")
    return f"{name}-{digest[:10]}"


def _alike(then: SweepCode | None, now: SweepCode | None, *, of_folder: bool) -> bool:
    """Tell whether code is what a sweep of one name may have: that of a folder changes."""
    if then is None or now is None:
        return then is now
    return of_folder or now.same(then)


def _shown(value: Value | None) -> str:
    return "none" if value is None else short(render(value))


def _resolved(template: Template, asked: SubmissionRequest, given: Points, shared: str) -> tuple[Values, ...]:
    judge = ParameterJudge(template, asked.params, shared, asked.arguments)
    values = tuple(judge.values(index, point) for index, point in enumerate(given.each))
    if mistakes := [*given.mistakes, *judge.mistakes(len(given.each))]:
        wrong = f"{template.name}: {judge.spoiled:,} of {len(given.each):,} runs are wrong"
        raise refusal(given.source, mistakes, "" if given.mistakes else wrong)
    return values


def _shaping(template: Template) -> Iterator[str]:
    """Yield the parameters that decide on machines and offers."""
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
    elif key in NUMERIC and isinstance(value, str) and (name := whole(value)) is not None:
        yield name


@dataclass
class _PlacedMistake:
    first: ParameterMistake
    #: The place of the first run that has it.
    where: str
    runs: int = 0
    #: Mistakes by other values that come from the same place.
    others: set[str] = field(default_factory=set)


class ParameterJudge:
    """A judge of points by their template: it tells a mistake once, where it is written."""

    def __init__(
        self, template: Template, params: Mapping[str, Typed], shared: str, arguments: tuple[str, ...] = ()
    ) -> None:
        """Begin with the `params` that all runs share; `shared` tells how they were given: `-p`."""
        self._template, self._params, self._shared, self._arguments = template, params, shared, arguments
        self._known = frozenset(parameter.name for parameter in template.parameters)
        self._mistakes: dict[tuple[str, str, str], _PlacedMistake] = {}
        self.spoiled = 0

    def values(self, index: int, point: Point) -> dict[str, Value]:
        """Return the point's values, typed, without the mistaken ones. `index` is its run's, from 0."""
        values, problems = judged(self._template, {**self._params, **point.values}, self._arguments)
        given_twice = [name for name in point.given if name in self._params]
        once = "give it once: one value for all runs, or one in each"
        mistakes = [ParameterMistake(name, f"{name} is given by {self._shared} as well", once) for name in given_twice]
        if point.unread is not None:
            # A parameter that could not be read is a mistake already, and not missing.
            known = {*point.unread, *given_twice}
            mistakes += [problem for problem in problems if not {problem.name, problem.lacks} & known]
        for mistake in mistakes:
            key = (self._place(index, point, mistake.name), mistake.name, mistake.lacks)
            placed = self._mistakes.setdefault(key, _PlacedMistake(mistake, point.where))
            placed.runs += 1
            placed.others |= {mistake.what} - {placed.first.what}
        if mistakes:
            self.spoiled += 1
        return values

    def mistakes(self, runs: int) -> list[PointMistake]:
        usual = f"slipway templates show {self._template.name}"
        listed = []
        for (place, *_), mistake in self._mistakes.items():
            what = mistake.first.what
            fix = mistake.first.fix or usual
            if mistake.runs < runs:  # Only some runs share it.
                if place == self._shared:
                    what += f" in {mistake.where}"
                if mistake.first.lacks:
                    fix = f"give {mistake.first.lacks} in every run: it has no default"
            listed.append(PointMistake(place, f"{what}{_many(mistake, runs)}", fix))
        return listed

    def _place(self, index: int, point: Point, name: str) -> str:
        if given := point.given.get(name):
            return given.place if name in self._known and name not in self._params else given.named
        if name in self._params:
            return self._shared
        return point.where if name else f"run {index}"


def _many(mistake: _PlacedMistake, runs: int) -> str:
    """Return the number of other values with a mistake, and the number of runs that it spoils."""
    others = f", and {counted(len(mistake.others), 'other value')}" if mistake.others else ""
    if mistake.runs == 1:
        return others
    return f"{others} ({'all' if mistake.runs == runs else 'in'} {mistake.runs:,} runs)"
