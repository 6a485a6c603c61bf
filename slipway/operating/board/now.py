"""A stack at one moment: its pools with their users, the queue with reasons, due dates, quota, findings. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from slipway.google.clusters import PersistentResource
from slipway.google.jobs import VertexJob
from slipway.google.quota.metrics import label, namespace
from slipway.google.quota.report import QuotaRow
from slipway.model.labels import shown_name
from slipway.model.prices import exact_text
from slipway.operating.pool_rows import PoolRow
from slipway.using.jobs.demand import Demand
from slipway.using.jobs.waiting import wait_reason


@dataclass(frozen=True)
class Share:
    """Machines of a pool in one state."""

    #: `busy`, `free`, or `room`: possible as jobs need them.
    what: str
    machines: int
    #: Of the jobs that they are busy with.
    user: str = ""
    jobs: tuple[str, ...] = ()


@dataclass(frozen=True)
class PoolNow:
    """The keys of `slipway pools`, and the pool's machines by their holders."""

    name: str
    state: str
    machine: str
    region: str
    busy: int
    live: int
    max: int
    shares: tuple[Share, ...]
    idle_since: datetime | None
    price_per_hour_now: str | None
    teams: tuple[str, ...] = ()


@dataclass(frozen=True)
class Waiting:
    """A job without machines, and the reason."""

    id: str
    display_name: str
    user: str
    template: str
    on: str
    machines: int
    create_time: datetime | None
    why: str


@dataclass(frozen=True)
class Gauge:
    """A quota that the stack draws."""

    label: str
    region: str
    #: The stack's own use.
    now: int
    #: The stack's use at its pools' maximum.
    ceiling: int
    #: The use by others, and by the stack's retiring clusters; None where it is not known.
    others: int | None
    limit: int | None
    verdict: str


@dataclass(frozen=True)
class Now:
    """The present state."""

    pools: tuple[PoolNow, ...]
    waiting: tuple[Waiting, ...]
    #: As in `slipway schedule`, with its effect (`does`) on people; None where it is not known.
    due: tuple[Mapping[str, Any], ...] | None
    gauges: tuple[Gauge, ...]
    #: As in `slipway doctor`, of jobs alone.
    findings: tuple[Mapping[str, Any], ...]
    #: The parts that could not be read, and why.
    unseen: tuple[str, ...] = ()


def pools_now(rows: Iterable[PoolRow]) -> Iterator[PoolNow]:
    """Yield each pool. Busy machines without a listed job have no holder."""
    for row in rows:
        shares = [
            Share(what="busy", machines=holder.machines, user=holder.name, jobs=holder.jobs) for holder in row.holders
        ]
        known = sum(share.machines for share in shares)
        busy = max(row.pool.used, known)
        shares += [
            Share("busy", busy - known),
            Share("free", max(0, row.pool.replicas - busy)),
            Share("room", max(0, row.max - row.pool.replicas)),
        ]
        yield PoolNow(
            name=f"{row.name}/{row.pool.id}",
            state=row.state,
            machine=str(row.pool.machine),
            region=row.region,
            busy=row.pool.used,
            live=row.pool.replicas,
            max=row.max,
            shares=tuple(share for share in shares if share.machines),
            idle_since=row.idle_since,
            price_per_hour_now=exact_text(row.price(row.pool.replicas)),
            teams=row.teams,
        )


def queue(
    jobs: tuple[VertexJob, ...], clusters: Iterable[PersistentResource], names: Mapping[str, str], now: datetime
) -> Iterator[Waiting]:
    """Yield the waiting jobs, the oldest first. `names`: the display name of each cluster, by its id."""
    by_id = {job.id: job for job in clusters}
    for job in sorted((job for job in jobs if job.waits), key=lambda job: (job.create_time or now, job.id)):
        id_ = job.persistent_resource_id
        name = names.get(id_, id_)
        yield Waiting(
            id=job.id,
            display_name=shown_name(job.called, job.labels),
            user=job.user,
            template=job.template,
            on=name or job.capacity_type,
            machines=Demand.of(job).machines,
            create_time=job.create_time,
            why=wait_reason(job, by_id.get(id_), name, jobs, now),
        )


def gauges(lines: Iterable[QuotaRow]) -> Iterator[Gauge]:
    """Yield the quota that pools draw; the possible draw of offers beside them is a verdict, and no use."""
    for line in lines:
        if line.now is not None:
            yield Gauge(
                label=f"{label(line.metric)}, {namespace(line.metric)}",
                region=line.region,
                now=line.now,
                ceiling=line.ceiling,
                others=None if line.others is None else line.others + (line.retiring or 0),
                limit=line.limit,
                verdict=line.verdict,
            )
