"""The pages of a running job's replicas: a shell in each, and the dashboard of its first."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

from slipway.authoring.packages.slipway_notify import HERE
from slipway.base.clock import poll
from slipway.base.errors import ConfigError, ResourceError
from slipway.base.formatting import join, last_part, nearest, quoted
from slipway.google.jobs import VertexJob
from slipway.using.context import Context
from slipway.using.jobs.roles import REPLICA, of_role, who_of

_LOOK_S, _LONGEST_LOOK_S = 1.0, 10.0


def _lacks(job: VertexJob, noun: str, why: str, fix: str) -> ResourceError:
    return ResourceError(f"job {job.called} has no {noun}", why=why, fix=fix)


def shell_of(context: Context, job: VertexJob, role: str, tell: Callable[[str], None]) -> str:
    """Return the link of a shell in the first replica of a role, of the job's first role where it is empty.

    Waits until the service names it, which it does for running jobs. `tell` is told that it waits. Raises ConfigError
    for a role that the job does not have, ResourceError for a job without shells or that ended.
    """
    _check_has_machines(job, "shells")
    if not job.asks_shell:
        fix = f"slipway submit --like {job.typed} --shell, where the stack allows it"
        raise _lacks(job, "shells", "its request asked for none", fix)
    task = replica_of(job, role)
    return _link(context, job, lambda found: found.shells.get(task, ""), "shell", tell)


def dashboard_of(context: Context, job: VertexJob, tell: Callable[[str], None]) -> str:
    """Return the link of the dashboard, waiting as for a shell. Raises ResourceError."""
    _check_has_machines(job, "dashboard")
    if not job.asks_dashboard:
        fix = "write enable_dashboard_access=True into its template"
        raise _lacks(job, "dashboard", "its request asked for none", fix)
    if urlsplit(context.connection.endpoints.overrides.get("vertex", "")).hostname in HERE:
        raise _lacks(job, "dashboard", "the local cloud has no dashboards", f"slipway jobs logs {job.typed}")
    return _link(context, job, dashboard_in, "dashboard", tell)


def _check_has_machines(job: VertexJob, noun: str) -> None:
    if job.kind.id_parameter:
        why = f"each task of a {job.kind.words} is a job of its own, and no {job.kind.words} can ask for web access"
        raise _lacks(job, noun, why, f"slipway jobs logs {job.typed}")


def dashboard_in(job: VertexJob) -> str:
    """Return the first link that is no replica's shell, empty where there is none."""
    return next((link for task, link in job.shells.items() if not REPLICA.fullmatch(task)), "")


def replica_of(job: VertexJob, role: str) -> str:
    """Return the service's name of the first replica of a role (`workers`, `workers-1`). Raises ConfigError."""
    tasks = [f"workerpool{index}-{n}" for index, pool in enumerate(job.worker_pools) for n in range(pool.replicas)]
    names = {task: who_of(task, job) for task in tasks}
    for task, who in names.items():
        if not role or role == task or of_role(who, role):
            return task
    near = nearest(role, names.values()) or next(iter(names.values()), "")
    raise ConfigError(
        f"job {job.called} has no role {quoted(role)}",
        why=f"its replicas are {join(names.values())}",
        fix=f"slipway jobs open {job.typed} --shell {near}",
    )


def _link(
    context: Context, job: VertexJob, of: Callable[[VertexJob], str], noun: str, tell: Callable[[str], None]
) -> str:
    if job.kind.has_trials:
        trials = [last_part(trial.job) for trial in job.tried if trial.job]
        fix = f"slipway jobs open {trials[0]} --{noun}" if trials else "try again once a trial runs"
        raise _lacks(job, noun, "each of its trials is a job of its own", fix)
    for spent in poll(context.clock.sleep, _LOOK_S, _LONGEST_LOOK_S):
        found = context.vertex.job(job.name)
        if found.ended:
            machines = "its machines are gone" if found.start_time else "it never ran"
            why = f"it is over ({found.state.rpartition('_')[2].lower()}), and {machines}"
            raise _lacks(job, f"{noun} any more", why, f"slipway jobs logs {job.typed}")
        if link := of(context.vertex.job(found.backing) if found.backing else found):
            return link if "://" in link else f"https://{link}"
        if not spent:
            tell(f"waiting for the {noun}, which is there while the job runs (Ctrl-C leaves the job as it is)")
    raise AssertionError("polling without an end")
