"""Which submissions are accepted, where they run and at which cost: by the code of `slipway submit --dry-run`. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from slipway.answers.answer import Answer, Difference, State, Value
from slipway.answers.comparison import Comparison, Side
from slipway.answers.probes import DEFAULT, Probe, Submitter, Way, probes
from slipway.base.errors import ConfigError, PolicyError, SlipwayError
from slipway.base.formatting import exact_span, join, last_part
from slipway.google.advice import SpotNeed
from slipway.google.jobs import AT_LEAST_ONCE, VertexJob
from slipway.google.quota.metrics import ALL_SHORT_COMMAND
from slipway.model.agents import AgentAllowance
from slipway.model.capacity import PAID_ANYWAY, POOL, SPOT
from slipway.model.catalog.model import Catalog, SessionLimits
from slipway.model.catalog.template import Offer, Template
from slipway.model.findings.finding import Finding, Subject
from slipway.model.labels import Launched, own_labels
from slipway.model.machines.spec import MachineSpec
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

QUESTION = "submission"
CAUSE = "cause"
FIX = "fix"
REQUEST, OFFERS, QUOTA, ABSENT = "request", "offers", "quota", "absent"
"""Causes of a rejection: the submission itself, no offer that can run, quota, and a capacity type that is not listed."""
PRICE, TIME_LIMIT, COST = "price", "time limit", "cost of a run until its time limit"
CAPACITY, PLACE, CONFIRMATION = "capacity types", "place", "confirmation above"


def answers(comparison: Comparison, side: Side) -> Iterator[Answer]:
    """Yield the answer to each probe on one side; a template that a side does not have yet has none there."""
    is_before = side is Side.BEFORE
    catalog = comparison.old if is_before else comparison.new
    for probe in probes(comparison):
        name = probe.template
        if is_before:
            # The deployed catalog already has the new names.
            name = comparison.renamed.get(name, name)
        if is_before and name not in catalog.templates:
            continue
        yield from _of_probe(catalog, replace(probe, template=name), comparison.world.now, probe.template)


def findings(comparison: Comparison, differences: Sequence[Difference]) -> Iterable[Finding]:
    """Yield the findings about submissions, one for each template and kind."""
    from slipway.answers.submission_findings import findings_of

    return findings_of(comparison, differences) if differences else ()


def spot_needs(catalog: Catalog) -> tuple[SpotNeed, ...]:
    """Return the Spot machines that the default submissions of a catalog's templates request."""
    needs: list[SpotNeed] = []
    for template in catalog.templates.values():
        if all(offer.capacity_type != SPOT for offer in template.offers):
            continue
        try:
            candidates = prepare(catalog, SubmissionRequest(template.name), "").candidates
        except ConfigError:  # It has required parameters, or can't run.
            continue
        for candidate in candidates:
            if candidate.offer.capacity_type == SPOT:
                parts = candidate.demand.parts
                needs += [SpotNeed.of(candidate.region, part.machine, part.machines) for part in parts]
    return tuple(needs)


@dataclass(frozen=True)
class _Tried:
    """A candidate, and why it can't run; empty if it can."""

    candidate: Candidate
    why: str = ""
    cause: str = ""
    fix: str = ""

    @property
    def way(self) -> Way:
        return (self.candidate.offer.capacity_type, self.candidate.offer.shape)


def _of_probe(catalog: Catalog, probe: Probe, now: datetime, called: str) -> Iterator[Answer]:
    subject = Subject("template", called)
    if probe.submitter is Submitter.AGENT:
        subject = Subject("submitter", "agents")
    unasked = Answer(QUESTION, (), subject)
    base = replace(probe, template=called).key
    try:
        prepared = _prepared(catalog, probe)
        tried = [_tried(catalog, probe, candidate, now) for candidate in prepared.candidates]
    except SlipwayError as error:
        cause = _cause(catalog, probe)
        rejected = {CAUSE: cause}
        for way in probe.ways:
            yield replace(unasked, key=(*base, *way), state=State.NO, text=_message(error), values=rejected)
        return
    for way in probe.ways:
        considered = [each for each in tried if way in (DEFAULT, each.way)]
        answer = replace(unasked, key=(*base, *way))
        yield _answer(answer, prepared, probe, way, considered, now)


def _answer(
    answer: Answer,
    prepared: PreparedSubmission,
    probe: Probe,
    way: Way,
    tried: Sequence[_Tried],
    now: datetime,
) -> Answer:
    possible = [each.candidate for each in tried if not each.why]
    if not tried:
        text = f"the template does not list `{way[0]}`"
        return replace(answer, state=State.NO, text=text, values={CAUSE: ABSENT})
    if not possible:
        first = tried[0]
        reasons = dict.fromkeys(each.why for each in tried)
        values = {CAUSE: first.cause, FIX: first.fix}
        return replace(answer, state=State.NO, text="; ".join(reasons), values=values)
    catalog = prepared.catalog
    sent = possible if possible[0].wait else possible[:1]
    costs = spending(prepared, sent)
    if probe.submitter is Submitter.AGENT and costs:
        allowance: AgentAllowance | None = catalog.agents
        problem = AgentSpending("any", catalog.stack, allowance, Price()).problem(costs)
        if problem:
            return replace(answer, state=State.NO, text=problem.why, values={CAUSE: REQUEST})
    values = _values(prepared, possible)
    if way == DEFAULT:
        values |= _of_default(prepared, possible)
    if costs:
        values[CONFIRMATION] = costs.limit
    if probe.submitter is Submitter.SESSION:
        limits = catalog.sessions or SessionLimits()
        values["session limit"] = limits.max.total_seconds() if limits.max else None
    return replace(answer, text="\n".join(_warnings(catalog, possible[0], now)), values=values)


def _prepared(catalog: Catalog, probe: Probe) -> PreparedSubmission:
    """Return what `slipway submit` prepares. Raises ConfigError and PolicyError as it does."""
    settings = OwnSettings(replicas=probe.replicas or None)
    asked = SubmissionRequest(
        template=probe.template,
        params=dict(probe.params),
        kind=probe.kind or None,
        overrides=RequestOverrides(settings=settings, urgent=probe.submitter is Submitter.URGENT),
    )
    # Who is in which team is a question of access.
    prepared = prepare(catalog, asked, probe.user, counts_for=probe.team or None)
    if probe.submitter is Submitter.URGENT:
        require_urgent(catalog, probe.user, prepared.team)
    return prepared


def _cause(catalog: Catalog, probe: Probe) -> str:
    template = catalog.templates.get(probe.template)
    if template is None or template.unread:
        return REQUEST
    known_kind = not probe.kind or probe.kind in template.kinds
    mistakes = judged(template, dict(probe.params))[1]
    is_request = bool(mistakes) or not known_kind or probe.submitter is Submitter.URGENT or bool(probe.replicas)
    return REQUEST if is_request else OFFERS


def _message(error: SlipwayError) -> str:
    """Return the product's own message in one line; of wrong parameters the mistake itself."""
    if error.why and error.what.endswith(" wrong"):
        return error.why.partition("\n")[0]
    return error.what


def _tried(catalog: Catalog, probe: Probe, candidate: Candidate, now: datetime) -> _Tried:
    offer = candidate.offer
    limits = catalog.sessions
    if probe.submitter is Submitter.SESSION and limits and limits.pools is not None:
        if not set(limits.pools) & set(pools_of(offer)):
            where = join(limits.pools, "or") or "no pool"
            return _Tried(candidate, f"sessions can run on {where} only", REQUEST)
    if not offer.available and not candidate.barred:
        return _unavailable(catalog, candidate)
    judgement = offline(candidate, reserved=catalog.reservations, now=now)
    if judgement:
        return _Tried(candidate, "; ".join(judgement.reasons), OFFERS)
    return _beyond_pools(catalog, candidate)


def _unavailable(catalog: Catalog, candidate: Candidate) -> _Tried:
    """Return why an offer is unavailable: a preview publishes no text about it."""
    offer = candidate.offer
    if offer.lacks_quota:
        return _Tried(candidate, f"quota is too low for {_machines(candidate)}", QUOTA, ALL_SHORT_COMMAND)
    if offer.dormant:
        return _Tried(candidate, f"cluster `{offer.dormant}` is inactive", OFFERS)
    if offer.capacity_type == POOL and not offer.cluster:
        return _without_pool(catalog, candidate)
    why = offer.why or f"{offer.capacity_type} does not offer {_machines(candidate)}"
    return _Tried(candidate, why, OFFERS)


def _without_pool(catalog: Catalog, candidate: Candidate) -> _Tried:
    """Return which machine no pool has, or has too few of."""
    for part in candidate.demand.parts:
        fitting: list[tuple[str, str, int]] = []
        for cluster in catalog.clusters.values():
            pools = [pool for pool in cluster.pools if pool.machine == part.machine]
            fitting += [(cluster.name, pool.name, pool.max) for pool in pools]
        if not fitting:
            return _Tried(candidate, f"no pool has `{part.machine}`", OFFERS, "keep a pool with these machines")
        cluster_name, pool_name, most = max(fitting, key=lambda pool: pool[2])
        if most < part.machines:
            return _too_small(candidate, f"{cluster_name}/{pool_name}", part.machines, most)
    return _Tried(candidate, "no cluster fits all its worker pools", OFFERS)


def _beyond_pools(catalog: Catalog, candidate: Candidate) -> _Tried:
    """Return whether a job needs more machines than its pools can have."""
    cluster = catalog.clusters.get(candidate.offer.cluster)
    if cluster is None:
        return _Tried(candidate)
    needs: dict[str, int] = {}
    for part in candidate.demand.parts:
        needs[part.pool] = needs.get(part.pool, 0) + part.machines
    for name, count in needs.items():
        pool = cluster.pool(name)
        if pool is not None and pool.max < count:
            return _too_small(candidate, f"{cluster.name}/{name}", count, pool.max)
    return _Tried(candidate)


def _too_small(candidate: Candidate, pool: str, needed: int, most: int) -> _Tried:
    why = f"needs {needed} machines of `{pool}`, maximum is {most}"
    return _Tried(candidate, why, OFFERS, f"keep `replicas.max` of pool `{pool}` at {needed} or more")


def _machines(candidate: Candidate) -> str:
    """Return `1 × n1-standard-4, 2 × n1-standard-8`."""
    counts: dict[MachineSpec, int] = {}
    for part in candidate.demand.parts:
        counts[part.machine] = counts.get(part.machine, 0) + part.machines
    return ", ".join(f"{count} × {machine}" for machine, count in counts.items())


def _places(offers: Iterable[Offer]) -> str:
    places: dict[str, None] = {}
    for offer in offers:
        places |= dict.fromkeys(pools_of(offer))
    return join(places, "or")


def _values(prepared: PreparedSubmission, possible: Sequence[Candidate]) -> dict[str, Value]:
    """Return what the first candidate's job has, and where it can run."""
    catalog = prepared.catalog
    first = possible[0]
    job = first.request.job
    regions = dict.fromkeys(candidate.region for candidate in possible)
    values: dict[str, Value] = {
        PLACE: _places(candidate.offer for candidate in possible),
        "region": join(regions, "or"),
        "machines": _machines(first),
        "disk": join(dict.fromkeys(str(part.machine.disk) for part in first.demand.parts)),
        "reservation": join(last_part(path) for path in sorted(job.reservations)),
        "service account": job.service_account,
        "image": join(dict.fromkeys(pool.image for pool in job.worker_pools if pool.replicas)),
        TIME_LIMIT: job.timeout,
        "checkpoints": prepared.template.checkpoints,
        "yields to urgent jobs": prepared.template.yields,
        **_of_spec(first.kind.spec_of(first.body)),
    }
    if first.kind.has_trials:
        values |= {"trials": job.max_trials, "trials at once": job.trials, "study": str(prepared.template.study)}
    if first.offer.capacity_type not in PAID_ANYWAY:
        hourly = price(catalog, first)
        if hourly.complete:
            values[PRICE] = round(float(hourly.known), 4)
            values[COST] = round(float(hourly.known) * longest_run(first) / 3600, 2)
    for name, value in own_labels(job.labels).items():
        values[f"label {name}"] = value
    return values


def _of_spec(spec: Mapping[str, Any]) -> dict[str, Value]:
    scheduling = spec.get("scheduling", {})
    return {
        "retries": not scheduling.get("disableRetries", False),
        "restarts": bool(scheduling.get("restartJobOnWorkerRestart")),
        "network": str(spec.get("network") or ""),
        "experiment": last_part(str(spec.get("experiment") or "")),
        "TensorBoard": last_part(str(spec.get("tensorboard") or "")),
    }


def _of_default(prepared: PreparedSubmission, possible: Sequence[Candidate]) -> dict[str, Value]:
    """Return the order of capacity types, the defaults of parameters, and what the code is given."""
    order = []
    for candidate in possible:
        shape = f" on {candidate.offer.shape}" if candidate.offer.shape else ""
        wait = f" for {exact_span(candidate.wait)}" if candidate.wait else ""
        order.append(f"{candidate.offer.capacity_type}{shape}{wait}")
    values: dict[str, Value] = {"kind": prepared.kind.words, CAPACITY: ", ".join(dict.fromkeys(order))}
    for parameter in prepared.template.parameters:
        if parameter.default is not None:
            values[f"default of {parameter.name}"] = _scalar(parameter.default)
    return values | _given_to_code(prepared.template, possible[0].offer)


def _scalar(value: Any) -> Value:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else value


def _given_to_code(template: Template, offer: Offer) -> dict[str, Value]:
    """Return arguments and variables as the template writes them, with its placeholders."""
    values: dict[str, Value] = {}
    roles = offer.roles or template.roles
    for index, pool in enumerate(offer.worker_pools):
        task = pool.get("containerSpec") or pool.get("pythonPackageSpec") or {}
        launched = Launched.of(task)
        arguments = launched.arguments if launched else [str(word) for word in task.get("args") or ()]
        role = f" of {roles[index]}" if index and index < len(roles) else ""
        for name, value in _arguments(arguments).items():
            values[f"argument {name}{role}"] = value
        for entry in task.get("env") or ():
            values[f"variable {entry.get('name')}{role}"] = str(entry.get("value", ""))
        command = launched.command if launched else tuple(task.get("command") or ())
        values[f"command{role}"] = " ".join(map(str, command))
    return values


def _arguments(words: Iterable[str]) -> Mapping[str, str]:
    """Return values by flag; words without a flag are numbered."""
    found: dict[str, str] = {}
    flag = ""
    for word in words:
        if word.startswith("-"):
            flag, _, value = word.partition("=")
            found[flag] = f"{found[flag]} {value}" if flag in found else value
            if value:
                flag = ""
        elif flag:
            found[flag] = f"{found[flag]} {word}".strip()
        else:
            found[str(len(found) + 1)] = word
    return found


def _warnings(catalog: Catalog, candidate: Candidate, now: datetime) -> Iterator[str]:
    """Yield what a dry run reports beside the request, without live state."""
    job: VertexJob = candidate.request.job
    if not job.starts_once:
        yield AT_LEAST_ONCE
    ending = ends_before(candidate, catalog.reservations, now)
    if ending:
        yield ending
    if candidate.offer.capacity_type not in PAID_ANYWAY and not price(catalog, candidate).complete:
        yield f"the price of {_machines(candidate)} is unknown"
