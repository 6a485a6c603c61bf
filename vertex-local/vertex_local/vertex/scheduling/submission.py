"""The submission of a custom job: checks beyond those of its body, and its first record."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...quotas import limits
from ...storage.records import BUCKETS
from ...supply import records as scenarios
from ...wire import failed_precondition, resource_exhausted
from ...world import World
from .. import accounts
from ..clusters.records import CLUSTERS, Cluster
from ..clusters.work import apply_due
from ..field_errors import Mistake, refuse
from ..jobs import custom_jobs, rules, strategies, table, waiting
from ..jobs.records import DEFAULT_TIMEOUT_S, Job, Run, demands_of
from ..metadata import experiment_runs
from ..models import records as models
from ..names import cluster_name, job_name
from ..tensorboard import log_uploads
from . import placement, queues, quota_usage
from . import reservations as reserving

_FIRST_ID = 7_000_000_000_000_000_000


def create(world: World, principal: str, location: str, body: Mapping[str, Any]) -> Job:
    """Return a new job from a create's canonical body. Raises 400, 403, 404, 429, 501."""
    declared = checked(body, location)
    apply_due(world)
    with world.store.transaction():
        job = submit(world, location, declared, admit(world, principal, location, declared))
    world.changed.set()
    return job


def checked(body: Mapping[str, Any], location: str, root: str = "job_spec") -> dict[str, Any]:
    """Return a create's canonical body with its defaults. Raises 400, and 501 for a job that this cloud can't run yet.
    `root` is the path of the job spec in the request, for the fields that errors name."""
    _refuse(rules.mistakes(body, location), root)
    declared = rules.defaulted(body)
    missing = rules.not_here(declared)
    if missing:
        raise missing
    return declared


def admit(
    world: World, principal: str | None, location: str, declared: Mapping[str, Any], root: str = "job_spec"
) -> str:
    """Return the service account that a job with its defaults will run as. Raises 400, 403, 404, 429. `principal` is
    the caller, or None for the cloud itself, which acts on an earlier call."""
    spec = declared["jobSpec"]
    _refuse([*rules.reported_mistakes(spec, world.settings)], root)
    _check_output(world, location, spec)
    cluster_id = spec.get("persistentResourceId")
    if cluster_id:
        email = _admit_to_pool(world, location, cluster_id, declared, root)
    else:
        _admit_on_own_machines(world, location, spec, root)
        email = spec.get("serviceAccount") or world.project.custom_code_agent
    if spec.get("serviceAccount"):
        accounts.check(world, principal, spec["serviceAccount"])
    experiment_runs.check(world, spec)
    log_uploads.check(world, location, spec)
    models.check(world, location, spec.get("models", ()))
    return email


def submit(
    world: World,
    location: str,
    declared: Mapping[str, Any],
    email: str,
    *,
    trial: str | None = None,
    tuning: str | None = None,
) -> Job:
    """Write a new job, and start it when none waits before it. Within a transaction. `trial` and `tuning` are the ids
    of the trial that the job runs and of its tuning job, where it belongs to one."""
    store, spec, now = world.store, declared["jobSpec"], world.now()
    number = store.next_id("customJob")
    name = job_name(world.project, location, str(_FIRST_ID + number))
    cluster_id = spec.get("persistentResourceId")
    scheduling, strategy = spec.get("scheduling", {}), strategies.strategy_of(spec)
    run = Run(
        number=number,
        name=name,
        state="JOB_STATE_QUEUED",
        cluster=cluster_id,
        spot=strategy == "spot",
        flex=strategy == "flex-start",
        demands=demands_of(spec),
        timeout_s=rules.timeout_s(spec, DEFAULT_TIMEOUT_S),
        max_wait_s=strategies.max_wait_s(spec),
        may_retry=not scheduling.get("disableRetries", False),
        restart_whole=bool(scheduling.get("restartJobOnWorkerRestart", False)),
        email=email,
        trial=trial,
        tuning=tuning,
    )
    spec = experiment_runs.joined(world, spec, name, declared["displayName"])
    log_uploads.expect(world, spec, name, declared["displayName"])
    body = {**declared, "jobSpec": spec, "name": name, "state": run.state, "createTime": now, "updateTime": now}
    table.keep(world, run, waiting.waiting(Job(body, run), run, world.clock.now()))
    # A job behind others in the flex-start queue is told so; other jobs behind others cost nothing here.
    if run.flex or table.first_of_line(store, run):
        queues.serve(world, location, cluster_id, world.clock.now())
    made = table.get(store, name)
    assert made is not None
    return made


def cancel(world: World, name: str, message: str) -> None:
    """End a job, which may be over or gone already. Within a transaction."""
    job = table.get(world.store, name)
    if job is not None:
        custom_jobs.end(world, job, message)


def _admit_to_pool(world: World, location: str, cluster_id: str, body: Mapping[str, Any], root: str) -> str:
    """Check a job against the cluster it names and return the service account it will run as. Raises 400, 404, 429."""
    spec = body["jobSpec"]
    name = cluster_name(world.project, location, cluster_id)
    cluster = CLUSTERS.find(world.store, name, "The PersistentResource does not exist.")
    if not cluster.takes_jobs:
        raise failed_precondition(
            f"The PersistentResource {cluster.name} is in state {cluster.state} and does not take jobs."
        )
    _refuse(_disagreements(body, cluster, world.settings.job_service_account == "reject"), root)
    demands = demands_of(spec)
    _refuse(placement.mistakes(demands, cluster), root)
    if world.settings.full_pool == "reject":
        used = table.pool_use(world.store, location, cluster_id)
        if placement.place(demands, cluster.pools, used) is None:
            raise resource_exhausted(f"The PersistentResource {cluster.name} has too few free replicas.")
    return (
        spec.get("serviceAccount")
        or cluster.service_account_spec.get("serviceAccount")
        or world.project.custom_code_agent
    )


def _check_output(world: World, location: str, spec: Mapping[str, Any]) -> None:
    """Check that the bucket of the job's output is there, in the job's region and no multi-region. Raises 400.

    That it must be in the region is known from reports of 2021 to 2023, in these words; those of one that is not there
    are ours.
    """
    uri = spec.get("baseOutputDirectory", {}).get("outputUriPrefix", "")
    if not uri:
        return
    bucket = BUCKETS.get(world.store, uri.removeprefix("gs://").partition("/")[0])
    if bucket is None:
        if world.settings.output_missing == "reject":
            raise failed_precondition(f"The Cloud Storage bucket of `{uri}` does not exist.")
    elif (at := bucket["location"].lower()) != location and world.settings.output_elsewhere == "reject":
        raise failed_precondition(
            f"The Cloud Storage bucket of `{uri}` is in location `{at}`. It must be in the same regional location as "
            f"the service location `{location}`."
        )


def _admit_on_own_machines(world: World, location: str, spec: Mapping[str, Any], root: str) -> None:
    """Refuse a job that no amount of waiting would let run: reservations that don't fit, more than the limit itself.
    Raises 400, 429."""
    reservations = scenarios.current(world).reservations(world.clock.now())
    _refuse(reserving.mistakes(spec, location, reservations, world.settings), root)
    needs = quota_usage.draw(demands_of(spec), strategies.strategy_of(spec), world.settings)
    over = limits.beyond(world, location, needs, {})
    if over:
        raise limits.refusal(over)


def _disagreements(body: Mapping[str, Any], cluster: Cluster, strict: bool) -> list[Mistake]:
    """Return the errors where a job contradicts its cluster: service account, network, encryption (vertex-rules 2)."""
    spec, mistakes = body["jobSpec"], []
    account = spec.get("serviceAccount")
    default = cluster.service_account_spec.get("serviceAccount")
    if cluster.custom_service_account and not account and not default:
        text = f"A service account is required: persistent resource {cluster.id} has custom service accounts enabled."
        mistakes.append(Mistake("job_spec.service_account", text))
    if not cluster.custom_service_account and account and strict:
        text = f"Persistent resource {cluster.id} does not have custom service accounts enabled."
        mistakes.append(Mistake("job_spec.service_account", text))
    if spec.get("network", "") != cluster.body.get("network", "") and "network" in spec:
        text = f'Network must be that of persistent resource {cluster.id}: "{cluster.body.get("network", "")}".'
        mistakes.append(Mistake("job_spec.network", text))
    key = cluster.body.get("encryptionSpec", {}).get("kmsKeyName", "")
    if "encryptionSpec" in body and body["encryptionSpec"].get("kmsKeyName", "") != key:
        text = f'The key must be that of persistent resource {cluster.id}: "{key}".'
        mistakes.append(Mistake("encryption_spec.kms_key_name", text))
    return mistakes


def _refuse(mistakes: Sequence[Mistake], root: str) -> None:
    refuse([replace(item, field=re.sub(r"^job_spec", root, item.field)) for item in mistakes])
