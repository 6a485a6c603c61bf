"""A reboot of a cluster: refused while a job runs or waits there, watched to its end. What the service does with jobs
on a cluster that is rebooted it does not say."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import inf

from slipway.clock import poll
from slipway.cloud.clusters import PersistentResource
from slipway.cloud.failures import CloudError
from slipway.cloud.jobs import VertexJob
from slipway.cloud.vertex import Vertex
from slipway.errors import ResourceError, Timeout
from slipway.formatting import join, span
from slipway.unfinished_jobs import UNLISTED, ways_out

_CAN = frozenset({"RUNNING", "ERROR"})
_BUSY = frozenset({"REBOOTING"})
_FIRST_S, _LONGEST_S, _SAID_EVERY_S = 1.0, 10.0, 60.0


def refuse(name: str, cluster: PersistentResource, jobs: Iterable[VertexJob]) -> None:
    """Raises ResourceError where a reboot could cost somebody a job, or the service would refuse it. One that is going
    on costs no more."""
    if going_on(cluster):
        return
    on = [job for job in jobs if job.persistent_resource_id == cluster.id and not job.ended]
    fix = "wait until slipway pools shows it running and no machine in use"
    if on:
        why, fix = (
            f"on {cluster.id}: {join(f'{job.typed} ({_state(job)})' for job in on)}",
            ways_out(on, "then reboot it"),
        )
    elif cluster.in_use:
        why = f"{cluster.id}: {UNLISTED}"
    elif cluster.state not in _CAN:
        why = f"{cluster.id} is {cluster.state}, and only one in RUNNING or ERROR can be"
    else:
        return
    raise ResourceError(f"cluster {name} is not rebooted now", why=why, fix=fix)


def going_on(cluster: PersistentResource) -> bool:
    """Tell whether a reboot that was asked for before is not over: it is waited for, and none asked for beside it."""
    return cluster.state in _BUSY


@dataclass(frozen=True)
class Watching:
    """`say` tells progress; `now` and `pause` are a clock in seconds. `timeout`: seconds, None without one."""

    say: Callable[[str], None]
    now: Callable[[], float]
    pause: Callable[[float], object]
    timeout: float | None = None


def reboot(vertex: Vertex, name: str, cluster: PersistentResource, stack: str, watching: Watching) -> float:
    """After how many seconds it runs again. Raises ResourceError where it ends otherwise, Timeout, CloudError."""
    began = watching.now()
    before, operation = going_on(cluster), None
    try:
        if not before:
            operation = vertex.reboot_persistent_resource(cluster.id)
    except CloudError as error:
        # Without an answer it may have begun: its state tells.
        if error.not_accepted or vertex.persistent_resource(cluster.id).state not in _BUSY:
            raise
    watching.say(f"{name} ({cluster.id}) is rebooting already" if before else f"rebooting {name} ({cluster.id})")
    told = began
    timeout = inf if watching.timeout is None else watching.timeout
    for spent in poll(watching.pause, _FIRST_S, _LONGEST_S, within=timeout, now=watching.now):
        found = vertex.persistent_resource(cluster.id)
        if operation is not None and not operation.done:
            operation = vertex.operation(operation.name)
        if found.state not in _BUSY and (operation is None or operation.done):
            break
        if watching.now() - told >= _SAID_EVERY_S:
            told = watching.now()
            watching.say(f"{name} is still rebooting after {span(spent)}")
    else:
        raise Timeout(
            f"cluster {name} is still rebooting after {span(timeout)}",
            why="it goes on without this command",
            fix="the same command waits for it; slipway pools shows its state",
        )
    if found.state == "ERROR":
        raise ResourceError(
            f"cluster {name} ended in ERROR after its reboot",
            why=found.error or (operation.error if operation else "") or "the service gives no reason",
            fix=f"pulumi up --stack {stack}, which makes another in its place; or reboot it once more",
        )
    return watching.now() - began


def _state(job: VertexJob) -> str:
    return job.state.split("_STATE_")[-1].lower()
