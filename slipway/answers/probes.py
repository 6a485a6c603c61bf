"""The submissions that a review asks about on both sides: generated ones, and those of the last 30 days. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
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

Params = tuple[tuple[str, str], ...]
"""Parameters and their values as a submitter types them, sorted by name."""
Way = tuple[str, str]
"""A capacity type and a machine shape. Both are empty for the default order; a template of one shape has none."""
DEFAULT: Way = ("", "")
_MOST_VARIANTS = 40


class Submitter(StrEnum):
    """The type of submitter."""

    USER = ""
    AGENT = "agent"
    SESSION = "session"
    URGENT = "urgent"


_BY_LABEL = {AGENT_LABEL: Submitter.AGENT, SESSION_LABEL: Submitter.SESSION, URGENT_LABEL: Submitter.URGENT}


@dataclass(frozen=True)
class Probe:
    """A submission, and the ways to run it that are asked about."""

    template: str
    params: Params = ()
    #: The job kind; empty for the template's default.
    kind: str = ""
    #: The team that it counts for; empty if the product decides.
    team: str = ""
    submitter: Submitter = Submitter.USER
    #: The value of `--replicas`; 0 without the flag.
    replicas: int = 0
    #: The user of an urgent submission, as a job's label has it.
    user: str = ""
    ways: tuple[Way, ...] = (DEFAULT,)
    #: It is `slipway submit TEMPLATE`, with required parameters at most.
    is_default: bool = False
    #: It selects machines. False if it only tries a value of a parameter.
    is_variant: bool = True
    #: The submissions of the last 30 days that it stands for.
    jobs: tuple[VertexJob, ...] = ()

    @property
    def key(self) -> tuple[str, ...]:
        params = " ".join(f"{name}={value}" for name, value in self.params)
        return (self.template, params, self.kind, self.team, self.submitter, str(self.replicas), self.user)

    def describe(self, way: Way = DEFAULT) -> str:
        """Return its flags: ``--capacity spot -p model=27b` on `a2-highgpu-1g``."""
        given = {"--capacity ": way[0], "--as ": self.kind, "--replicas ": self.replicas or ""}
        flags = [f"{flag}{value}" for flag, value in given.items() if value]
        flags += [f"-p {name}={value}" for name, value in self.params]
        text = f"`{' '.join(flags)}`" if flags else "default submissions"
        if way[1]:
            text += f" on `{way[1]}`"
        if self.team:
            text += f" of team `{self.team}`"
        return f"{text} ({self.submitter})" if self.submitter else text


def probes(comparison: Comparison) -> tuple[Probe, ...]:
    """Return the submissions to ask about, of the templates that the change can affect."""
    jobs: dict[str, list[VertexJob]] = defaultdict(list)
    for job in comparison.world.recent:
        jobs[job.template].append(job)
    found: list[Probe] = []
    for name in dict.fromkeys((*comparison.old.templates, *comparison.new.templates)):
        if _is_affected(comparison, name):
            found += _of_template(comparison, name, jobs.get(label_value(name), ()))
    for former in comparison.renamed:
        found.append(Probe(former, is_default=True, jobs=tuple(jobs.get(label_value(former), ()))))
    return tuple(found)


def _is_affected(comparison: Comparison, name: str) -> bool:
    """Return whether a template, or a part of the stack that decides on its submissions, differs."""
    old = comparison.old
    new = comparison.new
    if _deciding_parts(old, name) != _deciding_parts(new, name):
        return True
    # Facts leave out prose, and the labels of the commit. They take longer to compute.
    is_same = old.templates.get(name) == new.templates.get(name)
    return not is_same and comparison.before.templates.get(name) != comparison.after.templates.get(name)


def _deciding_parts(catalog: Catalog, name: str) -> object:
    template = catalog.templates.get(name)
    clusters: dict[str, object] = {}
    for offer in template.offers if template else ():
        cluster = catalog.clusters.get(offer.cluster)
        pools = (cluster.pools, cluster.region) if cluster else None
        place = offer.cluster or offer.dormant
        clusters[place] = (pools, catalog.dormant.get(offer.dormant), catalog.owners(place))
    limits = (catalog.confirm_above, catalog.agents, catalog.urgent, catalog.sessions)
    return (template is None, clusters, limits, catalog.region, catalog.other_regions, catalog.reservations)


def _of_template(comparison: Comparison, name: str, jobs: Sequence[VertexJob]) -> Iterable[Probe]:
    old_catalog = comparison.old
    new_catalog = comparison.new
    old = old_catalog.templates.get(name)
    new = new_catalog.templates.get(name)
    sides = [template for template in (old, new) if template is not None]
    offers = [offer for template in sides for offer in template.offers]
    ways = tuple(dict.fromkeys((DEFAULT, *((offer.capacity_type, offer.shape) for offer in offers))))
    teams = _teams(comparison, name)
    required = {each.name: _sample(each) for each in sides[0].parameters if each.required}
    plain = Probe(name, _typed(required), team=teams[0])
    listed: list[Probe] = []
    for variant in _variants(sides):
        params = _typed({**required, **variant})
        listed += [Probe(name, params, team=team, ways=ways, is_default=not variant) for team in teams]
    listed += [replace(plain, kind=kind) for template in sides for kind in template.kinds[1:]]
    agents_before = (old_catalog.agents, old_catalog.confirm_above)
    if agents_before != (new_catalog.agents, new_catalog.confirm_above):
        listed.append(replace(plain, submitter=Submitter.AGENT))
    if old_catalog.sessions != new_catalog.sessions and sides[0].takes_code:
        listed.append(replace(plain, submitter=Submitter.SESSION))
    if old and new:
        for trial in _values_to_try(old, new):
            listed.append(replace(plain, params=_typed({**required, **trial}), is_variant=False))
    by_job = _used(plain, ways, teams, required, old, new, jobs) if old else {}
    used: dict[tuple[str, ...], tuple[VertexJob, ...]] = defaultdict(tuple)
    for probe, same in by_job.items():
        listed.append(probe)
        used[probe.key] += tuple(same)
    distinct = {probe.key: probe for probe in reversed(listed)}
    return [replace(probe, jobs=used[key]) for key, probe in reversed(distinct.items())]


def _teams(comparison: Comparison, name: str) -> tuple[str, ...]:
    """Return the teams that submissions can count for; a single empty one if that decides nothing."""
    teams: dict[str, None] = {}
    decides = False
    for catalog in (comparison.old, comparison.new):
        template = catalog.templates.get(name)
        for offer in template.offers if template else ():
            teams |= dict.fromkeys(teams_of(catalog, offer))
            decides = decides or bool(offer.team or catalog.owners(offer.cluster or offer.dormant))
    return tuple(teams) if decides and teams else ("",)


def _variants(sides: Sequence[Template]) -> Iterable[Mapping[str, str]]:
    """Return the values of parameters that select machines: the defaults, each case, and the largest size."""
    cases: list[Mapping[str, Any]] = [offer.when for template in sides for offer in template.offers]
    sizes = _sizes(sides[0])
    cases.append({each.name: (each.kind.python(each.max),) for each in sizes if each.max is not None})
    defaults = [{each.name: each.default for each in template.parameters} for template in sides]
    variants: dict[Params, Mapping[str, str]] = {(): {}}
    for case in cases:
        values = {name: listed[0] for name, listed in case.items() if name != OF_TEAM and listed}
        # A value that is the default on both sides selects what the defaults do.
        variant = {
            name: render(value)
            for name, value in values.items()
            if any(default.get(name) != value for default in defaults)
        }
        variants.setdefault(_typed(variant), variant)
    return list(variants.values())[:_MOST_VARIANTS]


def _sizes(template: Template) -> list[Parameter]:
    """Return the parameters that give a number of machines, accelerators or trials."""
    named: set[str | None] = set()

    def collect(text: str, keys: tuple[str, ...], _: Any) -> str:
        if keys and keys[-1] in NUMERIC:
            named.add(whole(text))
        return text

    for offer in template.offers:
        rewritten(offer.request, {}, collect)
    return [parameter for parameter in template.parameters if parameter.name in named]


def _values_to_try(old: Template, new: Template) -> Iterator[Mapping[str, str]]:
    """Yield values that the old template takes, of parameters whose declaration changes."""
    declared = {parameter.name: replace(parameter, help="") for parameter in new.parameters}
    for parameter in old.parameters:
        if declared.get(parameter.name) == replace(parameter, help=""):
            continue
        values: list[Any] = [parameter.default, *parameter.choices]
        if not parameter.kind.item:
            values += [parameter.kind.python(end) for end in (parameter.min, parameter.max) if end is not None]
        for value in values[:_MOST_VARIANTS]:
            if value is not None:
                yield {parameter.name: render(value)}


def _sample(parameter: Parameter) -> str:
    """Return a value of a parameter that has no default."""
    listed = (*parameter.choices, *parameter.kind.values)
    if listed:
        return render(listed[0])
    if parameter.kind.number:
        return render((parameter.kind.item or parameter.kind).python(parameter.min or 1))
    return "true" if parameter.command else "gs://bucket/object"


def _used(
    plain: Probe,
    ways: tuple[Way, ...],
    teams: Sequence[str],
    required: Mapping[str, str],
    old: Template,
    new: Template | None,
    jobs: Iterable[VertexJob],
) -> Mapping[Probe, Sequence[VertexJob]]:
    """Return jobs by their submissions. Values that neither select machines nor are rejected now are left out."""
    deciding = {name for offer in old.offers for name in offer.when} | {each.name for each in _sizes(old)}
    defaults = {parameter.name: parameter.default for parameter in old.parameters}
    compares_values = new is not None and new.parameters != old.parameters
    rejected: dict[Params, bool] = {}
    found: dict[Probe, list[VertexJob]] = defaultdict(list)
    for job in jobs:
        recorded = job.parameters or {}
        given = {name: render(value) for name, value in recorded.items() if value != defaults.get(name)}
        params = _typed(given)
        if params not in rejected:
            rejected[params] = compares_values and bool(new and judged(new, {**required, **given})[1])
        if not rejected[params]:
            given = {name: value for name, value in given.items() if name in deciding}
        submitter = next((each for label, each in _BY_LABEL.items() if label in job.labels), Submitter.USER)
        probe = replace(
            plain,
            params=_typed({**required, **given}),
            kind=job.kind.name if job.kind.name in old.kinds[1:] else "",
            team=job.team if job.team in teams else plain.team,
            submitter=submitter,
            replicas=job.own_settings.replicas or 0,
            user=job.user if submitter is Submitter.URGENT else "",
            ways=ways,
            is_variant=not rejected[params],
        )
        found[probe].append(job)
    return found


def _typed(values: Mapping[str, str]) -> Params:
    return tuple(sorted(values.items()))
