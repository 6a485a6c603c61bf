"""Room for an urgent job on a full pool: whose jobs make it, and that they are asked. The service starts what waits for
a pool in its own order, so there is room for the jobs that wait before the urgent one, too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime

from slipway.base.errors import ResourceError
from slipway.base.formatting import counted, span
from slipway.google.clusters import PersistentResource
from slipway.google.jobs import VertexJob
from slipway.google.storage import Storage
from slipway.model.kinds import CUSTOM_JOB
from slipway.model.labels import SESSION_LABEL, SWEEP_LABEL, URGENT_LABEL
from slipway.using.context import Context
from slipway.using.jobs.demand import Demand, by_pool
from slipway.using.jobs.room import last_checkpoint, round_of
from slipway.using.jobs.waiting import gets_ready
from slipway.using.sessions.sending import close
from slipway.using.sessions.session import Session, last_run
from slipway.using.submission.yielding import WITHIN_S, before, make_room

_AT_ONCE = 8


@dataclass(frozen=True)
class Holder:
    """A job that holds machines and can make room."""

    job: VertexJob
    #: The machines that it has of each pool.
    machines: Mapping[str, int]
    #: Seconds since its last checkpoint, which it computes again if it has none more; 0 for an idle session.
    since: float
    #: It was asked to make room before, and has not ended yet.
    asked: bool = False

    @property
    def lost(self) -> float:
        """The machine-seconds that it computes again."""
        return self.since * sum(self.machines.values())

    @property
    def is_session(self) -> bool:
        return SESSION_LABEL in self.job.labels

    @property
    def words(self) -> str:
        """Return `tune-7k2p3f9a (ada), which loses at most 12 min on 4 machines`."""
        who = f"{self.job.called} ({self.job.user or 'nobody by name'})"
        if self.is_session:
            return f"{who}, a session that runs nothing"
        return f"{who}, which loses at most {span(self.since)} on {counted(sum(self.machines.values()), 'machine')}"


@dataclass(frozen=True)
class Room:
    """The room that an urgent job needs."""

    #: Those who make it, in the order of what they lose; none where there is room, or not enough even so.
    holders: tuple[Holder, ...] = ()
    #: The jobs that wait for the same pools before it.
    ahead: int = 0
    #: There is not enough, whoever makes room.
    lacking: bool = False

    def lines(self, word: str) -> Iterator[str]:
        """Yield what is to be told: `urgent: tune-7k2p3f9a (ada), which loses …, makes room`; `word`: how."""
        others = f"; {counted(self.ahead, 'job')} {'waits' if self.ahead == 1 else 'wait'} before it" * bool(self.ahead)
        if self.lacking:
            yield f"urgent: it waits all the same, as no other jobs can make enough room{others}"
        elif not self.holders:
            yield f"urgent: nobody has to make room{others}"
        for holder in self.holders:
            yield f"urgent: {holder.words}, {word}{others}"


def room_for(
    needs: Mapping[str, int], job: VertexJob | None, cluster: PersistentResource, active: Sequence[VertexJob]
) -> tuple[Counter[str], int]:
    """Return the machines of each pool that are short for a job that needs these, and the number of jobs before it.
    `job`: None for one that is not sent yet. Pure."""
    ahead = before(job, active) if job else [other for other in active if other.is_on(cluster) and other.waits]
    asked = Counter(needs)
    rivals = 0
    for other in ahead:
        theirs = by_pool(Demand.of(other), cluster)
        if needs.keys() & theirs.keys():
            asked.update(theirs)
            rivals += 1
    free = {pool.id: pool.ceiling - pool.used for pool in cluster.pools}
    return Counter({pool: count - free[pool] for pool, count in asked.items() if count > free[pool]}), rivals


def chosen(short: Mapping[str, int], holders: Iterable[Holder]) -> tuple[Holder, ...]:
    """Return those who make the room that is short: idle sessions before any job, then who loses least; one that is
    enough alone before several. Nobody where all of them together are not enough. Pure."""
    ordered = sorted(holders, key=lambda holder: (not holder.is_session, holder.lost, holder.job.name))

    def enough(some: Collection[Holder]) -> bool:
        return all(sum(holder.machines.get(pool, 0) for holder in some) >= count for pool, count in short.items())

    if alone := next((holder for holder in ordered if enough([holder])), None):
        return (alone,)
    taken = list(ordered)
    if not enough(taken):
        return ()
    for holder in reversed(ordered):  # Who loses most is spared first.
        others = [other for other in taken if other is not holder]
        if enough(others):
            taken = others
    return tuple(taken)


def find_room(context: Context, demand: Demand, cluster_id: str, region: str, job: VertexJob | None = None) -> Room:
    """Return who would make room on a cluster for an urgent `job`, or one that is not sent yet. Raises CloudError."""
    here = context.vertex.at(region)
    cluster, active = here.persistent_resource(cluster_id), list(here.active_jobs(CUSTOM_JOB))
    if job and (not job.waits or gets_ready(job, cluster)):
        return Room()
    short, ahead = room_for(by_pool(demand, cluster), job, cluster, active)
    if not short:
        return Room(ahead=ahead)
    running = [
        other
        for other in active
        if other.is_on(cluster) and other.state == "JOB_STATE_RUNNING" and URGENT_LABEL not in other.labels
    ]
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="holders") as threads:
        storage, now = context.connection.storage, context.now
        found = threads.map(lambda other: _holder(storage, other, cluster, now), running)
        able = [holder for holder in found if holder]
    for holder in able:
        short.subtract(holder.machines if holder.asked else {})
    if not (short := +short):
        return Room(ahead=ahead)
    holders = chosen(short, (holder for holder in able if not holder.asked))
    return Room(holders, ahead, lacking=not holders)


def ask_for_room(context: Context, job: VertexJob, room: Room, *, tell: Callable[[str], None], again: str) -> None:
    """Have the holders make room for an urgent job that was sent. Raises the errors of `make_room`, but for a holder
    that makes room for somebody else, or has ended: then another call finds others."""
    for holder in room.holders:
        session = Session.of(holder.job) if holder.is_session else None
        if session:
            last = last_run(context.connection.storage, session)
            if not last.goes_on and not last.closed and close(context, session, last):
                tell(f"{session.name} ({holder.job.user}), which runs nothing, ends")
            continue
        try:
            yielded = make_room(context, holder.job, job, WITHIN_S, tell=tell, again=again)
        except ResourceError as problem:
            tell(f"{problem.what}: {again} asks others")
            continue
        tell(f"{holder.words}, makes room, and goes on behind as {yielded.behind.id}")


def _holder(storage: Storage, job: VertexJob, cluster: PersistentResource, now: datetime) -> Holder | None:
    machines = by_pool(Demand.of(job), cluster)
    if session := Session.of(job):
        last = last_run(storage, session)
        return None if last.goes_on or last.closed else Holder(job, machines, 0.0)
    if not job.yields or SWEEP_LABEL in job.labels or job.start_time is None:
        return None
    saved = max(job.start_time, last_checkpoint(storage, job) or job.start_time)
    asked = round_of(storage, job).asked is not None
    return Holder(job, machines, max(0.0, (now - saved).total_seconds()), asked)
