"""Which quota a job that waits beside the pools lacks, and who has it, from what the services tell. Pure.

They tell no order: who waits as well is counted, and may start first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from slipway.cloud.clusters import PersistentResource
from slipway.cloud.jobs import VertexJob
from slipway.formatting import few, join
from slipway.jobs.verdict import holder, waiting
from slipway.live import UNLIMITED
from slipway.quota.metrics import Need, drawn_by, label, namespace
from slipway.quota.usage import usage

_NAMED = 3


def draws(job: VertexJob) -> tuple[Need, ...]:
    return drawn_by(job.capacity_type, job.machines)


def quota_reason(
    job: VertexJob,
    limits: Mapping[str, int],
    clusters: Iterable[PersistentResource],
    jobs: Iterable[VertexJob],
    now: datetime,
) -> str:
    """`preemptible quota full: 16 of 24 vCPUs in use with tune (ada, 14 min), this needs 24`.

    `limits` by metric, -1 for none, without those that were not read; `jobs` are those of the region that have not
    ended. Empty where nothing was read.
    """
    others, needs = [one for one in jobs if one.id != job.id], draws(job)
    there, full = tuple(clusters), []
    for need in needs:
        limit = limits.get(need.metric, UNLIMITED)
        users = _users(need.metric, there, others, now)
        used = sum(amount for amount, _ in users)
        if limit != UNLIMITED and used + need.amount > limit:
            who = few((name for _, name in users), _NAMED)
            amounts = f"{used:,} of {limit:,} {label(need.metric)} in use{f' with {who}' if who else ''}"
            full.append(f"{namespace(need.metric)} quota full: {amounts}, this needs {need.amount:,}")
    if full:
        metrics = {need.metric for need in needs}
        queued = (one for one in others if not one.persistent_resource_id and one.state == "JOB_STATE_QUEUED")
        return "; ".join(full) + waiting(sum(any(need.metric in metrics for need in draws(one)) for one in queued))
    if not any(need.metric in limits for need in needs):
        return ""
    unread = [label(need.metric) for need in needs if need.metric not in limits]
    quota = f"quota of {join(unread)} was not read" if unread else "quota suffices now"
    return f"queued by the service: {quota}, machines are not promised"


def _users(
    metric: str, clusters: tuple[PersistentResource, ...], jobs: list[VertexJob], now: datetime
) -> list[tuple[int, str]]:
    """(amount, words) of all that draw the metric now, the largest first."""
    found = [(usage((one,), ()).total(metric), f"cluster {one.id}") for one in clusters]
    found += [(usage((), (one,)).total(metric), holder(one, now)) for one in jobs]
    return sorted((one for one in found if one[0]), key=lambda one: -one[0])
