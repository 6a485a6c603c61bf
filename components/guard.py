"""The guard: the last defence of running jobs. It refuses to delete a cluster that has jobs, or when it can't tell.

The state keeps the hook's name with every cluster: a program that does not register it can't delete them. So it is
registered always, first of all, and its name never changes; a new behaviour under a new name keeps this one as well.

What was just accepted is in no list yet: a cluster is deleted when some time has passed since it was offered last, and
all questions are asked again at the end of it.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable

import pulumi

from slipway.generations import WHY_IN_USE
from slipway.live import Unknown, Use
from slipway.words import join, span

NAME = "slipway-guard-v1"
_CLUSTER = "gcp:vertex/aiPersistentResource:AiPersistentResource"

UseOf = Callable[[str | None], Use | Unknown]
"""What is on a cluster by its full name, or with None on all clusters of the stack."""

Left = Callable[[str], float]
"""How many seconds a cluster, by its id, must not have been offered yet before it may be deleted."""

_LOOK_EVERY_S = 10.0


def guard(use_of: UseOf, left: Left) -> pulumi.ResourceHookBinding:
    """Registers the hook and binds it to `before_delete`. For clusters, and for the catalog, which goes before them."""

    async def before_delete(args: pulumi.ResourceHookArgs) -> None:
        await hold(args.id if args.type == _CLUSTER else None, use_of, left, pulumi.log.info)

    return pulumi.ResourceHookBinding(before_delete=[pulumi.ResourceHook(NAME, before_delete)])


async def hold(
    cluster: str | None,
    use_of: UseOf,
    left: Left,
    say: Callable[[str], None],
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> None:
    """Comes back when the deletion may begin. Raises what `check` raises, as soon as it does."""
    await asyncio.to_thread(check, cluster, use_of)
    id_ = cluster.rsplit("/", 1)[-1] if cluster else ""
    wait = left(id_) if cluster else 0.0
    if wait:
        say(
            f"cluster {id_} is deleted in {span(math.ceil(wait))}: a job that was sent while it was still offered may "
            "not be listed yet (SLIPWAY_GRACE sets the time)"
        )
    while wait:
        await sleep(min(wait, _LOOK_EVERY_S))
        await asyncio.to_thread(check, cluster, use_of)
        wait = left(id_)


def check(cluster: str | None, use_of: UseOf) -> None:
    """Raises RuntimeError, whose message the engine shows, when the cluster is in use or when that can't be told."""
    found = use_of(cluster)
    what = f"cluster {cluster.rsplit('/', 1)[-1]}" if cluster else "the stack"
    if isinstance(found, Unknown):
        raise RuntimeError(
            f"{what} is not deleted: can't tell whether jobs run on it\n"
            f"  why: {found.api}: {found.why}\n"
            f"  fix: give the deploying identity {found.role}, then try again"
        )
    if found.jobs:
        jobs, first = found.jobs, found.jobs[0].display_name
        names = ", ".join(job.display_name + ("" if cluster else f" on {job.cluster_id}") for job in jobs)
        raise RuntimeError(
            f"{what} is not deleted: {len(jobs)} {'job has' if len(jobs) == 1 else 'jobs have'} not ended\n"
            f"  why: {names}: deleting the cluster would cancel what runs on it\n"
            f"  fix: slipway jobs wait {first}, or slipway jobs cancel {first}; then again"
        )
    if found.unlisted:
        raise RuntimeError(
            f"{what} is not deleted: {WHY_IN_USE}\n"
            f"  why: by the word of {join(found.unlisted)} itself; deleting it would cancel what runs on it\n"
            "  fix: try again when slipway pools shows no machine in use; slipway jobs shows the job before long"
        )
