"""The demand of a job on a cluster: machines by worker pool, and the resource pools that take them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from slipway.google.clusters import PersistentResource, ResourcePool
from slipway.google.jobs import VertexJob
from slipway.model.kinds import CUSTOM_JOB, JobKind
from slipway.model.machines.spec import MachineSpec


@dataclass(frozen=True)
class Part:
    """A worker pool of a job: its role, its resource pool (by name, if known), and its machines."""

    role: str
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
    def read(
        cls,
        request: Mapping[str, Any],
        roles: tuple[str, ...] = (),
        pools: tuple[str, ...] = (),
        kind: JobKind = CUSTOM_JOB,
    ) -> Demand:
        """Read a request's JSON, with the names of its worker pools' roles and resource pools."""
        return cls.of(VertexJob.read(request, kind), roles, pools)

    @classmethod
    def of(cls, job: VertexJob, roles: tuple[str, ...] = (), pools: tuple[str, ...] = ()) -> Demand:
        """Return a job's demand. Skipped worker pools (`{}`) need nothing; parallel trials need the same machines
        each."""
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
    """Return the resource pool that takes `part`: machine and disk must be exactly equal."""
    fitting = [pool for pool in cluster.pools if pool.machine == part.machine]
    named = [pool for pool in fitting if pool.id == part.pool]
    return next(iter(named or fitting), None)


def by_pool(demand: Demand, cluster: PersistentResource) -> dict[str, int]:
    """Sum the machines asked of each resource pool, by its id; parts that fit none are left out."""
    needs: dict[str, int] = {}
    for part in demand.parts:
        pool = find_pool(part, cluster)
        if pool:
            needs[pool.id] = needs.get(pool.id, 0) + part.machines
    return needs
