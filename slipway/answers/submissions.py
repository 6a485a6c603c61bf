"""Which submissions are accepted, where they run and at which cost: by the code of `slipway submit --dry-run`. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from slipway.answers.answer import Answer, Difference, State, Value
from slipway.answers.comparison import Comparison, Side
from slipway.answers.probes import DEFAULT, Probe, Submitter, Way, probes
from slipway.base.errors import ConfigError, SlipwayError
from slipway.base.formatting import exact_span, join, last_part
from slipway.google.advice import SpotNeed
from slipway.google.jobs import AT_LEAST_ONCE
from slipway.google.quota.metrics import ALL_SHORT_COMMAND
from slipway.model.capacity import PAID_ANYWAY, POOL, SPOT
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.template import Offer
from slipway.model.findings.finding import Finding, Subject
from slipway.model.labels import Launched, own_labels
from slipway.model.own_settings import OwnSettings
from slipway.model.prices import Price
from slipway.using.submission.agent_check import AgentSpending
from slipway.using.submission.candidate import Candidate, price
from slipway.using.submission.costs import longest_run, spending
from slipway.using.submission.offline import ends_before, offline
from slipway.using.submission.order import pools_of
from slipway.using.submission.parameters import judged
from slipway.using.submission.prepared import PreparedSubmission, prepare
from slipway.using.submission.request import RequestOverrides
from slipway.using.submission.submission_request import SubmissionRequest
from slipway.using.submission.yielding import require_urgent

CAUSE, FIX = "cause", "fix"
"""Values of a rejection."""
REQUEST, OFFER, UNLISTED = "request", "offer", "unlisted"
"""Causes: the submission itself, offers that can't run, and a capacity type that the template does not list."""
PLACE, TYPES, TIME_LIMIT, SESSION_LIMIT = "place", "capacity types", "time limit", "session limit"
PRICE, RUN_COST, CONFIRMATION = "price", "cost of a run until its time limit", "confirmation above"


def answers(comparison: Comparison, side: Side) -> Iterator[Answer]:
    """Yield the answer to each probe on one side; a template that is not deployed yet has none before the change."""
    for probe in probes(comparison):
        if side is Side.AFTER:
            yield from _of_probe(comparison.new, probe, probe.template, comparison.world.now)
            continue
        # The deployed catalog already has the new names.
        name = comparison.renamed.get(probe.template, probe.template)
        if name in comparison.old.templates:
            yield from _of_probe(comparison.old, probe, name, comparison.world.now)


def findings(comparison: Comparison, differences: Sequence[Difference]) -> Iterable[Finding]:
    """Return the findings about submissions, one for each template and kind."""
    from slipway.answers.submission_findings import findings_of

    return findings_of(comparison, differences) if differences else ()


def spot_needs(catalog: Catalog) -> tuple[SpotNeed, ...]:
    """Return the Spot machines that the default submissions of a catalog's templates request."""
    needs: list[SpotNeed] = []
    for template in catalog.templates.values():
        if all(offer.capacity_type != SPOT for offer in template.offers):
            continue
        try:
            prepared = prepare(catalog, SubmissionRequest(template.name), "")
            spot = [candidate for candidate in prepared.candidates if candidate.offer.capacity_type == SPOT]
            for candidate in spot:
                parts = candidate.demand.parts
                needs += [SpotNeed.of(candidate.region, part.machine, part.machines) for part in parts]
        except ConfigError:  # It has required parameters, or can't run.
            continue
    return tuple(needs)


@dataclass(frozen=True)
class _Tried:
    """A candidate, and why it can't run; empty if it can."""

    candidate: Candidate
    why: str = ""
    fix: str = ""
    cause: str = OFFER

    @property
    def way(self) -> Way:
        return (self.candidate.offer.capacity_type, self.candidate.offer.shape)


def _of_probe(catalog: Catalog, probe: Probe, name: str, now: datetime) -> Iterator[Answer]:
    subject = Subject("template", probe.template)
    if probe.submitter is Submitter.AGENT:
        subject = Subject("submitter", "agents")
    tried: list[_Tried] = []
    prepared = None
    problem = ""
    try:
        prepared = _prepared(catalog, probe, name)
        tried = [_tried(catalog, probe, candidate, now) for candidate in prepared.candidates]
    except SlipwayError as error:
        # Of wrong parameters, the mistake itself says more.
        problem = error.why.partition("\n")[0] if error.what.endswith(" wrong") else error.what
    for way in probe.ways:
        answer = Answer("submission", (*probe.key, *way), subject)
        if prepared is None or problem:
            yield replace(answer, state=State.NO, text=problem, values={CAUSE: _cause(catalog, probe, name)})
        else:
            yield _of_way(answer, prepared, probe, way, tried, now)


def _of_way(
    answer: Answer, prepared: PreparedSubmission, probe: Probe, way: Way, every: Sequence[_Tried], now: datetime
) -> Answer:
    tried = [
        each for each in every if way in (DEFAULT, (each.candidate.offer.capacity_type, each.candidate.offer.shape))
    ]
    possible = [each.candidate for each in tried if not each.why]
    if not tried:
        return replace(answer, state=State.NO, text=f"`{way[0]}` is not listed", values={CAUSE: UNLISTED})
    if not possible:
        reasons = "; ".join(dict.fromkeys(each.why for each in tried))
        return replace(answer, state=State.NO, text=reasons, values={CAUSE: tried[0].cause, FIX: tried[0].fix})
    catalog = prepared.catalog
    first = possible[0]
    values = _values(prepared, possible)
    costs = spending(prepared, possible if first.wait else [first])
    if costs:
        values[CONFIRMATION] = costs.limit
    if probe.submitter is Submitter.AGENT and costs:
        problem = AgentSpending("any", catalog.stack, catalog.agents, Price()).problem(costs)
        if problem:
            return replace(answer, state=State.NO, text=problem.why, values={CAUSE: REQUEST})
    if probe.submitter is Submitter.SESSION and catalog.sessions and catalog.sessions.max:
        values[SESSION_LIMIT] = catalog.sessions.max.total_seconds()
    if way == DEFAULT:
        values |= _of_default(prepared, possible)
    return replace(answer, text="\n".join(_warnings(catalog, first, now)), values=values)


def _prepared(catalog: Catalog, probe: Probe, name: str) -> PreparedSubmission:
    """Return what `slipway submit` prepares. Raises ConfigError and PolicyError as it does."""
    settings = OwnSettings(replicas=probe.replicas or None)
    overrides = RequestOverrides(settings=settings)
    asked = SubmissionRequest(name, dict(probe.params), kind=probe.kind or None, overrides=overrides)
    # Membership in a team is a question of access.
    prepared = prepare(catalog, asked, probe.user, counts_for=probe.team or None)
    if probe.submitter is Submitter.URGENT:
        require_urgent(catalog, probe.user, prepared.team)
    return prepared


def _cause(catalog: Catalog, probe: Probe, name: str) -> str:
    template = catalog.templates.get(name)
    if template is None or probe.replicas or probe.submitter is Submitter.URGENT:
        return REQUEST
    is_known = not probe.kind or probe.kind in template.kinds
    return OFFER if is_known and not judged(template, dict(probe.params))[1] else REQUEST


def _tried(catalog: Catalog, probe: Probe, candidate: Candidate, now: datetime) -> _Tried:
    offer = candidate.offer
    pools = catalog.sessions.pools if catalog.sessions else None
    if probe.submitter is Submitter.SESSION and pools is not None and not {*pools} & {*pools_of(offer)}:
        return _Tried(candidate, f"sessions can run on {join(pools, 'or') or 'no pool'} only", cause=REQUEST)
    if offer.available or candidate.barred:
        judgement = offline(candidate, reserved=catalog.reservations, now=now)
        if judgement:
            return _Tried(candidate, "; ".join(judgement.reasons))
        return _beyond_pools(catalog, candidate)
    # A preview publishes no text about an offer that is unavailable.
    if offer.lacks_quota:
        return _Tried(candidate, f"quota is too low for {_machines(candidate)}", ALL_SHORT_COMMAND)
    if offer.dormant:
        return _Tried(candidate, f"cluster `{offer.dormant}` is inactive")
    if offer.capacity_type == POOL and not offer.cluster:
        return _without_pool(catalog, candidate)
    return _Tried(candidate, offer.why or f"{_machines(candidate)} can't be had by {offer.capacity_type}")


def _without_pool(catalog: Catalog, candidate: Candidate) -> _Tried:
    """Return which machine no pool has, or has too few of."""
    for part in candidate.demand.parts:
        sizes: dict[str, int] = {}
        for cluster in catalog.clusters.values():
            sizes |= {f"{cluster.name}/{pool.name}": pool.max for pool in cluster.pools if pool.machine == part.machine}
        if not sizes:
            return _Tried(candidate, f"no pool has `{part.machine}`", "keep a pool with these machines")
        largest = max(sizes, key=lambda name: sizes[name])
        if sizes[largest] < part.machines:
            return _too_small(candidate, largest, part.machines, sizes[largest])
    return _Tried(candidate, "no cluster fits all its worker pools")


def _beyond_pools(catalog: Catalog, candidate: Candidate) -> _Tried:
    """Return whether a job needs more machines than its pools can have."""
    cluster = catalog.clusters.get(candidate.offer.cluster)
    needs = Counter[str]()
    for part in candidate.demand.parts:
        needs[part.pool] += part.machines
    for name, count in needs.items():
        pool = cluster.pool(name) if cluster else None
        if pool is not None and pool.max < count:
            return _too_small(candidate, f"{candidate.offer.cluster}/{name}", count, pool.max)
    return _Tried(candidate)


def _too_small(candidate: Candidate, pool: str, needed: int, most: int) -> _Tried:
    fix = f"keep `replicas.max` of pool `{pool}` at {needed} or more"
    return _Tried(candidate, f"needs {needed} machines of `{pool}`, maximum is {most}", fix)


def _machines(candidate: Candidate) -> str:
    """Return `1 × n1-standard-4, 2 × n1-standard-8`."""
    counts = Counter[str]()
    for part in candidate.demand.parts:
        counts[str(part.machine)] += part.machines
    return ", ".join(f"{count} × {machine}" for machine, count in counts.items())


def _values(prepared: PreparedSubmission, possible: Sequence[Candidate]) -> dict[str, Value]:
    """Return what the first candidate's job has, and where it can run."""
    first = possible[0]
    job = first.request.job
    spec = first.kind.spec_of(first.body)
    scheduling = spec.get("scheduling", {})
    places = dict.fromkeys(", ".join(pools_of(candidate.offer)) for candidate in possible)
    values: dict[str, Value] = {
        PLACE: join(filter(None, places), "or"),
        "region": join(dict.fromkeys(candidate.region for candidate in possible), "or"),
        "machines": _machines(first),
        "disk": join(dict.fromkeys(str(part.machine.disk) for part in first.demand.parts)),
        "reservation": join(last_part(path) for path in sorted(job.reservations)),
        "service account": job.service_account,
        "image": join(dict.fromkeys(pool.image for pool in job.worker_pools if pool.replicas)),
        TIME_LIMIT: job.timeout,
        "checkpoints": prepared.template.checkpoints,
        "yields to urgent jobs": bool(prepared.template.yields),
        "retries": not scheduling.get("disableRetries", False),
        "restarts": bool(scheduling.get("restartJobOnWorkerRestart")),
        "network": str(spec.get("network") or ""),
        "experiment": last_part(job.experiment),
        "TensorBoard": last_part(job.tensorboard),
    }
    if first.kind.has_trials:
        values |= {"trials": job.max_trials, "trials at once": job.trials, "study": str(prepared.template.study)}
    values |= {f"label {name}": value for name, value in own_labels(job.labels).items()}
    hourly = price(prepared.catalog, first)
    if first.offer.capacity_type not in PAID_ANYWAY and hourly.complete:
        values[PRICE] = round(float(hourly.known), 4)
        values[RUN_COST] = round(float(hourly.known) * longest_run(first) / 3600, 2)
    return values


def _of_default(prepared: PreparedSubmission, possible: Sequence[Candidate]) -> dict[str, Value]:
    """Return the order of capacity types, the defaults of parameters, and what the code is given."""
    order: dict[str, None] = {}
    for candidate in possible:
        offer = candidate.offer
        wait = f" for {exact_span(candidate.wait)}" if candidate.wait else ""
        order[" on ".join(filter(None, (offer.capacity_type, offer.shape))) + wait] = None
    values: dict[str, Value] = {"kind": prepared.kind.words, TYPES: ", ".join(order)}
    for parameter in prepared.template.parameters:
        if isinstance(parameter.default, tuple):
            values[f"default of {parameter.name}"] = ", ".join(map(str, parameter.default))
        else:
            values[f"default of {parameter.name}"] = parameter.default
    return values | _given_to_code(possible[0].offer, possible[0].roles)


def _given_to_code(offer: Offer, roles: Sequence[str]) -> dict[str, Value]:
    """Return arguments and variables as the template writes them, with its placeholders."""
    values: dict[str, Value] = {}
    for index, pool in enumerate(offer.worker_pools):
        task: Mapping[str, Any] = pool.get("containerSpec") or pool.get("pythonPackageSpec") or {}
        launched = Launched.of(task)
        words = launched.arguments if launched else task.get("args") or ()
        command = launched.command if launched else task.get("command") or ()
        role = f" of {roles[index]}" if 0 < index < len(roles) else ""
        values[f"command{role}"] = " ".join(map(str, command))
        values |= {f"argument {name}{role}": value for name, value in _arguments(map(str, words)).items()}
        variables = {str(entry.get("name")): str(entry.get("value", "")) for entry in task.get("env") or ()}
        values |= {f"variable {name}{role}": value for name, value in variables.items()}
    return values


def _arguments(words: Iterable[str]) -> Mapping[str, str]:
    """Return values by flag; words without a flag are numbered."""
    found: dict[str, str] = {}
    flag = ""
    for word in words:
        if word.startswith("-"):
            flag, _, value = word.partition("=")
            found[flag] = f"{found.get(flag, '')} {value}".strip()
        else:
            name = flag or str(len(found) + 1)
            found[name] = f"{found.get(name, '')} {word}".strip()
    return found


def _warnings(catalog: Catalog, candidate: Candidate, now: datetime) -> Iterator[str]:
    """Yield what a dry run reports beside the request, without live state."""
    if not candidate.request.job.starts_once:
        yield AT_LEAST_ONCE
    ending = ends_before(candidate, catalog.reservations, now)
    if ending:
        yield ending
    if candidate.offer.capacity_type not in PAID_ANYWAY and not price(catalog, candidate).complete:
        yield f"the price of {_machines(candidate)} is unknown"
