"""Which submissions are accepted, where they run and at which cost: by the code of `slipway submit --dry-run`. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from slipway.answers.answer import Answer, Difference, State, Value
from slipway.answers.comparison import Comparison, Side
from slipway.answers.probes import Probe, Submitter, probes
from slipway.base.errors import ConfigError, PolicyError
from slipway.base.formatting import exact_span, join, last_part
from slipway.google.advice import SpotNeed
from slipway.google.clusters import PersistentResource, ResourcePool
from slipway.google.jobs import AT_LEAST_ONCE
from slipway.google.quota.metrics import ALL_SHORT_COMMAND
from slipway.model.capacity import PAID_ANYWAY, POOL, SPOT
from slipway.model.catalog.clusters import Cluster
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.template import Offer
from slipway.model.findings.finding import Finding, Subject
from slipway.model.labels import Launched, own_labels
from slipway.model.prices import Price
from slipway.using.jobs.verdict import on_cluster
from slipway.using.submission.agent_check import AgentSpending
from slipway.using.submission.candidate import Candidate, price
from slipway.using.submission.costs import longest_run, spending
from slipway.using.submission.offline import ends_before, offline
from slipway.using.submission.order import pools_of
from slipway.using.submission.prepared import PreparedSubmission, prepare
from slipway.using.submission.submission_request import SubmissionRequest
from slipway.using.submission.yielding import require_urgent

CAUSE, FIX = "cause", "fix"
"""The values of a rejection."""
REQUEST, OFFER = "request", "offer"
"""Causes: the submission itself is wrong, or no offer can run it."""
PLACE, TYPES, MACHINES = "place", "capacity types", "machines"
TIME_LIMIT, PRICE, RUN_COST = "time limit", "price", "cost until the time limit"
CONFIRMATION = "confirmation of costs"


def answers(comparison: Comparison, side: Side) -> Iterator[Answer]:
    """Yield the answer to each probe on one side; a template that is not deployed yet has none before the change."""
    for probe in probes(comparison):
        if side is Side.AFTER:
            yield _answer(comparison.new, probe, probe.asked.template, comparison.world.now)
            continue
        # The deployed catalog already has the new names.
        name = comparison.renamed.get(probe.asked.template, probe.asked.template)
        if name in comparison.old.templates:
            yield _answer(comparison.old, probe, name, comparison.world.now)


def findings(comparison: Comparison, differences: Sequence[Difference]) -> Iterable[Finding]:
    """Return the findings about submissions, one for each template and kind."""
    from slipway.answers.submission_findings import findings_of

    return findings_of(comparison, differences) if differences else ()


def spot_needs(catalog: Catalog) -> tuple[SpotNeed, ...]:
    """Return the Spot machines that the default submissions of a catalog's templates request."""
    needs: list[SpotNeed] = []
    for name in catalog.templates:
        try:
            candidates = prepare(catalog, SubmissionRequest(name, capacity_type=SPOT), "").candidates
            for candidate in candidates:
                parts = candidate.demand.parts
                needs += [SpotNeed.of(candidate.region, part.machine, part.machines) for part in parts]
        except ConfigError:  # It has no Spot machines, or required parameters.
            continue
    return tuple(needs)


def _answer(catalog: Catalog, probe: Probe, name: str, now: datetime) -> Answer:
    answer = Answer("submission", probe.key, Subject("template", probe.asked.template))
    try:
        # Membership in a team is a question of access.
        prepared = prepare(catalog, replace(probe.asked, template=name), probe.user)
        possible = _possible(prepared, probe, now)
        values = {**_values(prepared, possible), **_costs(prepared, probe, possible)}
    except ConfigError as error:
        # Of wrong parameters, the mistake itself says more.
        text = error.why.partition("\n")[0] if error.what.endswith(" wrong") else error.what
        return replace(answer, state=State.NO, text=text, values={CAUSE: REQUEST, FIX: ""})
    except PolicyError as error:
        return replace(answer, state=State.NO, text=error.what, values={CAUSE: OFFER, FIX: str(error.fix)})
    return replace(answer, text="\n".join(_warnings(catalog, possible[0], now)), values=values)


def _possible(prepared: PreparedSubmission, probe: Probe, now: datetime) -> list[Candidate]:
    """Return the candidates that can run. Raises PolicyError with the reasons if there is none."""
    catalog = prepared.catalog
    candidates: Iterable[Candidate] = prepared.candidates
    if probe.submitter is Submitter.URGENT:
        require_urgent(catalog, probe.user, prepared.team)
    if probe.submitter is Submitter.SESSION and catalog.sessions and catalog.sessions.pools is not None:
        pools = set(catalog.sessions.pools)
        candidates = [candidate for candidate in candidates if pools & set(pools_of(candidate.offer))]
    possible: list[Candidate] = []
    reasons: list[str] = []
    for candidate in candidates:
        reason = _obstacle(catalog, candidate, now)
        if reason:
            reasons.append(reason)
        else:
            possible.append(candidate)
    if not possible:
        lacks_quota = any(candidate.offer.lacks_quota for candidate in candidates)
        fix = ALL_SHORT_COMMAND if lacks_quota else "keep a pool or a capacity type that can run it"
        raise PolicyError("; ".join(dict.fromkeys(reasons)) or "sessions can't run on its pools", fix=fix)
    return possible


def _obstacle(catalog: Catalog, candidate: Candidate, now: datetime) -> str:
    """Return why a candidate can't run; empty if it can."""
    offer = candidate.offer
    # A preview publishes no text about an offer that is unavailable.
    if offer.lacks_quota:
        return f"quota is too low for {_machines(candidate)}"
    if offer.dormant:
        return f"cluster {offer.dormant} is inactive"
    if offer.capacity_type == POOL and not offer.cluster:
        reasons = [_cluster_obstacle(cluster, candidate, now) for cluster in catalog.clusters.values()]
        # Too few machines say more than other ones.
        return max(reasons, key=lambda reason: "maximum" in reason, default="") or "no cluster fits it"
    judgement = offline(candidate, reserved=catalog.reservations, now=now)
    if judgement:
        return "; ".join(judgement.reasons)
    cluster = catalog.clusters.get(offer.cluster)
    return _cluster_obstacle(cluster, candidate, now) if cluster else ""


def _cluster_obstacle(cluster: Cluster, candidate: Candidate, now: datetime) -> str:
    """Return why a job could never run on a cluster, with nothing on it."""
    pools = [ResourcePool(pool.name, pool.machine, pool.min, 0, pool.min, pool.max) for pool in cluster.pools]
    idle = PersistentResource(cluster.id, "RUNNING", {}, tuple(pools))
    return "; ".join(on_cluster(cluster.name, candidate.demand, idle, None, now).why)


def _machines(candidate: Candidate) -> str:
    """Return `1 × n1-standard-4, 2 × n1-standard-8`."""
    counts = Counter[str]()
    for part in candidate.demand.parts:
        counts[str(part.machine)] += part.machines
    return ", ".join(f"{count} × {machine}" for machine, count in counts.items())


def _values(prepared: PreparedSubmission, possible: Sequence[Candidate]) -> dict[str, Value]:
    """Return where the submission can run, and what the first candidate's job has."""
    first = possible[0]
    template = prepared.template
    job = first.request.job
    spec = first.kind.spec_of(first.body)
    scheduling = spec.get("scheduling", {})
    order = [f"{each.offer.capacity_type}{f' for {exact_span(each.wait)}' if each.wait else ''}" for each in possible]
    values: dict[str, Value] = {TYPES: join(dict.fromkeys(order), "then")}
    values[PLACE] = _alternatives(", ".join(pools_of(candidate.offer)) for candidate in possible)
    values["machine shapes"] = _alternatives(candidate.offer.shape for candidate in possible)
    values["region"] = _alternatives(candidate.region for candidate in possible)
    values[MACHINES] = _machines(first)
    values["disk"] = _alternatives(str(part.machine.disk) for part in first.demand.parts)
    values["reservation"] = _alternatives(last_part(path) for path in sorted(job.reservations))
    values["job kind"] = prepared.kind.words
    values["service account"] = job.service_account
    values["image"] = _alternatives(pool.image for pool in job.worker_pools)
    values["checkpoints"] = template.checkpoints
    values["yields to urgent jobs"] = bool(template.yields)
    values["retries"] = not scheduling.get("disableRetries", False)
    values["restarts"] = bool(scheduling.get("restartJobOnWorkerRestart"))
    values["network"] = str(spec.get("network") or "")
    values["experiment"] = last_part(job.experiment)
    values["TensorBoard"] = last_part(job.tensorboard)
    values["trials"] = job.max_trials
    values["trials at once"] = job.trials
    values["study"] = str(template.study or "")
    values |= {f"label {name}": value for name, value in own_labels(job.labels).items()}
    values |= {f"default of {each.name}": str(each.default) for each in template.parameters if not each.required}
    return values | _given_to_code(first.offer)


def _alternatives(texts: Iterable[str]) -> str:
    return join(filter(None, dict.fromkeys(texts)), "or")


def _costs(prepared: PreparedSubmission, probe: Probe, possible: Sequence[Candidate]) -> dict[str, Value]:
    """Return the price of dedicated machines in USD an hour, and of a run. Raises PolicyError if an agent can't."""
    catalog = prepared.catalog
    first = possible[0]
    longest = longest_run(first)
    values: dict[str, Value] = {TIME_LIMIT: longest, CONFIRMATION: "none"}
    if first.offer.capacity_type in PAID_ANYWAY:
        return {**values, PRICE: 0.0, RUN_COST: 0.0}
    hourly = float(price(catalog, first).known)
    values[PRICE] = round(hourly, 4)
    values[RUN_COST] = round(hourly * longest / 3600, 2)
    costs = spending(prepared, [first])
    if costs is None:
        return values
    values[CONFIRMATION] = f"above ${costs.limit:,.2f}/h"
    agent = AgentSpending("an agent", catalog.stack, catalog.agents, Price())
    problem = agent.problem(costs) if probe.submitter is Submitter.AGENT else None
    if problem:
        raise problem
    return values


def _given_to_code(offer: Offer) -> dict[str, Value]:
    """Return arguments and variables as the template writes them, with its placeholders."""
    values: dict[str, Value] = {}
    for pool in offer.worker_pools:
        task = pool.get("containerSpec") or pool.get("pythonPackageSpec") or {}
        launched = Launched.of(task)
        words = launched.arguments if launched else task.get("args", ())
        for word in words:
            flag, _, value = str(word).partition("=")
            values[f"argument {flag}"] = value or "given"
        for entry in task.get("env") or ():
            values[f"variable {entry.get('name')}"] = str(entry.get("value", ""))
        command = launched.command if launched else task.get("command", ())
        values["command"] = " ".join((str(values.get("command", "")), *command)).strip()
    return values


def _warnings(catalog: Catalog, candidate: Candidate, now: datetime) -> Iterator[str]:
    """Yield what a dry run reports beside the request, without live state."""
    if not candidate.request.job.starts_once:
        yield AT_LEAST_ONCE
    yield ends_before(candidate, catalog.reservations, now)
    if not price(catalog, candidate).complete:
        yield f"the price of {_machines(candidate)} is unknown"
