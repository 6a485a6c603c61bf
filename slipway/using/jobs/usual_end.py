"""The time when a full pool may have room: the usual ends of the jobs on it, by the run times of such jobs before.
Pure.

A range and no promise. Where too many ends are unknown there is no range; the order of the queue is never told.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import itemgetter

from slipway.base.formatting import span
from slipway.google.clusters import PersistentResource
from slipway.google.jobs import VertexJob
from slipway.model.capacity import POOL
from slipway.using.jobs.demand import Demand, by_pool, machines_on
from slipway.using.jobs.earlier_jobs import FEWEST, SINCE, programs_of, runs


@dataclass(frozen=True)
class UsualRoom:
    """The range in which a full pool usually has room."""

    now: datetime
    earliest: datetime
    #: None where only the beginning is known.
    latest: datetime | None

    def __str__(self) -> str:
        """Return `not before about 14:20 UTC (in 25 min–1 h 10 min), as such jobs usually run`."""
        begin = span((self.earliest - self.now).total_seconds())
        rest = f"–{span((self.latest - self.now).total_seconds())}" if self.latest else ""
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
    earlier = tuple(ended)
    holders = [job for job in active if job.is_on(cluster) and job.start_time]
    pools = {pool.id: pool for pool in cluster.pools}
    ranges = []
    for name, machines in by_pool(demand, cluster).items():
        lacking = pools[name].used + machines - pools[name].ceiling
        if lacking > 0:
            holds = [(machines_on(job, name, cluster), *_usual_end(job, earlier, now)) for job in holders]
            begins = _when(lacking, ((count, begin) for count, begin, _ in holds)) or now
            ranges.append((begins, _when(lacking, ((count, end) for count, _, end in holds if end))))
    if not ranges:
        return None
    # The job starts when the last of its pools has room.
    earliest = max(begin for begin, _ in ranges)
    ends = [end for _, end in ranges if end is not None]
    latest = max(ends) if len(ends) == len(ranges) else None
    return UsualRoom(now, earliest, latest) if earliest > now + timedelta(minutes=1) else None


def _usual_end(job: VertexJob, earlier: Sequence[VertexJob], now: datetime) -> tuple[datetime, datetime | None]:
    """Return the quartiles of the ends of such jobs that ran longer than this one by now; now where unknown."""
    if job.start_time is None or not job.template:
        return now, None
    alike = (past for past in earlier if past.template == job.template and now - SINCE <= (past.start_time or now))
    age = (now - job.start_time).total_seconds()
    longer = sorted(seconds for seconds in runs(alike, POOL, Demand.of(job), now, programs_of(job)) if seconds > age)
    if len(longer) < FEWEST:
        return now, None
    first, third = longer[len(longer) // 4], longer[(3 * len(longer)) // 4]
    return job.start_time + timedelta(seconds=first), job.start_time + timedelta(seconds=third)


def _when(machines: int, ends: Iterable[tuple[int, datetime]]) -> datetime | None:
    for freed, end in sorted(ends, key=itemgetter(1)):
        machines -= freed
        if machines <= 0:
            return end
    return None
