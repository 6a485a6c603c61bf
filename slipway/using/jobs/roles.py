"""The writers of a job's log, by the roles that its template names; and the lines of one of them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from slipway.base.errors import ConfigError
from slipway.base.formatting import join, last_part, nearest, quoted
from slipway.google.jobs import VertexJob
from slipway.google.logging import LogEntry
from slipway.model.labels import ROLES_LABEL, roles_of

SERVICE = "service"
"""The writer of the service's own lines."""
TRIAL_LABEL = "ml.googleapis.com/trial_id"
REPLICA = re.compile(r"\bworkerpool(\d+)-(\d+)\b")
"""A replica's name in the service's lines."""


def prefix(entry: LogEntry, job: VertexJob) -> str:
    """Return the writer of a line: `scheduler`, `workers-1`, `3/trial`; of a pipeline the task, or `split/service`; the
    service's own have the log's name."""
    trial = entry.labels.get(TRIAL_LABEL, "")
    who = who_of(entry.task, job, "" if trial else entry.job)
    return f"{trial}/{who}" if trial else who


def of_role(who: str, role: str) -> bool:
    """Tell whether a writer belongs to a role: as its only replica, one of many, or a trial's."""
    alone = last_part(who)
    return role in (who, alone, alone.rpartition("-")[0])


def who_of(task: str, job: VertexJob, run: str = "") -> str:
    """Return `workerpool1-0` as `workers-0`, or as `workers` for a single replica; other names unchanged. By the
    id of a custom job, `run`, also the trial or the task of a pipeline that it is: `3/trial`, `split/service`."""
    if path := next((each.path for each in job.tasks if run and last_part(each.job) == run), ""):
        return path if REPLICA.fullmatch(task) else f"{path}/{task}"
    if trial := next((each.id for each in job.tried if run and last_part(each.job) == run), ""):
        return f"{trial}/{who_of(task, job)}"
    replica, roles = REPLICA.fullmatch(task), _roles(job)
    if not replica or int(replica[1]) >= len(roles):
        return task
    position, pools = int(replica[1]), job.worker_pools
    alone = position < len(pools) and pools[position].replicas == 1
    return roles[position] if alone else f"{roles[position]}-{replica[2]}"


def role_at(job: VertexJob, index: int) -> str:
    roles = _roles(job)
    return roles[index] if index < len(roles) else f"workerpool{index}"


def machines_of(job: VertexJob) -> str:
    """Return `1 × n1-standard-4 (scheduler) and 3 × n1-standard-8 (workers)`."""
    pools = ((index, pool) for index, pool in enumerate(job.worker_pools) if pool.replicas)
    return join(f"{pool.replicas} × {pool.machine} ({role_at(job, index)})" for index, pool in pools)


def role_names(job: VertexJob) -> list[str]:
    tasks = (task.path for task in job.tasks if task.job)
    return [*tasks, *(role_at(job, index) for index, pool in enumerate(job.worker_pools) if pool.replicas), SERVICE]


def replica_names(job: VertexJob) -> list[str]:
    """Return the replicas of roles that have several: `workers-0`, `workers-1`."""
    several = [(index, pool) for index, pool in enumerate(job.worker_pools) if pool.replicas > 1]
    return [f"{role_at(job, index)}-{replica}" for index, pool in several for replica in range(pool.replicas)]


def trial_names(job: VertexJob) -> list[str]:
    """Return the roles of a tuning job's trials that have begun: `1/trial`, `1/service`, `2/trial`."""
    return [f"{trial.id}/{role}" for trial in job.tried for role in role_names(job)]


def role_filter(job: VertexJob, role: str) -> str:
    """Return Cloud Logging's filter for the lines of a role, a replica or the service (`workers`, `workers-1`,
    `service`), in a tuning job also of one trial (`3/trial`). The service's own names, such as `workerpool1-0`, are
    taken as well.

    Raises ConfigError for a name that the job does not have.
    """
    trial, slash, name = role.rpartition("/")
    chosen = list(_filters(job, name))
    # A trial is the job's even before it begins.
    has_trial = job.kind.has_trials and trial.isdecimal() and (not job.max_trials or 1 <= int(trial) <= job.max_trials)
    if not chosen or (slash and not has_trial):
        roles, replicas = role_names(job), replica_names(job)
        near = nearest(role, [*roles, *replicas])
        trials = "; N/ROLE is that of trial N" if job.kind.has_trials else ""
        raise ConfigError(
            f"job {job.called} has no role {quoted(role)}",
            why=f"its lines are of {join(roles)}{trials}",
            fix=f"slipway jobs logs {job.typed} --role {near or roles[0]}",
        )
    tasks = chosen[0] if len(chosen) == 1 else f"({' OR '.join(chosen)})"
    return f'{tasks} AND labels."{TRIAL_LABEL}"="{trial}"' if slash else tasks


def task_filter(task: str) -> str:
    return f'resource.labels.task_name="{task}"'


def _filters(job: VertexJob, name: str) -> Iterator[str]:
    if name == SERVICE or REPLICA.fullmatch(name):
        yield task_filter(name)
        return
    yield from (f'resource.labels.job_id="{last_part(task.job)}"' for task in job.tasks if task.path == name)
    for index, pool in enumerate(job.worker_pools):
        if not pool.replicas:
            continue
        if name in (role_at(job, index), f"workerpool{index}"):
            yield f'resource.labels.task_name:"workerpool{index}-"'
            continue
        tasks = (f"workerpool{index}-{replica}" for replica in range(pool.replicas))
        yield from (task_filter(task) for task in tasks if of_role(who_of(task, job), name))


def _roles(job: VertexJob) -> tuple[str, ...]:
    return roles_of(job.labels.get(ROLES_LABEL, ""))
