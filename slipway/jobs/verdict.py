"""What a job asks of a cluster, and one verdict before it is sent: starts now, scales up, pool full, or can never run.
Pure.

It speaks of what the service tells and no more: no order of the queue, no time of arrival.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from slipway.cloud.clusters import RUNNING_STATES, PersistentResource, ResourcePool
from slipway.cloud.jobs import VertexJob
from slipway.formatting import counted, join, span
from slipway.kinds import CUSTOM_JOB, Kind
from slipway.labels import USER_LABEL
from slipway.machines.spec import MachineSpec

_QUEUED = "JOB_STATE_QUEUED"


@dataclass(frozen=True)
class Part:
    """One worker pool of a job: its role, the resource pool it runs on (by name, if known), and its machines."""

    role: str
    pool: str
    machine: MachineSpec
    machines: int


@dataclass(frozen=True)
class Demand:
    """Everything a job needs at once; a job starts when all of it is there."""

    parts: tuple[Part, ...]

    @property
    def machines(self) -> int:
        return sum(part.machines for part in self.parts)

    @classmethod
    def read(
        cls,
        request: Mapping[str, Any],
        roles: tuple[str, ...] = (),
        pools: tuple[str, ...] = (),
        kind: Kind = CUSTOM_JOB,
    ) -> Demand:
        """From a request's JSON, with the names that its worker pools' roles and resource pools have."""
        return cls.of(VertexJob.read(request, kind), roles, pools)

    @classmethod
    def of(cls, job: VertexJob, roles: tuple[str, ...] = (), pools: tuple[str, ...] = ()) -> Demand:
        """Skipped worker pools (`{}`) ask for nothing, parallel trials for as much each."""
        return cls(
            tuple(
                Part(
                    role=roles[index] if index < len(roles) else f"workerpool{index}",
                    pool=pools[index] if index < len(pools) else "",
                    machine=worker_pool.machine,
                    machines=worker_pool.replicas * job.trials,
                )
                for index, worker_pool in enumerate(job.worker_pools)
                if worker_pool.replicas
            )
        )


def find_pool(part: Part, cluster: PersistentResource) -> ResourcePool | None:
    """The resource pool that takes `part`: machine and disk must be equal to the letter."""
    fitting = [pool for pool in cluster.pools if pool.machine == part.machine]
    named = [pool for pool in fitting if pool.id == part.pool]
    return next(iter(named or fitting), None)


def by_pool(demand: Demand, cluster: PersistentResource) -> dict[str, int]:
    """Machines asked of each resource pool of `cluster`, by the pool's id; parts that fit none are left out."""
    needs: dict[str, int] = {}
    for part in demand.parts:
        pool = find_pool(part, cluster)
        if pool:
            needs[pool.id] = needs.get(pool.id, 0) + part.machines
    return needs


class Outcome(StrEnum):
    STARTS = "starts-now"
    SCALES = "scales-up"
    FULL = "pool-full"
    NEVER = "can-never-run"
    WAITS = "waits"
    BESIDE = "beside-the-pool"
    UNKNOWN = "cannot-tell"


@dataclass(frozen=True)
class Verdict:
    """`text` is one line that begins with the verdict. `why` has the reasons of a job that can never run.

    `grows`: by how many machines each pool would grow, for a job that makes pools scale up. `holder`: the job that
    has most of a full pool.
    """

    outcome: Outcome
    text: str
    why: tuple[str, ...] = ()
    grows: tuple[tuple[str, int], ...] = ()
    holder: str = ""


@dataclass(frozen=True)
class Load:
    """A pool against the machines that are asked of it. `ceiling` is what the pool can grow to."""

    pool: ResourcePool
    needs: int

    @property
    def ceiling(self) -> int:
        return max(self.pool.max or 0, self.pool.replicas)

    @property
    def free(self) -> int:
        return max(0, self.pool.replicas - self.pool.used)

    @property
    def grows_to(self) -> int:
        return min(self.ceiling, self.pool.used + self.needs)

    @property
    def outcome(self) -> Outcome:
        if self.needs > self.ceiling:
            return Outcome.NEVER
        if self.needs <= self.free:
            return Outcome.STARTS
        return Outcome.SCALES if self.pool.used + self.needs <= self.ceiling else Outcome.FULL


def on_cluster(
    name: str, demand: Demand, cluster: PersistentResource, jobs: Iterable[VertexJob] | None, now: datetime
) -> Verdict:
    """The verdict for a job on `cluster`, called `name` by people.

    `jobs` are those of the region that have not ended, None when they could not be read.
    """
    homeless = [part for part in demand.parts if find_pool(part, cluster) is None]
    if homeless:
        lines = tuple(line for part in homeless for line in _mismatch(part, cluster))
        return Verdict(Outcome.NEVER, f"can never run on {name}", lines)
    pools = {pool.id: pool for pool in cluster.pools}
    loads = [Load(pools[pool], needs) for pool, needs in by_pool(demand, cluster).items()]
    never = [one for one in loads if one.outcome is Outcome.NEVER]
    if never:
        most = "needs {}, the pool's maximum is {}"
        why = (f"{name}/{one.pool.id}: {most.format(counted(one.needs, 'machine'), one.ceiling)}" for one in never)
        return Verdict(Outcome.NEVER, f"can never run on {name}", tuple(why))
    if cluster.state not in RUNNING_STATES:
        return Verdict(Outcome.WAITS, f"waits: cluster {name} is {cluster.state}, jobs start when it is RUNNING")
    mine = [job for job in jobs or () if job.persistent_resource_id == cluster.id]
    full = [one for one in loads if one.outcome is Outcome.FULL]
    if full:
        first = _held(full[0].pool.id, cluster, mine)
        text = f"pool full: {_full(name, full, cluster, mine, now)}"
        return Verdict(Outcome.FULL, text, holder=first[0][1].typed if first else "")
    growing = [one for one in loads if one.outcome is Outcome.SCALES]
    if growing:
        text = f"scales up: {join(_growth(name, one) for one in growing)}"
        grows = tuple((one.pool.id, one.grows_to - one.pool.replicas) for one in growing)
        return Verdict(Outcome.SCALES, text, grows=grows)
    return Verdict(Outcome.STARTS, f"starts now: uses {_uses(loads)}{_queue(mine)}")


def _uses(loads: list[Load]) -> str:
    if len(loads) == 1:
        return f"{loads[0].needs} of {counted(loads[0].ceiling, 'machine')}"
    return join(f"{one.needs} of {counted(one.ceiling, 'machine')} of {one.pool.id}" for one in loads)


def _growth(name: str, one: Load) -> str:
    return (
        f"{name}/{one.pool.id} has {one.free} free, needs {one.needs}, grows {one.pool.replicas} → {one.grows_to} of "
        + counted(one.ceiling, "machine")
    )


def _full(name: str, loads: list[Load], cluster: PersistentResource, jobs: list[VertexJob], now: datetime) -> str:
    busy = (
        f"{name}/{one.pool.id} has {one.pool.used} of {counted(one.ceiling, 'machine')} busy"
        f"{_holders(one.pool.id, cluster, jobs, now)}, this needs {one.needs}"
        for one in loads
    )
    return "; ".join(busy) + _queue(jobs)


def _holders(pool: str, cluster: PersistentResource, jobs: list[VertexJob], now: datetime) -> str:
    """Who is on the pool, the largest first; at most three by name."""
    held = _held(pool, cluster, jobs)
    names = [holder(job, now) for _, job in held[:3]]
    if len(held) > 3:
        names.append(f"{len(held) - 3} more")
    return f" with {join(names)}" if names else ""


def _held(pool: str, cluster: PersistentResource, jobs: list[VertexJob]) -> list[tuple[int, VertexJob]]:
    held = [(by_pool(Demand.of(job), cluster).get(pool, 0), job) for job in jobs if job.state != _QUEUED]
    return sorted((one for one in held if one[0]), key=lambda one: -one[0])


def holder(job: VertexJob, now: datetime) -> str:
    """`tune-digits-1a (ada, 14 min)`"""
    facts = [job.labels.get(USER_LABEL, "")]
    facts.append(span((now - job.start_time).total_seconds()) if job.start_time else "starting")
    known = ", ".join(fact for fact in facts if fact)
    return f"{job.display_name}{f' ({known})' if known else ''}"


def _queue(jobs: list[VertexJob]) -> str:
    waiting = sum(1 for job in jobs if job.state == _QUEUED)
    return "" if not waiting else "; 1 job waits already" if waiting == 1 else f"; {waiting} jobs wait already"


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
