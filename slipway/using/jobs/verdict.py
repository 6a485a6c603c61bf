"""The verdict before a job is sent to a cluster: starts now, may wait, scales up, pool full, or can never run. Pure.

It rests on the service's data alone, which have no order of the queue and no time of arrival.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from operator import itemgetter

from slipway.base.formatting import counted, few, join, span
from slipway.google.clusters import RUNNING_STATES, PersistentResource, ResourcePool
from slipway.google.jobs import VertexJob
from slipway.model.machines.spec import MachineSpec, compared
from slipway.using.jobs.demand import Demand, Part, by_pool, find_pool, machines_on

_NAMED = 3
_QUEUED, _PENDING = "JOB_STATE_QUEUED", "JOB_STATE_PENDING"


class Outcome(StrEnum):
    STARTS = "starts-now"
    SCALES = "scales-up"
    MAY_WAIT = "may-wait"
    FULL = "pool-full"
    NEVER = "can-never-run"
    WAITS = "waits"
    #: It is not sent before somebody else makes way: a pause ends, or another team's job starts.
    HELD = "held"
    BESIDE = "beside-the-pool"
    UNKNOWN = "cannot-tell"


@dataclass(frozen=True)
class Verdict:
    """The verdict before a job is sent."""

    outcome: Outcome
    #: One line that begins with the verdict.
    text: str
    why: tuple[str, ...] = ()
    #: By how many machines each pool would grow, for a job that makes pools scale up.
    grows: tuple[tuple[str, int], ...] = ()
    #: The job that has most of a full pool.
    holder: str = ""
    #: The quota metrics that are short, each with a sufficient limit.
    lacking: tuple[tuple[str, int], ...] = ()
    #: Some of its data could not be read, so that it is a guess. (Unreadable limits are no limits: they refuse
    #: nothing.)
    unread: bool = False
    #: The caller may not read them, so asking again tells no more.
    barred: bool = False
    #: It can't run now, and will once its cluster is back or its reservation begins.
    comes: bool = False
    #: The number of jobs that wait for the same pools already, on a cluster where this one would wait as well; None
    #: where it is not known.
    queue: int | None = None
    #: The details of pools that grow or are awaited.
    detail: str = field(default="", compare=False)


@dataclass(frozen=True)
class Load:
    """A pool and the machines that are asked of it."""

    pool: ResourcePool
    needs: int
    #: The machines of the pool that earlier jobs take if they start first.
    ahead: int = 0

    @property
    def asked(self) -> int:
        return self.pool.used + self.ahead

    @property
    def grows_to(self) -> int:
        return min(self.pool.ceiling, self.asked + self.needs)

    @property
    def outcome(self) -> Outcome:
        if self.needs > self.pool.ceiling:
            return Outcome.NEVER
        if self.pool.used + self.needs > self.pool.ceiling:
            return Outcome.FULL
        if self.asked + self.needs > self.pool.ceiling:
            return Outcome.MAY_WAIT
        return Outcome.STARTS if self.asked + self.needs <= self.pool.replicas else Outcome.SCALES


def gets_ready(job: VertexJob, cluster: PersistentResource) -> bool:
    """Tell whether the cluster of a waiting job has accepted it: then it waits for no machines."""
    return job.state == "JOB_STATE_PENDING" and cluster.state in RUNNING_STATES


def on_cluster(
    name: str, demand: Demand, cluster: PersistentResource, jobs: Iterable[VertexJob] | None, now: datetime
) -> Verdict:
    """Return the verdict for a job on `cluster`, called `name` by people.

    `jobs` are those of the region that have not ended, None when they could not be read. The waiting ones among them
    were created earlier and may start first; the service does not tell their order.
    """
    homeless = [part for part in demand.parts if find_pool(part, cluster) is None]
    if homeless:
        lines = tuple(line for part in homeless for line in _mismatch(part, cluster))
        return Verdict(Outcome.NEVER, f"can never run on {name}", lines)
    there = [job for job in jobs or () if job.is_on(cluster)]
    pools = {pool.id: pool for pool in cluster.pools}
    ahead = awaited(cluster, there)
    loads = [Load(pools[pool], needs, ahead[pool]) for pool, needs in by_pool(demand, cluster).items()]
    by_outcome = {outcome: [load for load in loads if load.outcome is outcome] for outcome in Outcome}
    if never := by_outcome[Outcome.NEVER]:
        why = (
            f"{name}/{load.pool.id}: needs {counted(load.needs, 'machine')}, the pool's maximum is {load.pool.ceiling}"
            for load in never
        )
        return Verdict(Outcome.NEVER, f"can never run on {name}", tuple(why))
    rivals = [job for job in there if job.waits and any(machines_on(job, load.pool.id, cluster) for load in loads)]
    queue = None if jobs is None else len(rivals)
    if cluster.state not in RUNNING_STATES:
        text = f"waits: cluster {name} is {cluster.state}, and may refuse jobs until it is RUNNING"
        return Verdict(Outcome.WAITS, text, queue=queue)
    if full := by_outcome[Outcome.FULL]:
        held = _held(full[0].pool.id, cluster, there)
        text = f"pool full: {_busy(name, full, cluster, there, now)}"
        text += waiting(sum(job.state != _PENDING for job in rivals))
        return Verdict(Outcome.FULL, text, holder=held[0].typed if held else "", queue=queue)
    # A waiting job whose machines count as used already takes none from this one.
    rivals = [job for job in rivals if any(machines_on(job, load.pool.id, cluster) for load in loads if load.ahead)]
    growing, behind = by_outcome[Outcome.SCALES], by_outcome[Outcome.MAY_WAIT]
    if behind or (not growing and any(_lacks(job, cluster, ahead) for job in rivals)):
        detail = f"{_busy(name, behind or loads, cluster, there, now)}{waiting(len(rivals))}, and may start first"
        return Verdict(Outcome.MAY_WAIT, f"may wait: {detail}", queue=queue, detail=detail)
    if growing:
        detail = join(_growth(name, load) for load in growing)
        grows = tuple((load.pool.id, load.grows_to - max(load.pool.replicas, load.asked)) for load in growing)
        return Verdict(Outcome.SCALES, f"scales up: {detail}", grows=grows, detail=detail)
    uses = join(
        f"{load.needs} of {counted(load.pool.ceiling, 'machine')}{f' of {load.pool.id}' if len(loads) > 1 else ''}"
        for load in loads
    )
    return Verdict(Outcome.STARTS, f"starts now: uses {uses}{waiting(len(rivals))}")


def awaited(cluster: PersistentResource, jobs: Collection[VertexJob]) -> dict[str, int]:
    """Sum the machines that jobs on a cluster have asked for and not been given, by pool. Whether the machines of a job
    that gets ready count as used is not documented: they are taken as used as far as more is used than running jobs can
    use."""
    preparing = [job for job in jobs if job.waits and job.state == _PENDING]
    queued = [job for job in jobs if job.waits and job not in preparing]
    running = [job for job in jobs if not job.waits]
    ahead = {}
    for pool in cluster.pools:
        waiting, soon, now = (
            sum(machines_on(job, pool.id, cluster) for job in jobs) for jobs in (queued, preparing, running)
        )
        ahead[pool.id] = waiting + max(0, soon - max(0, pool.used - now))
    return ahead


def _lacks(job: VertexJob, cluster: PersistentResource, ahead: dict[str, int]) -> bool:
    asked = by_pool(Demand.of(job), cluster)
    return any(pool.id in asked and pool.used + ahead[pool.id] > pool.replicas for pool in cluster.pools)


def _growth(name: str, load: Load) -> str:
    beside = f" beside {load.ahead} that others wait for" if load.ahead else ""
    free = max(0, load.pool.replicas - load.pool.used)
    return (
        f"{name}/{load.pool.id} has {free} free, needs {load.needs}{beside}, grows {load.pool.replicas} → "
        f"{load.grows_to} of {counted(load.pool.ceiling, 'machine')}"
    )


def _busy(name: str, loads: list[Load], cluster: PersistentResource, jobs: list[VertexJob], now: datetime) -> str:
    pools = []
    for load in loads:
        who = few((holder(job, now) for job in _held(load.pool.id, cluster, jobs)), _NAMED)
        used = f"{load.pool.used} of {counted(load.pool.ceiling, 'machine')} busy"
        pools.append(f"{name}/{load.pool.id} has {used}{f' with {who}' if who else ''}, this needs {load.needs}")
    return "; ".join(pools)


def _held(pool: str, cluster: PersistentResource, jobs: list[VertexJob]) -> list[VertexJob]:
    held = [(machines_on(job, pool, cluster), job) for job in jobs if job.state != _QUEUED]
    return [job for count, job in sorted(held, key=itemgetter(0), reverse=True) if count]


def holder(job: VertexJob, now: datetime) -> str:
    """Describe a job that holds machines: `tune-digits-1a (ada, 14 min)`"""
    facts = [job.user]
    facts.append(span((now - job.start_time).total_seconds()) if job.start_time else "starting")
    known = ", ".join(fact for fact in facts if fact)
    return f"{job.display_name}{f' ({known})' if known else ''}"


def waiting(count: int) -> str:
    """Return `; 2 jobs wait as well`; empty for none."""
    return f"; {counted(count, 'job')} {'waits' if count == 1 else 'wait'} as well" if count else ""


def _mismatch(part: Part, cluster: PersistentResource) -> list[str]:
    if not cluster.pools:
        return [f"{part.role}: the cluster has no pools"]
    nearest = min(cluster.pools, key=lambda pool: (len(_differences(part.machine, pool.machine)), pool.id))
    return [
        f"no pool is what {part.role} needs: {field} {ours}, where the nearest pool {nearest.id} has {theirs}"
        for field, ours, theirs in _differences(part.machine, nearest.machine)
    ]


def _differences(ours: MachineSpec, theirs: MachineSpec) -> list[tuple[str, str, str]]:
    return [row for row in compared(ours, theirs) if row[1] != row[2]]
