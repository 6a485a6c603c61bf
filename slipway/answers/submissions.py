"""Which submissions are accepted, where they run and at which cost: by the code of `slipway submit --dry-run`. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from slipway.answers.answer import Answer, State, Value
from slipway.answers.comparison import Comparison, Side
from slipway.answers.probes import Probe, Submitter, probes
from slipway.base.errors import ConfigError, PolicyError
from slipway.base.formatting import exact_span, join, last_part, percent, usd
from slipway.google.advice import SpotNeed
from slipway.google.clusters import PersistentResource, ResourcePool
from slipway.google.jobs import AT_LEAST_ONCE, VertexJob
from slipway.model.budget import Budget
from slipway.model.capacity import PAID_ANYWAY, POOL, SPOT
from slipway.model.catalog.clusters import Cluster
from slipway.model.catalog.model import Catalog, SessionLimits
from slipway.model.catalog.template import Offer, Template
from slipway.model.catalog.withdrawal import in_season
from slipway.model.findings.finding import Subject
from slipway.model.labels import IDLE, TEAM, Launched
from slipway.model.own_settings import OF_SECRET
from slipway.model.prices import Price
from slipway.using.jobs.verdict import on_cluster
from slipway.using.submission.agent_check import AgentSpending
from slipway.using.submission.candidate import Candidate, price
from slipway.using.submission.costs import longest_run, spending
from slipway.using.submission.offline import ends_before, named_reservations, offline
from slipway.using.submission.order import pools_of
from slipway.using.submission.prepared import PreparedSubmission, prepare
from slipway.using.submission.submission_request import SubmissionRequest

CAUSE = "cause"
REQUEST = "request"
OFFER = "offer"
"""Causes of a rejection: the submission itself is wrong, or no offer can run it."""
COMES = "comes"
"""The clusters and reservations by name, a comma between, that will accept a rejected submission from a later date."""
GPU_MEMORY = "GPU memory"
ACCOUNT = "service account"
REGION = "region"
KIND = "job kind"
RETRIES = "retries after failures"
CPU_IMAGE = "image for CPUs"
IMAGE = "image"
EXPERIMENT = "experiment"
SHELL = "interactive shell"
IDLE_LIMIT = "job ends if GPU use is"
RESTART = "restart of the worker"
RESERVED = "machines of the reservation"
WAITS = "waits for capacity types"
ORDER = "order of capacity types"
THEN = " then "
_RULE = re.compile(r"^worker pool 0: | \[[\w-]+\]$")
"""The place and the name of a rule of Vertex AI."""
READER = "account that reads secret"
MACHINES = "machines"
TIME_LIMIT = "time limit"
PRICE = "price beyond pools"
RUN_COST = "cost until the time limit"
LAUNCHER = "launcher"
CHECKPOINTS = "checkpoints"
NOT_PASSED = "not passed on"
COUNTS_FOR = "counts for team"
"""The team that a template's own label names."""


def answers(comparison: Comparison, side: Side) -> Iterator[Answer]:
    """Yield the answer to each probe on one side."""
    for probe in probes(comparison):
        if side is Side.AFTER:
            answer = _answer(comparison.new, probe, probe.asked.template, comparison.world.now)
            yield _with_budget(comparison.new, answer)
            continue
        # The deployed catalog already has the new names.
        name = comparison.renamed.get(probe.asked.template, probe.asked.template)
        answer = _answer(comparison.old, probe, name, comparison.world.now)
        # A changed limit is a difference of its own.
        yield _with_budget(comparison.new, answer)


def _with_budget(catalog: Catalog, answer: Answer) -> Answer:
    """Return an answer with the enforced budget of the team that it counts for."""
    team = str(answer.values.get(COUNTS_FOR) or "")
    budget = catalog.budget or Budget()
    limit = budget.teams.get(team)
    if limit is None or not budget.enforce:
        return answer
    text = f"{team}, whose budget of {usd(limit)} a month is enforced"
    return replace(answer, values={**answer.values, COUNTS_FOR: text})


def accepted(comparison: Comparison, name: str) -> tuple[Probe, ...]:
    """Return the probes that a declared template accepts."""
    now = comparison.world.now
    of_template = [probe for probe in probes(comparison) if probe.asked.template == name]
    return tuple(probe for probe in of_template if _answer(comparison.new, probe, name, now).state is State.YES)


def rejection_on(catalog: Catalog, probe: Probe, name: str, day: datetime) -> str:
    """Return why a submission to a template is rejected on a coming day; empty if it is accepted.

    A cluster whose season has begun by then is taken to exist, and one whose season has ended is not.
    """
    dated = in_season(catalog, day)
    try:
        candidates = prepare(dated, replace(probe.asked, template=name), "").candidates
        obstacles = [_obstacle_on(dated, candidate, day) for candidate in candidates]
    except (ConfigError, PolicyError) as error:
        return error.what
    if "" in obstacles:
        return ""
    return "; ".join(dict.fromkeys(obstacles))


def _obstacle_on(catalog: Catalog, candidate: Candidate, day: datetime) -> str:
    coming = catalog.dormant.get(candidate.offer.dormant)
    if coming is not None and coming.comes and coming.season.includes(day):
        return candidate.barred
    return _obstacle(catalog, candidate, day)


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
        prepared = prepare(catalog, replace(probe.asked, template=name), "")
        obstacles = _obstacles(prepared, probe, now)
        possible = [candidate for candidate in prepared.candidates if candidate not in obstacles]
        if not possible:
            text = "; ".join(dict.fromkeys(obstacles.values()))
            coming = sorted({_comes(catalog, candidate, now) for candidate in obstacles} - {""})
            return replace(answer, state=State.NO, text=text, values={CAUSE: OFFER, COMES: ", ".join(coming)})
        values = {
            **_values(prepared, possible),
            **_team(prepared, possible[0]),
            **_hardware(possible[0]),
            **_costs(prepared, probe, possible),
            **_waits(possible),
        }
    except ConfigError as error:
        why = error.why.partition("\n")[0]
        # Of wrong parameters, the mistake itself says enough.
        text = f"{error.what}: {why}".rpartition(" wrong: ")[2]
        return replace(answer, state=State.NO, text=text, values={CAUSE: REQUEST})
    except PolicyError as error:
        return replace(answer, state=State.NO, text=error.what, values={CAUSE: OFFER})
    return replace(answer, text="\n".join(_warnings(catalog, possible[0], now)), values=values)


def _obstacles(prepared: PreparedSubmission, probe: Probe, now: datetime) -> Mapping[Candidate, str]:
    """Return why candidates can't run; without those that can."""
    obstacles: dict[Candidate, str] = {}
    for candidate in prepared.candidates:
        obstacle = _obstacle(prepared.catalog, candidate, now)
        if probe.submitter is Submitter.SESSION:
            obstacle = obstacle or _session_obstacle(prepared.catalog, candidate)
        if obstacle:
            obstacles[candidate] = obstacle
    return obstacles


def _comes(catalog: Catalog, candidate: Candidate, now: datetime) -> str:
    """Return the names of the cluster or the reservations that will accept a candidate from a later date."""
    judgement = offline(candidate, reserved=catalog.reservations, now=now)
    if judgement is None or not judgement.verdict.comes:
        return ""
    return candidate.offer.dormant or ", ".join(map(last_part, sorted(candidate.request.job.reservations)))


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
        reasons.sort(key=lambda reason: "maximum" not in reason)
        if "" in reasons:
            return "no pool has as many machines as its defaults need"
        return next(iter(reasons), "no cluster fits it")
    too_small = _too_small_reservation(catalog, candidate)
    if too_small:
        return too_small
    judgement = offline(candidate, reserved=catalog.reservations, now=now)
    if judgement:
        return "; ".join(_RULE.sub("", reason) for reason in judgement.reasons)
    if offer.cluster:
        return _cluster_obstacle(catalog.clusters[offer.cluster], candidate, now)
    return ""


def _too_small_reservation(catalog: Catalog, candidate: Candidate) -> str:
    """Return that the named reservations have too few machines; empty if not, or if their size is unknown."""
    reserved = sum(each.machines for each in named_reservations(candidate, catalog.reservations))
    needed = sum(part.machines for part in candidate.demand.parts)
    if 0 < reserved < needed:
        return f"needs {needed} machines, the reservation has {reserved}"
    return ""


def _session_obstacle(catalog: Catalog, candidate: Candidate) -> str:
    limits = catalog.sessions or SessionLimits()
    if limits.pools is None or set(limits.pools) & set(pools_of(candidate.offer)):
        return ""
    return f"sessions can run on {join(limits.pools, 'or')} only"


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


def _team(prepared: PreparedSubmission, first: Candidate) -> dict[str, Value]:
    if TEAM not in first.offer.labels:
        return {}
    return {COUNTS_FOR: prepared.team}


def _hardware(candidate: Candidate) -> dict[str, Value]:
    """Return the smallest memory of a GPU in GB, and whether an image is for CPUs; nothing without GPUs."""
    memory = [part.machine.gpu_memory_gb for part in candidate.demand.parts if part.machine.gpu_memory_gb]
    if not memory:
        return {}
    images = [last_part(pool.image) for pool in candidate.request.job.worker_pools]
    return {GPU_MEMORY: min(memory), CPU_IMAGE: any("-cpu." in image for image in images)}


def _values(prepared: PreparedSubmission, possible: Sequence[Candidate]) -> dict[str, Value]:
    """Return where the submission can run, and what the first candidate's job has."""
    first = possible[0]
    template = prepared.template
    job = first.request.job
    spec = first.kind.spec_of(first.body)
    scheduling = spec.get("scheduling", {})
    values: dict[str, Value] = {}
    values[KIND] = prepared.kind.words
    values["trials"] = job.max_trials
    values["trials at once"] = job.trials
    values[ACCOUNT] = job.service_account
    given = _given_to_code(first.offer)
    for name in filter(_is_secret, given):
        secret = str(given[name]).partition("/secrets/")[2].partition("/")[0]
        values[f"{READER} {secret}"] = job.service_account
    values[LAUNCHER] = _is_launched(job)
    values[IMAGE] = ", ".join(dict.fromkeys(pool.image for pool in job.worker_pools))
    values |= _not_passed(possible)
    values[ORDER] = THEN.join(dict.fromkeys(candidate.label for candidate in possible))
    values[MACHINES] = _machines(first)
    values["place"] = ", ".join(pools_of(first.offer))
    values[REGION] = first.region
    values["disk"] = ", ".join(dict.fromkeys(str(part.machine.disk) for part in first.demand.parts))
    values["reservation"] = ", ".join(sorted(job.reservations))
    reserved = named_reservations(first, prepared.catalog.reservations)
    values[RESERVED] = sum(each.machines for each in reserved) or None
    values[CHECKPOINTS] = template.checkpoints
    values["yields to urgent jobs"] = _can_yield(template, possible)
    values[RETRIES] = not scheduling.get("disableRetries", False)
    restarts = bool(scheduling.get("restartJobOnWorkerRestart"))
    is_single = sum(pool.replicas for pool in job.worker_pools) == 1
    values[RESTART] = restarts and is_single
    values["restarts of workers"] = restarts and not is_single
    values[SHELL] = bool(spec.get("enableWebAccess"))
    values["network"] = spec.get("network")
    values[EXPERIMENT] = last_part(job.experiment)
    values["TensorBoard"] = last_part(job.tensorboard)
    return values | _declared(template) | given


def _waits(possible: Sequence[Candidate]) -> dict[str, Value]:
    """Return how long a submission waits for each capacity type before it takes the next one."""
    waits = {candidate.label: candidate.wait for candidate in possible if candidate.wait is not None}
    return {WAITS: THEN.join(f"{label} {exact_span(wait)}" for label, wait in waits.items())}


def _is_secret(name: str) -> bool:
    return name.endswith(OF_SECRET)


def _is_launched(job: VertexJob) -> bool:
    return all(pool.launched for pool in job.worker_pools if pool.replicas)


def _can_yield(template: Template, possible: Iterable[Candidate]) -> bool:
    """Return whether its jobs can yield: urgent ones need the machines of a pool."""
    if not template.yields:
        return False
    return any(candidate.offer.capacity_type == POOL for candidate in possible)


def _declared(template: Template) -> dict[str, Value]:
    """Return the study and the defaults of a template."""
    values: dict[str, Value] = {}
    if template.study:
        values["algorithm of the study"] = template.study.algorithm
        values["metrics of the study"] = ", ".join(map(" ".join, template.study.metrics))
        values["parameters of the study"] = ", ".join(template.study.parameters)
    for parameter in template.parameters:
        values[f"default of {parameter.name}"] = str(parameter.default)
    return values


def _costs(prepared: PreparedSubmission, probe: Probe, possible: Sequence[Candidate]) -> dict[str, Value]:
    """Return the known price of dedicated machines in USD an hour. Raises PolicyError beyond an agent's allowance."""
    catalog = prepared.catalog
    first = possible[0]
    longest = longest_run(first)
    values: dict[str, Value] = {TIME_LIMIT: longest}
    hourly = price(catalog, first)
    usd = float(hourly.known)
    if first.offer.capacity_type in PAID_ANYWAY:
        usd = 0.0
    elif not hourly.complete:
        return values
    values[PRICE] = round(usd, 4)
    values[RUN_COST] = round(usd * longest / 3600, 2)
    costs = spending(prepared, [first])
    if costs and probe.submitter is Submitter.AGENT:
        problem = AgentSpending("an agent", catalog.stack, catalog.agents, Price()).problem(costs)
        if problem:
            raise PolicyError(problem.why, fix=problem.fix)
    return values


def _not_passed(possible: Sequence[Candidate]) -> dict[str, Value]:
    """Return the arguments and variables that the first candidate's job has and a later one's lacks, by machines."""
    given = _given_to_code(possible[0].offer).keys()
    values: dict[str, Value] = {}
    for candidate in possible[1:]:
        missing = sorted(given - _given_to_code(candidate.offer).keys())
        if missing:
            flags = [name.partition(" ")[2] for name in missing]
            values[f"{NOT_PASSED} {_machines(candidate)}"] = join(f"`{flag}`" for flag in flags)
    return values


def _given_to_code(offer: Offer) -> dict[str, Value]:
    """Return arguments and variables as the template writes them, with its placeholders."""
    values: dict[str, Value] = {}
    for pool in offer.worker_pools:
        task = {**pool.get("containerSpec", {}), **pool.get("pythonPackageSpec", {})}
        # The launcher's own arguments come before `--`.
        arguments = " ".join((*map(str, task.get("args", ())), "")).rpartition("-- ")[2]
        for word in arguments.split():
            flag = word.partition("=")[0]
            values[f"argument {flag}"] = word
        for entry in task.get("env", ()):
            value = str(entry.get("value"))
            if entry.get("name") == IDLE:
                below, _, seconds = value.partition(" ")
                values[IDLE_LIMIT] = f"below {percent(float(below))} for {exact_span(float(seconds))}"
            else:
                values[f"variable {entry.get('name')}"] = value
        launched = Launched.of(task)
        command = launched.command if launched else task.get("command", ())
        values["command"] = " ".join(map(str, command))
    return values


def _warnings(catalog: Catalog, candidate: Candidate, now: datetime) -> Iterator[str]:
    """Yield what a dry run reports beside the request, without live state."""
    if not candidate.request.job.starts_once:
        yield AT_LEAST_ONCE
    yield ends_before(candidate, catalog.reservations, now)
