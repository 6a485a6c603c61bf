"""One verdict before a job is sent to a cluster: starts now, may wait, scales up, pool full, or can never run. Pure.

It speaks of what the service tells and no more: no order of the queue, no time of arrival.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from slipway.cloud.clusters import RUNNING_STATES, PersistentResource, ResourcePool
from slipway.cloud.jobs import VertexJob
from slipway.formatting import counted, join, span
from slipway.jobs.demand import Demand, Part, by_pool, find_pool
from slipway.machines.spec import MachineSpec

_QUEUED, _PENDING = "JOB_STATE_QUEUED", "JOB_STATE_PENDING"


class Outcome(StrEnum):
    STARTS = "starts-now"
    SCALES = "scales-up"
    MAY_WAIT = "may-wait"
    FULL = "pool-full"
    NEVER = "can-never-run"
    WAITS = "waits"
    BESIDE = "beside-the-pool"
    UNKNOWN = "cannot-tell"


@dataclass(frozen=True)
class Verdict:
    """`text` is one line that begins with the verdict. `why` has the reasons of a job that can never run.

    `grows`: by how many machines each pool would grow, for a job that makes pools scale up. `holder`: the job that
    has most of a full pool. `lacking`: the quota metrics that are short, each with a limit that would do. `unread`:
    what it rests on could not be read, so that it is a guess. (Limits that may not be read are none: they refuse
    nothing.) `barred`: whoever asks may not read it, so asking again tells no more. `queue`: how many jobs wait for the
    same pools already, of a cluster where this one would wait as well; None where that is not known.
    """

    outcome: Outcome
    text: str
    why: tuple[str, ...] = ()
    grows: tuple[tuple[str, int], ...] = ()
    holder: str = ""
    lacking: tuple[tuple[str, int], ...] = ()
    unread: bool = False
    barred: bool = False
    queue: int | None = None


@dataclass(frozen=True)
class Load:
    """A pool against the machines that are asked of it. `ahead`: what jobs that were created earlier and have not
    started take of it when they start first."""

    pool: ResourcePool
    needs: int
    ahead: int = 0

    @property
    def ceiling(self) -> int:
        return self.pool.ceiling

    @property
    def free(self) -> int:
        return max(0, self.pool.replicas - self.pool.used)

    @property
    def asked(self) -> int:
        """Machines in use or asked for already."""
        return self.pool.used + self.ahead

    @property
    def grows_to(self) -> int:
        return min(self.ceiling, self.asked + self.needs)

    @property
    def outcome(self) -> Outcome:
        if self.needs > self.ceiling:
            return Outcome.NEVER
        if self.pool.used + self.needs > self.ceiling:
            return Outcome.FULL
        if self.asked + self.needs > self.ceiling:
            return Outcome.MAY_WAIT
        return Outcome.STARTS if self.asked + self.needs <= self.pool.replicas else Outcome.SCALES


def on_cluster(
    name: str, demand: Demand, cluster: PersistentResource, jobs: Iterable[VertexJob] | None, now: datetime
) -> Verdict:
    """The verdict for a job on `cluster`, called `name` by people.

    `jobs` are those of the region that have not ended, None when they could not be read. Those among them that have not
    started were created earlier, and may start first; in which order, the service does not tell.
    """
    homeless = [part for part in demand.parts if find_pool(part, cluster) is None]
    if homeless:
        lines = tuple(line for part in homeless for line in _mismatch(part, cluster))
        return Verdict(Outcome.NEVER, f"can never run on {name}", lines)
    mine = [job for job in jobs or () if job.persistent_resource_id == cluster.id]
    pools, ahead = {pool.id: pool for pool in cluster.pools}, _ahead(cluster, mine)
    loads = [Load(pools[pool], needs, ahead[pool]) for pool, needs in by_pool(demand, cluster).items()]
    never = [one for one in loads if one.outcome is Outcome.NEVER]
    if never:
        most = "needs {}, the pool's maximum is {}"
        why = (f"{name}/{one.pool.id}: {most.format(counted(one.needs, 'machine'), one.ceiling)}" for one in never)
        return Verdict(Outcome.NEVER, f"can never run on {name}", tuple(why))
    rivals = [job for job in mine if _waits(job) and any(_of_pool(job, one.pool.id, cluster) for one in loads)]
    queue = None if jobs is None else len(rivals)
    if cluster.state not in RUNNING_STATES:
        text = f"waits: cluster {name} is {cluster.state}, and may refuse jobs until it is RUNNING"
        return Verdict(Outcome.WAITS, text, queue=queue)
    full = [one for one in loads if one.outcome is Outcome.FULL]
    if full:
        first = _held(full[0].pool.id, cluster, mine)
        text = f"pool full: {_busy(name, full, cluster, mine, now)}{_queue(mine)}"
        return Verdict(Outcome.FULL, text, holder=first[0][1].typed if first else "", queue=queue)
    rivals = [job for job in rivals if any(_of_pool(job, one.pool.id, cluster) for one in loads if one.ahead)]
    growing = [one for one in loads if one.outcome is Outcome.SCALES]
    behind = [one for one in loads if one.outcome is Outcome.MAY_WAIT]
    if behind or (not growing and any(_lacks(job, cluster, ahead) for job in rivals)):
        text = f"may wait: {_busy(name, behind or loads, cluster, mine, now)}; {_that_wait(rivals)} may start first"
        return Verdict(Outcome.MAY_WAIT, text, queue=queue)
    if growing:
        text = f"scales up: {join(_growth(name, one) for one in growing)}"
        grows = tuple((one.pool.id, one.grows_to - max(one.pool.replicas, one.asked)) for one in growing)
        return Verdict(Outcome.SCALES, text, grows=grows)
    also = f"; {_that_wait(rivals)} {'has' if len(rivals) == 1 else 'have'} room too" if rivals else ""
    return Verdict(Outcome.STARTS, f"starts now: uses {_uses(loads)}{also}")


def _waits(job: VertexJob) -> bool:
    return job.state in (_QUEUED, _PENDING) and job.start_time is None


def _ahead(cluster: PersistentResource, jobs: list[VertexJob]) -> dict[str, int]:
    """Machines of each pool that jobs have asked for and not been given. Whether those of a job that gets ready to run
    count as used is not documented: they do as far as more is used than jobs that run can use."""
    queued = [job for job in jobs if _waits(job) and job.state == _QUEUED]
    preparing = [job for job in jobs if _waits(job) and job.state == _PENDING]
    running = [job for job in jobs if not _waits(job)]
    found = {}
    for pool in cluster.pools:
        waiting, soon, now = (
            sum(_of_pool(job, pool.id, cluster) for job in some) for some in (queued, preparing, running)
        )
        found[pool.id] = waiting + max(0, soon - max(0, pool.used - now))
    return found


def _lacks(job: VertexJob, cluster: PersistentResource, ahead: dict[str, int]) -> bool:
    """Whether a job that waits does so for machines that are not there now."""
    asked = by_pool(Demand.of(job), cluster)
    return any(pool.id in asked and pool.used + ahead[pool.id] > pool.replicas for pool in cluster.pools)


def _uses(loads: list[Load]) -> str:
    if len(loads) == 1:
        return f"{loads[0].needs} of {counted(loads[0].ceiling, 'machine')}"
    return join(f"{one.needs} of {counted(one.ceiling, 'machine')} of {one.pool.id}" for one in loads)


def _growth(name: str, one: Load) -> str:
    beside = f" beside {one.ahead} that others wait for" if one.ahead else ""
    return (
        f"{name}/{one.pool.id} has {one.free} free, needs {one.needs}{beside}, grows {one.pool.replicas} → "
        f"{one.grows_to} of {counted(one.ceiling, 'machine')}"
    )


def _busy(name: str, loads: list[Load], cluster: PersistentResource, jobs: list[VertexJob], now: datetime) -> str:
    busy = (
        f"{name}/{one.pool.id} has {one.pool.used} of {counted(one.ceiling, 'machine')} busy"
        f"{_holders(one.pool.id, cluster, jobs, now)}, this needs {one.needs}"
        for one in loads
    )
    return "; ".join(busy)


def _holders(pool: str, cluster: PersistentResource, jobs: list[VertexJob], now: datetime) -> str:
    """Who is on the pool, the largest first; at most three by name."""
    held = _held(pool, cluster, jobs)
    names = [holder(job, now) for _, job in held[:3]]
    if len(held) > 3:
        names.append(f"{len(held) - 3} more")
    return f" with {join(names)}" if names else ""


def _held(pool: str, cluster: PersistentResource, jobs: list[VertexJob]) -> list[tuple[int, VertexJob]]:
    held = [(_of_pool(job, pool, cluster), job) for job in jobs if job.state != _QUEUED]
    return sorted((one for one in held if one[0]), key=lambda one: -one[0])


def _of_pool(job: VertexJob, pool: str, cluster: PersistentResource) -> int:
    return by_pool(Demand.of(job), cluster).get(pool, 0)


def holder(job: VertexJob, now: datetime) -> str:
    """`tune-digits-1a (ada, 14 min)`"""
    facts = [job.user]
    facts.append(span((now - job.start_time).total_seconds()) if job.start_time else "starting")
    known = ", ".join(fact for fact in facts if fact)
    return f"{job.display_name}{f' ({known})' if known else ''}"


def _queue(jobs: list[VertexJob]) -> str:
    waiting = sum(1 for job in jobs if job.state == _QUEUED)
    return "" if not waiting else "; 1 job waits already" if waiting == 1 else f"; {waiting} jobs wait already"


def _that_wait(jobs: list[VertexJob]) -> str:
    return "1 job that waits already" if len(jobs) == 1 else f"{len(jobs)} jobs that wait already"


def _mismatch(part: Part, cluster: PersistentResource) -> list[str]:
    """The fields side by side with those of the nearest pool."""
    if not cluster.pools:
        return [f"{part.role}: the cluster has no pools"]
    nearest = min(cluster.pools, key=lambda pool: (len(_differences(part.machine, pool.machine)), pool.id))
    return [
        f"no pool is what {part.role} needs: {field} {ours}, where the nearest pool {nearest.id} has {theirs}"
        for field, ours, theirs in _differences(part.machine, nearest.machine)
    ]


def _differences(ours: MachineSpec, theirs: MachineSpec) -> list[tuple[str, str, str]]:
    rows = [
        ("machine", ours.type, theirs.type),
        ("accelerator", ours.accelerator or "none", theirs.accelerator or "none"),
        ("accelerator count", str(ours.accelerator_count), str(theirs.accelerator_count)),
        ("disk type", ours.disk.type, theirs.disk.type),
        ("disk", f"{ours.disk.size_gb} GB", f"{theirs.disk.size_gb} GB"),
    ]
    return [row for row in rows if row[1] != row[2]]
