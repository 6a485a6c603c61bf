"""The submissions that a review asks about on both sides: generated ones, and those of the last 30 days. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice, product

from slipway.answers.comparison import Comparison
from slipway.authoring.packages.packing import runs_any_folder
from slipway.base.formatting import plain
from slipway.google.jobs import VertexJob
from slipway.model.capacity import RESERVATION
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.placeholders import names, render
from slipway.model.catalog.template import OF_TEAM, Offer, Template
from slipway.model.labels import AGENT_LABEL, SESSION_LABEL, label_value
from slipway.model.own_settings import OwnSettings
from slipway.using.submission.parameters import judged
from slipway.using.submission.request import RequestOverrides
from slipway.using.submission.submission_request import SubmissionRequest


class Submitter(StrEnum):
    """The type of submitter, as a text behind the submission's flags."""

    USER = ""
    AGENT = " by an agent"
    SESSION = " as a session"


_BY_LABELS = {(True, False): Submitter.AGENT, (False, True): Submitter.SESSION}
"""Submitters by whether a job has the label of an agent, and of a session."""
_SAMPLES = {"int": "1", "float": "1.0", "str": "gs://bucket/object", "bool": "true", "list[int]": "1"}
_SAMPLES |= {"list[float]": "1.0", "list[str]": "gs://bucket/object"}
"""Values of required parameters, by type."""


_MOST_CASES = 8


@dataclass(frozen=True)
class Probe:
    """A submission to ask about."""

    asked: SubmissionRequest
    submitter: Submitter = Submitter.USER
    #: It is `slipway submit TEMPLATE`, with required parameters at most.
    is_default: bool = False
    #: The submissions of the last 30 days that it stands for.
    jobs: tuple[VertexJob, ...] = ()

    @property
    def text(self) -> str:
        """Its flags: ``` `--capacity spot -p model=27b` ```."""
        asked = self.asked
        flags: dict[str, object] = {}
        flags["--capacity"] = asked.capacity_type
        flags["--as"] = asked.kind
        flags["--team"] = asked.team
        flags["--replicas"] = asked.overrides.settings.several
        words = [f"{flag} {value}" for flag, value in flags.items() if value]
        words += [f"-p {name}={value}" for name, value in sorted(asked.params.items())]
        given = " ".join(words)
        # Without flags, no text is quoted.
        text = f"`{given}`".replace("``", "default submissions")
        return f"{text}{self.submitter}"

    @property
    def key(self) -> tuple[str, ...]:
        return (self.asked.template, self.text)


def probes(comparison: Comparison) -> tuple[Probe, ...]:
    """Return the submissions to ask about, of the templates that the change can affect."""
    by_template: dict[str, list[VertexJob]] = defaultdict(list)
    for job in comparison.world.recent:
        by_template[job.template].append(job)
    found: dict[tuple[str, ...], Probe] = {}
    jobs: dict[tuple[str, ...], list[VertexJob]] = defaultdict(list)
    for name, (old, new) in _affected(comparison).items():
        for probe in _generated(comparison, old, new):
            found[probe.key] = probe
        for probe, job in _used(old, new, by_template[label_value(name)]):
            found.setdefault(probe.key, probe)
            jobs[probe.key].append(job)
    for former in comparison.renamed:
        renamed = Probe(SubmissionRequest(former), is_default=True)
        found[renamed.key] = renamed
        jobs[renamed.key] = by_template[label_value(former)]
    return tuple(replace(probe, jobs=tuple(jobs[key])) for key, probe in found.items())


def _affected(comparison: Comparison) -> Mapping[str, tuple[Template, Template]]:
    """Return both sides of each template that differs, or a part of the stack that decides on its submissions.

    A template on one side only is there on both.
    """
    found: dict[str, tuple[Template, Template]] = {}
    for name, template in {**comparison.old.templates, **comparison.new.templates}.items():
        old = comparison.old.templates.get(name, template)
        new = comparison.new.templates.get(name, template)
        has_same_parts = _deciding_parts(comparison.old, old) == _deciding_parts(comparison.new, new)
        if not has_same_parts or _differ(comparison, name):
            found[name] = (old, new)
    return found


def _differ(comparison: Comparison, name: str) -> bool:
    if comparison.old.templates.get(name) == comparison.new.templates.get(name):
        return False
    # Facts leave out prose, and the labels of the commit. They take longer to compute.
    return comparison.before.templates.get(name) != comparison.after.templates.get(name)


def _deciding_parts(catalog: Catalog, template: Template) -> object:
    clusters = {offer.cluster: catalog.clusters.get(offer.cluster) for offer in template.offers}
    limits = (catalog.confirm_above, catalog.agents, catalog.sessions)
    places = (catalog.region, catalog.other_regions, catalog.reservations, catalog.dormant)
    return (clusters, catalog.teams, limits, places)


def _generated(comparison: Comparison, old: Template, new: Template) -> Iterator[Probe]:
    """Yield the submissions of a template: by default, by capacity type, team and kind, and with other values."""
    required = _required(old)
    usual = SubmissionRequest(old.name, required)
    for params in _variants(old, new):
        yield Probe(replace(usual, params={**required, **params}))
    for offer in (*old.offers, *new.offers):
        yield Probe(replace(usual, capacity_type=offer.capacity_type))
        # A reservation is for single cases, and an answer about other types says nothing about it.
        if offer.capacity_type == RESERVATION:
            yield Probe(replace(usual, params={**required, **_case(offer)}, capacity_type=RESERVATION))
    for kind in old.kinds[1:]:
        yield Probe(replace(usual, kind=kind))
    # New and removed teams are a question of access.
    for team in sorted(comparison.old.teams.keys() & comparison.new.teams.keys()):
        yield Probe(replace(usual, team=team))
    if comparison.old.sessions != comparison.new.sessions and runs_any_folder(old):
        yield Probe(usual, Submitter.SESSION)
    yield Probe(usual, is_default=True)


def _case(offer: Offer) -> Mapping[str, str]:
    """Return values of parameters that select an offer."""
    return {name: render(values[0]) for name, values in offer.when.items() if name != OF_TEAM}


def _cases(old: Template, new: Template) -> Iterator[Mapping[str, str]]:
    """Yield the case of each offer, and combinations of the values that select offers, at most `_MOST_CASES`."""
    values: dict[str, dict[str, None]] = defaultdict(dict)
    for offer in (*old.offers, *new.offers):
        yield _case(offer)
        for name, wanted in offer.when.items():
            if name != OF_TEAM:
                values[name].update(dict.fromkeys(map(render, wanted)))
    for combination in islice(product(*values.values()), _MOST_CASES):
        yield dict(zip(values, combination, strict=True))


def _variants(old: Template, new: Template) -> Iterator[Mapping[str, str]]:
    """Yield values of parameters: each case of the offers, and those of a parameter that decides or is edited."""
    yield from _cases(old, new)
    deciding = _deciding_parameters(old)
    declared = {parameter.name: replace(parameter, help="") for parameter in new.parameters}
    for parameter in old.parameters:
        is_same = declared.get(parameter.name) == replace(parameter, help="")
        if is_same and parameter.name not in deciding:
            continue
        bounds = [plain(end) for end in (parameter.min, parameter.max) if end is not None]
        default = render(parameter.default or _SAMPLES[parameter.type])
        for value in (default, *bounds, *map(render, parameter.choices)):
            yield {parameter.name: value}


def _required(template: Template) -> Mapping[str, str]:
    """Return a value of each parameter that has no default."""
    required = [parameter for parameter in template.parameters if parameter.required]
    return {each.name: render((*each.choices, each.min or _SAMPLES[each.type])[0]) for each in required}


def _used(old: Template, new: Template, jobs: Iterable[VertexJob]) -> Iterator[tuple[Probe, VertexJob]]:
    """Yield jobs with their submissions. Values that neither select machines nor are rejected now are left out."""
    deciding = _deciding_parameters(old)
    deciding |= _deciding_parameters(new)
    defaults = {parameter.name: parameter.default for parameter in old.parameters}
    required = _required(old)
    for job in jobs:
        recorded = job.parameters or {}
        given = {name: render(value) for name, value in recorded.items() if value != defaults.get(name)}
        if new.parameters == old.parameters or not judged(new, {**required, **given})[1]:
            given = {name: value for name, value in given.items() if name in deciding}
        params = {**required, **given}
        settings = OwnSettings(replicas=job.own_settings.several)
        overrides = RequestOverrides(settings=settings)
        # None stands for the template's first kind.
        kind = job.kind.name if job.kind.name in old.kinds[1:] else None
        asked = SubmissionRequest(old.name, params, _named_type(old, job), kind=kind, overrides=overrides)
        by_labels = (AGENT_LABEL in job.labels, SESSION_LABEL in job.labels)
        submitter = _BY_LABELS.get(by_labels, Submitter.USER)
        yield Probe(asked, submitter), job


def _named_type(template: Template, job: VertexJob) -> str | None:
    """Return the capacity type that a job depends on; None for the one where the default order begins."""
    for first in template.offers[:1]:
        if first.capacity_type == job.capacity_type:
            return None
    return job.capacity_type


def _deciding_parameters(template: Template) -> set[str]:
    """Return the parameters that select an offer or a number of machines."""
    found: set[str] = set()
    for offer in template.offers:
        found |= offer.when.keys()
        for pool in offer.worker_pools:
            found |= set(names(str(pool.get("replicaCount"))))
        found |= set(names(str(offer.request.get("parallelTrialCount"))))
    return found
