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
from slipway.model.prices import exact_text
from slipway.operating.pool_rows import PoolRow
from slipway.using.jobs.demand import Demand
from slipway.using.jobs.waiting import wait_reason, waits


@dataclass(frozen=True)
class Share:
    """Machines of a pool: busy with jobs of `user`, free, or possible as jobs need them (`room`)."""

    what: str
    machines: int
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
    """A quota that the stack draws: `now` its own use, `ceiling` its maximum, `others` the use by others."""

    label: str
    region: str
    now: int
    ceiling: int
    others: int | None
    limit: int | None
    verdict: str


@dataclass(frozen=True)
class Now:
    """The present state. `due` as in `slipway schedule`, with its effect (`does`) on people, None where it is not
    known; `findings` as in `slipway doctor`, of jobs alone. `unseen`: the parts that could not be read, and why."""

    pools: tuple[PoolNow, ...]
    waiting: tuple[Waiting, ...]
    due: tuple[Mapping[str, Any], ...] | None
    gauges: tuple[Gauge, ...]
    findings: tuple[Mapping[str, Any], ...]
    unseen: tuple[str, ...] = ()


def pools_now(rows: Iterable[PoolRow]) -> Iterator[PoolNow]:
    """Yield each pool. Busy machines without a listed job have no holder."""
    for row in rows:
        shares = [Share("busy", one.machines, one.name, one.jobs) for one in row.holders]
        known = sum(one.machines for one in shares)
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
            shares=tuple(one for one in shares if one.machines),
            idle_since=row.idle_since,
            price_per_hour_now=exact_text(row.price(row.pool.replicas)),
        )


def queue(
    jobs: tuple[VertexJob, ...], clusters: Iterable[PersistentResource], names: Mapping[str, str], now: datetime
) -> Iterator[Waiting]:
    """Yield the waiting jobs, the oldest first. `names`: the display name of each cluster, by its id."""
    there = {one.id: one for one in clusters}
    for job in sorted((one for one in jobs if waits(one)), key=lambda one: (one.create_time or now, one.id)):
        id_ = job.persistent_resource_id
        name = names.get(id_, id_)
        yield Waiting(
            id=job.id,
            display_name=job.called,
            user=job.user,
            template=job.template,
            on=name or job.capacity_type,
            machines=Demand.of(job).machines,
            create_time=job.create_time,
            why=wait_reason(job, there.get(id_), name, jobs, now),
        )


def gauges(lines: Iterable[QuotaRow]) -> Iterator[Gauge]:
    """Yield the quota that pools draw; the possible draw of offers beside them is a verdict, and no use."""
    for line in lines:
        if line.now is not None:
            name, others = f"{label(line.metric)}, {namespace(line.metric)}", line.others
            if others is not None:
                others += line.retiring or 0
            yield Gauge(name, line.region, line.now, line.ceiling, others, line.limit, line.verdict)
