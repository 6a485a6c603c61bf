"""Room for an urgent job on a full pool: whose jobs make it, and that they are asked. The service starts what waits for
a pool in its own order, so there is room for the jobs that wait before the urgent one, too, but for those that can go
on behind it: they lose nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, TypeVar

from slipway.base.errors import ResourceError
from slipway.base.formatting import counted, last_part, span
from slipway.google.clusters import PersistentResource
from slipway.google.failures import Denied, NotFound
from slipway.google.jobs import CANCELLING, VertexJob
from slipway.google.storage import Storage
from slipway.model.kinds import CUSTOM_JOB
from slipway.model.labels import SESSION_LABEL, STACK_LABEL, SWEEP_LABEL, URGENT_LABEL
from slipway.using.context import Context
from slipway.using.jobs.claim import claim_of
from slipway.using.jobs.demand import Demand, by_pool
from slipway.using.jobs.room import last_checkpoint, round_of
from slipway.using.jobs.verdict import awaited, gets_ready
from slipway.using.sessions.sending import close
from slipway.using.sessions.session import Session, last_run
from slipway.using.submission.yielding import WITHIN_S, before, make_room

_AT_ONCE = 8


@dataclass(frozen=True)
class Holder:
    """A job that holds machines, or waits for them, and can make room."""

    job: VertexJob
    #: The machines that it has of each pool; none while it waits for them.
    machines: Mapping[str, int]
    #: Seconds since its last checkpoint, which it computes again if it has none more; 0 for what has computed nothing.
    since: float
    #: It was asked to make room before, or is being ended, and has not ended yet.
    leaves: bool = False

    @property
    def order(self) -> tuple[bool, float, str]:
        """Its place among holders: idle sessions before any job, then by the machine-seconds that it computes again."""
        return not self.is_session, self.since * sum(self.machines.values()), self.job.name

    @property
    def is_session(self) -> bool:
        return SESSION_LABEL in self.job.labels

    @property
    def words(self) -> str:
        """Return `tune-7k2p3f9a (ada), which loses at most 12 min on 4 machines`."""
        who = f"{self.job.called} ({self.job.user or 'nobody by name'})"
        if self.is_session:
            return f"{who}, a session that runs nothing"
        if not self.machines:
            return f"{who}, which waits before it and loses nothing"
        if self.job.start_time is None:
            return f"{who}, which has not begun and loses nothing"
        return f"{who}, which loses at most {span(self.since)} on {counted(sum(self.machines.values()), 'machine')}"


@dataclass(frozen=True)
class Room:
    """The room that an urgent job needs."""

    #: Those who make it, in the order of what they lose; none where there is room, or nobody can.
    holders: tuple[Holder, ...] = ()
    #: The jobs that wait for the same pools before it, and stay there.
    ahead: int = 0
    #: There is not enough, whoever makes room.
    lacking: bool = False
    #: Those who make room already, or are being ended.
    leaving: tuple[Holder, ...] = ()

    def lines(self, word: str) -> Iterator[str]:
        """Yield what is to be told: `urgent: tune-7k2p3f9a (ada), which loses …, makes room`; `word`: how."""
        others = f"; {counted(self.ahead, 'job')} {'waits' if self.ahead == 1 else 'wait'} before it" * bool(self.ahead)
        if self.lacking:
            yield f"urgent: it waits all the same, as no other jobs can make enough room{others}"
        elif not self.holders:
            yield f"urgent: nobody {'else ' * bool(self.leaving)}has to make room{others}"
        for holder in self.holders:
            yield f"urgent: {holder.words}, {word}{others}"


def rivals_of(
    needs: Mapping[str, int], job: VertexJob | None, cluster: PersistentResource, active: Sequence[VertexJob]
) -> list[VertexJob]:
    """Return the jobs that wait for machines of the same pools before a job that needs these. `job`: None for one that
    is not sent yet. Pure."""
    ahead = before(job, active) if job else [other for other in active if other.is_on(cluster) and other.waits]
    queued = (other for other in ahead if other.state != CANCELLING and not gets_ready(other, cluster))
    return [other for other in queued if needs.keys() & by_pool(Demand.of(other), cluster).keys()]


def shortage(
    needs: Mapping[str, int],
    rivals: Iterable[VertexJob],
    holding: Iterable[VertexJob],
    cluster: PersistentResource,
) -> Counter[str]:
    """Return the machines of each pool that are short for a job and its rivals, beside the jobs `holding` machines of
    the cluster. Pure."""
    ahead = awaited(cluster, [*rivals, *holding])
    asked = {pool.id: pool.used + ahead[pool.id] + needs[pool.id] for pool in cluster.pools if pool.id in needs}
    return +Counter({pool.id: asked[pool.id] - pool.ceiling for pool in cluster.pools if pool.id in asked})


class _Holds(Protocol):
    @property
    def machines(self) -> Mapping[Any, int]: ...
    @property
    def order(self) -> tuple[Any, ...]: ...
    @property
    def is_session(self) -> bool: ...


AnyHolder = TypeVar("AnyHolder", bound=_Holds)


def chosen(short: Mapping[Any, int], holders: Iterable[AnyHolder]) -> tuple[AnyHolder, ...]:
    """Return those who make the room that is short, in their order; one that is enough alone before several. Nobody
    where all of them together are not enough. Pure."""
    ordered = sorted(holders, key=lambda holder: holder.order)

    def enough(some: Collection[AnyHolder]) -> bool:
        return all(sum(holder.machines.get(pool, 0) for holder in some) >= count for pool, count in short.items())

    sessions = [holder for holder in ordered if holder.is_session]
    if enough(sessions):
        ordered = sessions
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
    needs, on_it = by_pool(demand, cluster), [other for other in active if other.is_on(cluster)]
    rivals = rivals_of(needs, job, cluster, active)
    holding = [other for other in on_it if not other.waits or gets_ready(other, cluster)]
    if not shortage(needs, rivals, holding, cluster):
        return Room(ahead=len(rivals))
    waiting = [other for other in rivals if _goes_on(other)]
    staying = [other for other in rivals if other not in waiting]
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="holders") as threads:
        found = threads.map(lambda other: _holder(context, other, cluster), [*waiting, *holding])
        holders = [holder for holder in found if holder]
    short = shortage(needs, staying, holding, cluster)
    for holder in holders:
        short.subtract(holder.machines if holder.leaves else {})
    short, able = +short, [holder for holder in holders if not holder.leaves]
    steps_back = tuple(holder for holder in able if not holder.machines)
    makes_room = chosen(short, (holder for holder in able if holder.machines)) if short else ()
    leaving = tuple(holder for holder in holders if holder.leaves)
    return Room((*steps_back, *makes_room), len(staying), bool(short and not makes_room), leaving)


def ask_for_room(context: Context, job: VertexJob, room: Room, *, tell: Callable[[str], None], again: str) -> None:
    """Have the holders make room for an urgent job that was sent, and those who leave already do so for it too. Raises
    the errors of `make_room`, but for a holder that makes room for somebody else, or has ended: then another call finds
    others."""
    storage, claim = context.connection.storage, claim_of(job)
    for holder in room.leaving:
        asked = _goes_on(holder.job) and round_of(storage, holder.job)
        if claim and asked and asked.asked and not asked.made:
            storage.create(asked.also(last_part(claim)), b"", again=True)
    for holder in room.holders:
        session = Session.of(holder.job) if holder.is_session else None
        if session:
            last = last_run(storage, session)
            if not last.goes_on and not last.closed and close(context, session, last):
                tell(f"{session.name} ({holder.job.user}), which runs nothing, ends")
            continue
        try:
            yielded = make_room(context, holder.job, job, WITHIN_S, tell=tell, again=again)
        except ResourceError as problem:
            tell(f"{problem.what}: {again} asks others")
            continue
        tell(f"{holder.words}, makes room, and goes on behind as {yielded.behind.id}")


def _goes_on(job: VertexJob) -> bool:
    """Tell whether a job can go on in another one, and makes room for an urgent one."""
    return job.yields and bool(claim_of(job)) and not {SESSION_LABEL, SWEEP_LABEL, URGENT_LABEL} & job.labels.keys()


def _holder(context: Context, job: VertexJob, cluster: PersistentResource) -> Holder | None:
    """Return what a job can do for an urgent one; None for one that stays, as one of another stack does whose bucket
    can't be read. Raises CloudError."""
    try:
        return _able(context.connection.storage, job, cluster, context.now)
    except (Denied, NotFound):
        if job.labels.get(STACK_LABEL) == context.catalog.identity.label:
            raise
        return None


def _able(storage: Storage, job: VertexJob, cluster: PersistentResource, now: datetime) -> Holder | None:
    machines = {} if job.waits and not gets_ready(job, cluster) else by_pool(Demand.of(job), cluster)
    if job.state == CANCELLING:
        return Holder(job, machines, 0.0, leaves=True)
    if session := Session.of(job):
        last = last_run(storage, session)
        stays = not last.closed and (last.goes_on or job.start_time is None)
        return None if stays else Holder(job, machines, 0.0, leaves=bool(last.closed))
    if not _goes_on(job):
        return None
    asked = round_of(storage, job).asked is not None
    if job.start_time is None:
        return Holder(job, machines, 0.0, leaves=asked)
    saved = max(job.start_time, last_checkpoint(storage, job) or job.start_time)
    return Holder(job, machines, max(0.0, (now - saved).total_seconds()), leaves=asked)
