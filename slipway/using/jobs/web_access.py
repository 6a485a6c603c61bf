"""The pages of a running job's replicas: a shell in each, and the dashboard of its first."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

from slipway.authoring.packages.slipway_notify import HERE
from slipway.base.clock import poll
from slipway.base.errors import ConfigError, ResourceError
from slipway.base.formatting import join, nearest, quoted
from slipway.google.jobs import VertexJob
from slipway.model.labels import SESSION_LABEL
from slipway.using.context import Context
from slipway.using.jobs.roles import REPLICA, of_role, who_of

_LOOK_S, _LONGEST_LOOK_S = 1.0, 10.0


def page_of(context: Context, job: VertexJob, role: str | None, tell: Callable[[str], None]) -> str:
    """Return the link of a shell in the first replica of a role, of the job's first role where it is empty; for None
    that of the dashboard.

    Waits until the service names it, which it does for running jobs. `tell` is told that it waits. Raises ConfigError
    for a role that the job does not have, ResourceError for a job without such a page or that ended.
    """
    noun, why, fix = "dashboard" if role is None else "shell", "", f"slipway jobs logs {job.typed}"
    local = urlsplit(context.connection.endpoints.overrides.get("vertex", "")).hostname in HERE
    if job.kind.id_parameter:
        why = f"each task of a {job.kind.words} is a job of its own, and can ask for no web access"
    elif not (job.asks_dashboard if role is None else job.asks_shell):
        anew = "session start" if SESSION_LABEL in job.labels else f"submit --like {job.typed}"
        why, fix = "its request asked for none", f"slipway {anew} --shell, where the stack allows it"
        if SESSION_LABEL in job.labels:
            fix = f"slipway session run -- COMMAND, which runs there; for a shell {fix}"
        fix = "write enable_dashboard_access=True into its template" if role is None else fix
    elif role is None and local:
        why = "the local cloud has no dashboards"
    elif job.kind.has_trials:
        why, fix = "each of its trials is a job of its own", f"slipway jobs show {job.typed}, which names them"
    if why:
        raise ResourceError(f"job {job.called} has no {noun}", why=why, fix=fix)
    task = "" if role is None else _replica_of(job, role)
    for spent in poll(context.clock.sleep, _LOOK_S, _LONGEST_LOOK_S):
        found = context.vertex.job(job.name)
        if found.ended:
            why = f"it is over ({found.outcome})"
            raise ResourceError(f"job {job.called} has no {noun} any more", why=why, fix=fix)
        shells = (context.vertex.job(found.backing) if found.backing else found).shells
        page = next((name for name in shells if (name == task if task else not REPLICA.fullmatch(name))), "")
        if link := shells.get(page, ""):
            return link if "://" in link else f"https://{link}"
        if not spent:
            tell(f"waiting for the {noun}, which is there while the job runs (Ctrl-C leaves the job as it is)")
    raise AssertionError("polling without an end")


def _replica_of(job: VertexJob, role: str) -> str:
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
