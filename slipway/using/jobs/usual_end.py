"""The time when a full pool may have room: the usual ends of the jobs on it, by the run times of such jobs before.
Pure.

A range and no promise. Where too many ends are unknown there is no range; the order of the queue is never told.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from slipway.base.formatting import span
from slipway.google.clusters import PersistentResource, ResourcePool
from slipway.google.jobs import VertexJob
from slipway.model.capacity import POOL
from slipway.using.jobs.demand import Demand, by_pool, machines_on
from slipway.using.jobs.earlier_jobs import FEWEST, SINCE, runs
from slipway.using.jobs.verdict import Verdict


@dataclass(frozen=True)
class UsualRoom:
    """The range in which a full pool usually has room, from `now` on; `latest` None where only the beginning is
    known."""

    now: datetime
    earliest: datetime
    latest: datetime | None

    def __str__(self) -> str:
        """Return `not before about 14:20 UTC (in 25 min–1 h 10 min), as such jobs usually run`."""
        soon, late = self.earliest - self.now, self.latest - self.now if self.latest else None
        begin = span(soon.total_seconds())
        rest = "" if late is None else f"–{span(late.total_seconds())}"
        days = f"{self.earliest:%Y-%m-%d} " if self.earliest.date() != self.now.date() else ""
        return f"not before about {days}{self.earliest:%H:%M} UTC (in {begin}{rest}), as such jobs usually run"


def usual_room(
    demand: Demand,
    cluster: PersistentResource,
    active: Iterable[VertexJob],
    ended: Iterable[VertexJob],
    now: datetime,
) -> UsualRoom | None:
    """Return when all pools that a job asks for usually have room for it. `active`: jobs that have not ended, `ended`:
    earlier jobs of any template. None where it is not known, or the range begins now."""
    earlier, holders = tuple(ended), [job for job in active if job.persistent_resource_id == cluster.id]
    needs, pools = by_pool(demand, cluster), {pool.id: pool for pool in cluster.pools}
    found = []
    for name, machines in needs.items():
        lacking = pools[name].used + machines - pools[name].ceiling
        if lacking > 0:
            ends = [_Hold(_held(job, pools[name], cluster), *_usual_end(job, earlier, now)) for job in holders]
            found.append(_freed(lacking, [one for one in ends if one.machines], now))
    if not found:
        return None
    earliest = max(begin for begin, _ in found)
    latest = None if any(end is None for _, end in found) else max(end for _, end in found if end is not None)
    return UsualRoom(now, earliest, latest) if earliest > now + timedelta(minutes=1) else None


@dataclass(frozen=True)
class _Hold:
    """Machines that a job holds, and the job's usual end: not before now, also where it is unknown."""

    machines: int
    earliest: datetime
    latest: datetime | None


def _held(job: VertexJob, pool: ResourcePool, cluster: PersistentResource) -> int:
    return machines_on(job, pool.id, cluster) if job.start_time is not None else 0


def _usual_end(job: VertexJob, earlier: Sequence[VertexJob], now: datetime) -> tuple[datetime, datetime | None]:
    """Return the quartiles of the ends of such jobs that ran for longer than this one has by now."""
    if job.start_time is None or not job.template:
        return now, None
    alike = (one for one in earlier if one.template == job.template and now - SINCE <= (one.start_time or now))
    age = (now - job.start_time).total_seconds()
    longer = sorted(seconds for seconds in runs(alike, POOL, Demand.of(job), now) if seconds > age)
    if len(longer) < FEWEST:
        return now, None
    first, third = longer[len(longer) // 4], longer[(3 * len(longer)) // 4]
    return job.start_time + timedelta(seconds=first), job.start_time + timedelta(seconds=third)


def _freed(machines: int, holds: Sequence[_Hold], now: datetime) -> tuple[datetime, datetime | None]:
    """Return the range in which so many machines are usually given back."""
    earliest = _when(machines, [(one.machines, one.earliest) for one in holds])
    latest = _when(machines, [(one.machines, one.latest) for one in holds if one.latest is not None])
    return earliest or now, latest


def _when(machines: int, ends: Iterable[tuple[int, datetime]]) -> datetime | None:
    for freed, end in sorted(ends, key=lambda one: one[1]):
        machines -= freed
        if machines <= 0:
            return end
    return None


def with_usual_room(verdict: Verdict, room: UsualRoom | None) -> Verdict:
    return verdict if room is None else replace(verdict, text=f"{verdict.text}; {room}")
