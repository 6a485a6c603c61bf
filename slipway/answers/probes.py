"""The submissions that a review asks about on both sides: generated ones, and those of the last 30 days. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from slipway.answers.comparison import Comparison
from slipway.google.jobs import VertexJob
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.placeholders import names, render
from slipway.model.catalog.template import OF_TEAM, Parameter, Template
from slipway.model.labels import AGENT_LABEL, SESSION_LABEL, URGENT_LABEL, label_value
from slipway.model.own_settings import OwnSettings
from slipway.using.submission.parameters import judged
from slipway.using.submission.request import RequestOverrides
from slipway.using.submission.submission_request import SubmissionRequest

Params = Mapping[str, str]
_MOST_VALUES = 20


class Submitter(StrEnum):
    """The type of submitter, as a text behind the submission's flags."""

    USER = ""
    AGENT = " by an agent"
    SESSION = " as a session"
    URGENT = " --urgent"


_BY_LABEL = {AGENT_LABEL: Submitter.AGENT, SESSION_LABEL: Submitter.SESSION, URGENT_LABEL: Submitter.URGENT}


@dataclass(frozen=True)
class Probe:
    """A submission to ask about."""

    asked: SubmissionRequest
    submitter: Submitter = Submitter.USER
    #: The user of an urgent submission, as a job's label has it.
    user: str = ""
    #: It is `slipway submit TEMPLATE`, with required parameters at most.
    is_default: bool = False
    #: The submissions of the last 30 days that it stands for.
    jobs: tuple[VertexJob, ...] = ()

    @property
    def text(self) -> str:
        """Its flags: ``` `--capacity spot -p model=27b` ```."""
        asked = self.asked
        flags = {"capacity": asked.capacity_type, "as": asked.kind, "team": asked.team}
        flags["replicas"] = str(asked.overrides.settings.replicas or "")
        words = [f"--{flag} {value}" for flag, value in flags.items() if value]
        words += [f"-p {name}={value}" for name, value in sorted(asked.params.items())]
        given = f"`{' '.join(words)}`" if words else "default submissions"
        return f"{given}{self.submitter}"

    @property
    def key(self) -> tuple[str, ...]:
        return (self.asked.template, self.text, self.user)


def probes(comparison: Comparison) -> tuple[Probe, ...]:
    """Return the submissions to ask about, of the templates that the change can affect."""
    by_template: dict[str, list[VertexJob]] = defaultdict(list)
    for job in comparison.world.recent:
        by_template[job.template].append(job)
    found: dict[tuple[str, ...], Probe] = {}
    jobs: dict[tuple[str, ...], list[VertexJob]] = defaultdict(list)
    for name in dict.fromkeys((*comparison.old.templates, *comparison.new.templates)):
        if is_affected(comparison, name):
            found |= {probe.key: probe for probe in _generated(comparison, name)}
            for probe, job in _used(comparison, name, by_template[label_value(name)]):
                found.setdefault(probe.key, probe)
                jobs[probe.key].append(job)
    for former in comparison.renamed:
        renamed = Probe(SubmissionRequest(former), is_default=True)
        found[renamed.key] = renamed
        jobs[renamed.key] = by_template[label_value(former)]
    return tuple(replace(probe, jobs=tuple(jobs[key])) for key, probe in found.items())


def is_affected(comparison: Comparison, name: str) -> bool:
    """Return whether a template, or a part of the stack that decides on submissions, differs."""
    old = comparison.old
    new = comparison.new
    if _deciding_parts(old) != _deciding_parts(new):
        return True
    if old.templates.get(name) == new.templates.get(name):
        return False
    # Facts leave out prose, and the labels of the commit. They take longer to compute.
    return comparison.before.templates.get(name) != comparison.after.templates.get(name)


def _deciding_parts(catalog: Catalog) -> object:
    clusters = {name: (cluster.pools, cluster.region) for name, cluster in catalog.clusters.items()}
    clusters_of_teams = {name: team.clusters for name, team in catalog.teams.items()}
    limits = (catalog.confirm_above, catalog.agents, catalog.urgent, catalog.sessions)
    places = (catalog.region, catalog.other_regions, catalog.reservations, catalog.dormant)
    return (clusters, clusters_of_teams, limits, places)


def _generated(comparison: Comparison, name: str) -> Iterator[Probe]:
    """Yield the submissions of a template: by default, by capacity type, team and kind, and with other values."""
    new = comparison.new.templates.get(name)
    old = comparison.old.templates.get(name, new)
    assert old is not None
    new = new or old
    plain = SubmissionRequest(name, _required(old))
    offers = (*old.offers, *new.offers)
    for params in _variants(old, new):
        yield Probe(replace(plain, params={**plain.params, **params}))
    for capacity_type in dict.fromkeys(offer.capacity_type for offer in offers):
        yield Probe(replace(plain, capacity_type=capacity_type))
    for kind in old.kinds[1:]:
        yield Probe(replace(plain, kind=kind))
    # New and removed teams are a question of access.
    for team in comparison.old.teams.keys() & comparison.new.teams.keys():
        yield Probe(replace(plain, team=team))
    yield Probe(plain, is_default=True)


def _variants(old: Template, new: Template) -> Iterator[Params]:
    """Yield values of parameters: each case of the offers, the largest ones, and all of an edited parameter."""
    for offer in (*old.offers, *new.offers):
        yield {name: render(values[0]) for name, values in offer.when.items() if name != OF_TEAM}
    singles = [parameter for parameter in old.parameters if parameter.kind.item is None]
    yield {each.name: render(each.kind.python(each.max)) for each in singles if each.max is not None}
    declared = {parameter.name: replace(parameter, help="") for parameter in new.parameters}
    edited = [each for each in singles if declared.get(each.name) != replace(each, help="")]
    for parameter in edited:
        bounds = [parameter.kind.python(end) for end in (parameter.min, parameter.max) if end is not None]
        values = [*parameter.choices, *bounds]
        if parameter.default is not None:
            values.append(parameter.default)
        for value in values[:_MOST_VALUES]:
            yield {parameter.name: render(value)}


def _required(template: Template) -> Params:
    """Return a value of each parameter that has no default."""
    return {parameter.name: _sample(parameter) for parameter in template.parameters if parameter.required}


def _sample(parameter: Parameter) -> str:
    listed = (*parameter.choices, *parameter.kind.values)
    if listed:
        return render(listed[0])
    if parameter.kind.number:
        return render((parameter.kind.item or parameter.kind).python(parameter.min or 1))
    return "true" if parameter.command else "gs://bucket/object"


def _used(comparison: Comparison, name: str, jobs: Iterable[VertexJob]) -> Iterator[tuple[Probe, VertexJob]]:
    """Yield jobs with their submissions. Values that neither select machines nor are rejected now are left out."""
    old = comparison.old.templates.get(name)
    new = comparison.new.templates.get(name, old)
    if old is None or new is None:
        return
    deciding = _deciding_parameters(old)
    defaults = {parameter.name: parameter.default for parameter in old.parameters}
    required = _required(old)
    for job in jobs:
        recorded = job.parameters or {}
        given = {key: render(value) for key, value in recorded.items() if value != defaults.get(key)}
        mistakes = judged(new, {**required, **given})[1]
        if not mistakes:
            given = {key: value for key, value in given.items() if key in deciding}
        asked = SubmissionRequest(
            name,
            {**required, **given},
            capacity_type=_named_type(old, job),
            kind=job.kind.name if job.kind.name in old.kinds[1:] else None,
            overrides=RequestOverrides(settings=OwnSettings(replicas=job.own_settings.replicas)),
        )
        submitter = next((each for label, each in _BY_LABEL.items() if label in job.labels), Submitter.USER)
        user = job.user if submitter is Submitter.URGENT else ""
        yield Probe(asked, submitter, user), job


def _named_type(template: Template, job: VertexJob) -> str | None:
    """Return the capacity type that its submitter must have named: the default order doesn't lead there."""
    usual = [offer.capacity_type for offer in template.offers if offer.available]
    moves_on = any(offer.wait for offer in template.offers)
    is_usual = moves_on or job.capacity_type in usual[:1]
    return None if is_usual else job.capacity_type


def _deciding_parameters(template: Template) -> set[str]:
    """Return the parameters that select an offer or a number of machines."""
    found: set[str] = set()
    for offer in template.offers:
        found |= offer.when.keys()
        for pool in offer.worker_pools:
            found |= set(names(str(pool.get("replicaCount"))))
    return found
