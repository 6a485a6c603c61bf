"""The history of a stack: jobs as the service lists them, published deployments, and hourly samples. Pure.

Nothing here is guessed. Unrecorded values are None, and displays say *unknown*.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated

from slipway.base.codec import Form
from slipway.model.catalog.clusters import Cluster
from slipway.model.catalog.parameter_types import Scalar
from slipway.model.machines.spec import MachineSpec
from slipway.model.prices import Price

_Machines = Annotated[int, Form(lambda count: 0 <= count <= 1_000_000, "a number of machines")]


@dataclass(frozen=True)
class PoolKey:
    """A resource pool of one generation: the cluster's id, and the pool's."""

    cluster_id: str
    pool: str


@dataclass(frozen=True)
class MachinesUsed:
    """Equal machines of a job: those of all concurrent trials. `pool` is that of its cluster, by id; empty beside the
    pools, and where no pool of the cluster fits."""

    machine: MachineSpec
    count: int
    pool: str = ""


@dataclass(frozen=True)
class PastJob:
    """A job that was sent, whatever its end. Times are UTC, None until they have come.

    `cluster`: the name that people use, the id where no deployment named it, empty beside the pools. `team` comes from
    its labels, reviewed ones first; `user` is the submitter's own word, as the service does not tell who created a job.
    `per_hour`: of all its machines together. `cost`: of its machine time, None where it never ran; on a pool, its share
    of what is paid anyway. `busy`: the seconds that `cost` covers, at `per_hour`, with trials as if all machines had
    been at work together. `lost`: seconds of its run without machines, after preemptions; None where they are unknown,
    so that the cost is an upper bound. `preemptions`: when it lost machines, as far as was read. `state` without the
    service's prefix: `SUCCEEDED`.
    """

    name: str
    display_name: str
    state: str
    kind: str
    template: str
    user: str
    team: str
    capacity_type: str
    region: str
    cluster: str
    cluster_id: str
    machines: tuple[MachinesUsed, ...]
    created: datetime | None
    started: datetime | None
    ended: datetime | None
    per_hour: Price
    cost: Price | None
    lost: float | None = 0.0
    labels: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, Scalar] | None = None
    sweep: str = ""
    run: str = ""
    request_id: str = ""
    commit: str = ""
    output: str = ""
    error: str = ""
    busy: float | None = None
    preemptions: tuple[datetime, ...] = ()

    @property
    def accelerators(self) -> int:
        """The number of accelerators of all its machines."""
        return sum(one.machine.accelerator_count * one.count for one in self.machines)


@dataclass(frozen=True)
class Deployment:
    """A version of the catalog, in force from `at` until the next one: clusters by name, with bounds, machines and
    prices of their pools, and the ids of those that retired then. `under_way`: the clusters during a deployment that
    had begun and not ended."""

    at: datetime
    commit: str
    dirty: bool
    clusters: Mapping[str, Cluster]
    retiring: tuple[str, ...] = ()
    under_way: bool = False


@dataclass(frozen=True)
class PoolSample:
    """Machines of a pool that were up, and the busy ones among them."""

    live: _Machines
    used: _Machines


@dataclass(frozen=True)
class Sample:
    """The pools of all clusters that existed at one moment, also those without machines."""

    at: datetime
    pools: Mapping[PoolKey, PoolSample]


@dataclass(frozen=True)
class History:
    """The known past of a stack between two moments, each part in the order of its times: jobs by creation, earlier
    ones that still ran among them. `deployments` begins with the one in force at `since`, where the bucket still has
    it, and `samples` with those that may still have held then. `unread`: the parts that could not be read, as text;
    `jobs_unread`: regions with unread jobs."""

    stack: str
    project: str
    region: str
    since: datetime
    until: datetime
    jobs: tuple[PastJob, ...]
    deployments: tuple[Deployment, ...] = ()
    samples: tuple[Sample, ...] = ()
    unread: tuple[str, ...] = ()
    jobs_unread: frozenset[str] = frozenset()

    @property
    def adopted(self) -> frozenset[str]:
        """The ids of clusters that others made and pay for."""
        clusters = (cluster for one in self.deployments for cluster in one.clusters.values())
        return frozenset(one.id for one in clusters if one.adopted)
