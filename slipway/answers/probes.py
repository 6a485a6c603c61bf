"""The submissions that a review asks the product about, on both sides of a change alike. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from slipway.answers.comparison import Comparison
from slipway.google.catalog.lookup import teams_of
from slipway.google.jobs import VertexJob
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.placeholders import NUMERIC, render, rewritten, whole
from slipway.model.catalog.template import OF_TEAM, Parameter, Template
from slipway.model.labels import AGENT_LABEL, SESSION_LABEL, URGENT_LABEL, label_value
from slipway.using.submission.parameters import judged

Typed = tuple[tuple[str, str], ...]
"""Parameters and their values as a submitter types them, sorted by name."""
Way = tuple[str, str]
"""A capacity type and a machine shape; both empty for the default order, and no shape if the template has one alone."""
DEFAULT: Way = ("", "")
_MOST_CHOICES = 20
_MOST_VARIANTS = 40


class Submitter(StrEnum):
    """The type of submitter."""

    USER = ""
    AGENT = "agent"
    SESSION = "session"
    URGENT = "urgent"


@dataclass(frozen=True)
class Probe:
    """A submission without a capacity type, and the ways to run it that are asked about."""

    template: str
    params: Typed = ()
    #: The job kind; empty for the template's default.
    kind: str = ""
    #: The team that it counts for; empty if the product decides.
    team: str = ""
    submitter: Submitter = Submitter.USER
    #: The value of `--replicas`; 0 without the flag.
    replicas: int = 0
    #: The user of an urgent submission, as the job's label has it.
    user: str = ""
    ways: tuple[Way, ...] = (DEFAULT,)
    #: It is `slipway submit TEMPLATE` with required parameters at most.
    is_default: bool = False
    #: It selects machines of the template. False if it only tries a value of a parameter.
    is_variant: bool = True
    #: The submissions of the last 30 days that it stands for.
    jobs: tuple[VertexJob, ...] = ()

    @property
    def key(self) -> tuple[str, ...]:
        params = " ".join(f"{name}={value}" for name, value in self.params)
        return (self.template, params, self.kind, self.team, self.submitter, str(self.replicas), self.user)

    def words(self, way: Way = DEFAULT) -> str:
        """Return its flags: `--capacity spot -p model=27b`."""
        capacity_type, shape = way
        flags = []
        if capacity_type:
            flags.append(f"--capacity {capacity_type}")
        if self.kind:
            flags.append(f"--as {self.kind}")
        if self.replicas:
            flags.append(f"--replicas {self.replicas}")
        if self.submitter is Submitter.URGENT:
            flags.append("--urgent")
        flags += [f"-p {name}={value}" for name, value in self.params]
        words = f"`{' '.join(flags)}`" if flags else "the default submission"
        if shape:
            words += f" on `{shape}`"
        if self.team:
            words += f" for team `{self.team}`"
        if self.submitter in (Submitter.AGENT, Submitter.SESSION):
            words += f" by {self.submitter}s"
        return words


def probes(comparison: Comparison) -> tuple[Probe, ...]:
    """Return the submissions to ask about: only those of templates that the change can affect."""
    jobs = _jobs_by_template(comparison)
    old = comparison.old.templates
    new = comparison.new.templates
    found: list[Probe] = []
    for name in dict.fromkeys((*old, *new)):
        if is_affected(comparison, name):
            found += _of_template(comparison, name, jobs.get(label_value(name), ()))
    for former in comparison.renamed:
        found.append(Probe(former, is_default=True, jobs=tuple(jobs.get(label_value(former), ()))))
    return tuple(found)


def is_affected(comparison: Comparison, name: str) -> bool:
    """Return whether a template, or a part of its stack that decides on its submissions, differs."""
    sides = [_deciding_parts(catalog, name) for catalog in (comparison.old, comparison.new)]
    if sides[0] != sides[1]:
        return True
    if comparison.old.templates.get(name) == comparison.new.templates.get(name):
        return False
    # Facts leave out prose, and the labels of the commit.
    return comparison.before.templates.get(name) != comparison.after.templates.get(name)


def _deciding_parts(catalog: Catalog, name: str) -> tuple[object, ...]:
    template = catalog.templates.get(name)
    if template is None:
        return ()
    clusters = {}
    dormant = {}
    for offer in template.offers:
        cluster = catalog.clusters.get(offer.cluster)
        clusters[offer.cluster] = (cluster and cluster.pools, cluster and cluster.region, catalog.owners(offer.cluster))
        dormant[offer.dormant] = (catalog.dormant.get(offer.dormant), catalog.owners(offer.dormant))
    limits = (catalog.confirm_above, catalog.agents, catalog.urgent, catalog.sessions)
    places = (catalog.region, catalog.other_regions, catalog.reservations)
    return (clusters, dormant, *limits, *places)


def _of_template(comparison: Comparison, name: str, jobs: Iterable[VertexJob]) -> Iterable[Probe]:
    old = comparison.old.templates.get(name)
    new = comparison.new.templates.get(name)
    sides = [template for template in (old, new) if template is not None]
    ways = tuple(_ways(sides))
    teams = _teams(comparison, name)
    required = _required(sides[0])
    found: dict[tuple[str, ...], Probe] = {}

    def add(probe: Probe) -> None:
        found.setdefault(probe.key, probe)

    for variant in _variants(sides):
        params = _typed({**required, **variant})
        for team in teams:
            add(Probe(name, params, team=team, ways=ways, is_default=not variant))
    for kind in _other_kinds(sides):
        add(Probe(name, _typed(required), kind))
    if comparison.old.agents != comparison.new.agents or comparison.old.confirm_above != comparison.new.confirm_above:
        add(Probe(name, _typed(required), team=teams[0], submitter=Submitter.AGENT))
    if comparison.old.sessions != comparison.new.sessions and any(side.takes_code for side in sides):
        add(Probe(name, _typed(required), team=teams[0], submitter=Submitter.SESSION))
    if old is None or new is None:
        trials: Iterable[Mapping[str, str]] = ()
    else:
        trials = _values_to_try(old, new)
    for trial in trials:
        add(Probe(name, _typed({**required, **trial}), team=teams[0], is_variant=False))
    if old is None:
        return found.values()
    used: dict[tuple[str, ...], list[VertexJob]] = defaultdict(list)
    for probe, job in _used(old, new, teams, jobs):
        add(replace(probe, ways=ways))
        used[probe.key].append(job)
    return [replace(probe, jobs=tuple(used.get(key, ()))) for key, probe in found.items()]


def _jobs_by_template(comparison: Comparison) -> Mapping[str, list[VertexJob]]:
    jobs: dict[str, list[VertexJob]] = defaultdict(list)
    for job in comparison.world.recent:
        jobs[job.template].append(job)
    return jobs


def _ways(sides: Iterable[Template]) -> Iterator[Way]:
    """Yield the default order, and each capacity type with each machine shape of either side."""
    offers = [offer for template in sides for offer in template.offers]
    yield from dict.fromkeys((DEFAULT, *((offer.capacity_type, offer.shape) for offer in offers)))


def _other_kinds(sides: Iterable[Template]) -> list[str]:
    kinds = [kind for template in sides for kind in template.kinds[1:]]
    return list(dict.fromkeys(kinds))


def _teams(comparison: Comparison, name: str) -> tuple[str, ...]:
    """Return the teams that submissions can count for; a single empty one if that decides nothing."""
    teams: dict[str, None] = {}
    decides = False
    for catalog in (comparison.old, comparison.new):
        template = catalog.templates.get(name)
        for offer in template.offers if template else ():
            teams |= dict.fromkeys(teams_of(catalog, offer))
            decides = decides or bool(offer.team or catalog.owners(offer.cluster or offer.dormant))
    return tuple(teams) or ("",) if decides else ("",)


def _variants(sides: list[Template]) -> list[Mapping[str, str]]:
    """Return the values of parameters that select machines: the defaults, each case, and the largest size."""
    variants: list[Mapping[str, str]] = [{}]
    for template in sides:
        for offer in template.offers:
            case = {name: render(values[0]) for name, values in offer.when.items() if name != OF_TEAM and values}
            variants.append(_without_defaults(sides, case))
    sized = _sizes(sides[0])
    largest = {each.name: render(each.kind.python(each.max)) for each in sized if each.max is not None}
    variants.append(_without_defaults(sides, largest))
    distinct = {_typed(variant): variant for variant in variants}
    return list(distinct.values())[:_MOST_VARIANTS]


def _without_defaults(sides: Iterable[Template], values: Mapping[str, str]) -> Mapping[str, str]:
    """Leave out values that are the default on every side, so that equal submissions are one."""
    defaults = [{each.name: each.default for each in template.parameters} for template in sides]
    return {name: value for name, value in values.items() if any(render(side.get(name)) != value for side in defaults)}


def _sizes(template: Template) -> list[Parameter]:
    """Return the parameters that give a number of machines, accelerators or trials."""
    named: set[str] = set()

    def collect(text: str, keys: tuple[str, ...], _: Any) -> str:
        parameter = whole(text)
        if parameter and keys and keys[-1] in NUMERIC:
            named.add(parameter)
        return text

    for offer in template.offers:
        rewritten(offer.request, {}, collect)
    return [parameter for parameter in template.parameters if parameter.name in named and not parameter.kind.item]


def _values_to_try(old: Template, new: Template) -> Iterator[Mapping[str, str]]:
    """Yield the values that the old template takes, of parameters whose declaration changes."""
    declared = {parameter.name: replace(parameter, help="") for parameter in new.parameters}
    for parameter in old.parameters:
        if declared.get(parameter.name) == replace(parameter, help=""):
            continue
        bounds = [bound for bound in (parameter.min, parameter.max) if bound is not None and not parameter.kind.item]
        numbers = [parameter.kind.python(bound) for bound in bounds]
        values = [parameter.default, *parameter.choices[:_MOST_CHOICES], *numbers]
        for value in values:
            if value is not None:
                yield {parameter.name: render(value)}


def _required(template: Template) -> Mapping[str, str]:
    """Return a value of each parameter without a default."""
    return {each.name: _sample(each) for each in template.parameters if each.required}


def _sample(parameter: Parameter) -> str:
    if parameter.choices:
        return render(parameter.choices[0])
    if parameter.command:
        return "true"
    kind = parameter.kind.item or parameter.kind
    if kind.number:
        return render(kind.python(1 if parameter.min is None else parameter.min))
    return "gs://bucket/object" if kind.name == "str" else "true"


def _used(
    old: Template, new: Template | None, teams: tuple[str, ...], jobs: Iterable[VertexJob]
) -> Iterator[tuple[Probe, VertexJob]]:
    """Yield the submission that each job is of. Values that neither select machines nor are rejected are left out."""
    deciding = {name for offer in old.offers for name in offer.when} | {each.name for each in _sizes(old)}
    required = _required(old)
    defaults = {parameter.name: parameter.default for parameter in old.parameters}
    same_parameters = new is not None and new.parameters == old.parameters
    rejected: dict[Typed, bool] = {}
    for job in jobs:
        recorded = job.parameters or {}
        given = {name: render(value) for name, value in recorded.items() if value != defaults.get(name)}
        whole_params = _typed(given)
        if whole_params not in rejected:
            rejected[whole_params] = not (same_parameters or new is None or not judged(new, {**required, **given})[1])
        if not rejected[whole_params]:
            given = {name: value for name, value in given.items() if name in deciding}
        probe = Probe(
            old.name,
            _typed({**required, **given}),
            kind=job.kind.name if job.kind.name in old.kinds[1:] else "",
            team=job.team if job.team in teams else teams[0],
            submitter=_submitter(job),
            replicas=job.own_settings.replicas or 0,
            is_variant=not rejected[whole_params],
        )
        if probe.submitter is Submitter.URGENT:
            probe = replace(probe, user=job.user)
        yield probe, job


def _submitter(job: VertexJob) -> Submitter:
    labels = {AGENT_LABEL: Submitter.AGENT, SESSION_LABEL: Submitter.SESSION, URGENT_LABEL: Submitter.URGENT}
    for label, submitter in labels.items():
        if label in job.labels:
            return submitter
    return Submitter.USER


def _typed(values: Mapping[str, str]) -> Typed:
    return tuple(sorted(values.items()))
