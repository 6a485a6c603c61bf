"""The demand of a job on a cluster: machines by worker pool, the resource pools that take them, and who is on these:
one reading for every screen and verdict. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from slipway.google.clusters import PersistentResource, ResourcePool
from slipway.google.jobs import VertexJob
from slipway.model.cluster import PoolSpec
from slipway.model.cluster import taken as machines_taken
from slipway.model.machines.spec import MachineSpec


@dataclass(frozen=True)
class Part:
    """A worker pool of a job and the resource pool that it goes to."""

    role: str
    #: The resource pool's name, empty where it is not known.
    pool: str
    machine: MachineSpec
    machines: int


@dataclass(frozen=True)
class Demand:
    """The machines that a job needs at once: it starts when all of them are there."""

    parts: tuple[Part, ...]

    @property
    def machines(self) -> int:
        return sum(part.machines for part in self.parts)

    @classmethod
    def of(
        cls,
        job: VertexJob,
        roles: tuple[str, ...] = (),
        pools: tuple[str, ...] = (),
        taken: tuple[PoolSpec, ...] = (),
    ) -> Demand:
        """Return a job's demand, with the names of its worker pools' roles and resource pools. Skipped worker pools
        (`{}`) need nothing; parallel trials the same machines each. `taken`: the pools whose
        machines take the place of the job's, together as many of a pool as it has."""
        parts = []
        counts = list(machines_taken(taken, [pool.replicas for pool in job.worker_pools])) if taken else []
        for index, worker_pool in enumerate(job.worker_pools):
            machine, machines = worker_pool.machine, worker_pool.replicas * job.trials
            if taken:
                machine, machines = taken[index].machine, counts[index]
            if machines:
                role = roles[index] if index < len(roles) else f"workerpool{index}"
                parts.append(Part(role, pools[index] if index < len(pools) else "", machine, machines))
        return cls(tuple(parts))


def find_pool(part: Part, cluster: PersistentResource) -> ResourcePool | None:
    """Return the resource pool that takes `part`: machine and disk must be exactly equal."""
    fitting = [pool for pool in cluster.pools if pool.machine == part.machine]
    named = [pool for pool in fitting if pool.id == part.pool]
    return next(iter(named or fitting), None)


def by_pool(demand: Demand, cluster: PersistentResource) -> dict[str, int]:
    """Sum the machines asked of each resource pool, by its id; parts that fit none are left out."""
    needs = Counter[str]()
    for part in demand.parts:
        if pool := find_pool(part, cluster):
            needs[pool.id] += part.machines
    return needs


def on_pool(jobs: Iterable[VertexJob], pool: str, cluster: PersistentResource) -> list[VertexJob]:
    """Return the jobs that run on a pool, or wait for it."""
    return [job for job in jobs if job.is_on(cluster) and machines_on(job, pool, cluster)]


def machines_on(job: VertexJob, pool: str, cluster: PersistentResource) -> int:
    """Return the machines that a job asks of a pool of its cluster; 0 for another pool's job."""
    return by_pool(Demand.of(job), cluster).get(pool, 0)


def last_end(jobs: Iterable[VertexJob], pool: str, cluster: PersistentResource) -> datetime | None:
    """Return the end of the last job on a pool while its cluster was there; None where none of these jobs was on it."""
    ends, made = (job.end_time for job in on_pool(jobs, pool, cluster)), cluster.create_time
    # Jobs that ended before had another cluster with the same id.
    return max((end for end in ends if end and (made is None or made <= end)), default=None)
