"""The history of a stack: jobs as the service lists them, published deployments, and hourly samples. Pure.

Nothing here is guessed. Unrecorded values are None, and displays say *unknown*.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated

from slipway.base.codec import Form
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.parameter_types import Value
from slipway.model.machines.spec import MachineSpec
from slipway.model.prices import Price

_Machines = Annotated[int, Form(lambda count: 0 <= count <= 1_000_000, "a number of machines")]


@dataclass(frozen=True)
class PoolKey:
    """A resource pool of one generation."""

    cluster_id: str
    pool: str


@dataclass(frozen=True)
class MachinesUsed:
    """Equal machines of a job: those of all concurrent trials."""

    machine: MachineSpec
    count: int
    #: The id of its cluster's pool; empty beside the pools, and where no pool of the cluster fits.
    pool: str = ""


@dataclass(frozen=True)
class PastJob:
    """A job that was sent, whatever its end. Times are UTC, None until they have come."""

    name: str
    display_name: str
    #: Without the service's prefix: `SUCCEEDED`.
    state: str
    kind: str
    template: str
    #: The submitter's own word, as the service does not tell who created a job.
    user: str
    #: From its labels, reviewed ones first.
    team: str
    capacity_type: str
    region: str
    #: The name that people use, the id where no deployment named it; empty beside the pools.
    cluster: str
    cluster_id: str
    machines: tuple[MachinesUsed, ...]
    created: datetime | None
    started: datetime | None
    ended: datetime | None
    #: Of its machine time, None where it never ran; on a pool, its share of what is paid anyway.
    cost: Price | None
    #: Seconds of its run without machines, after preemptions; None where they are unknown, so that the cost is an upper
    #: bound.
    lost: float | None = 0.0
    labels: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, Value] | None = None
    sweep: str = ""
    run: str = ""
    request_id: str = ""
    #: The regions where its submission waited at once; none where it waited in one.
    race: tuple[str, ...] = ()
    #: Its launcher makes room for another job when it is asked to.
    yields: bool = False
    error: str = ""
    #: The seconds that `cost` covers, at `per_hour`, with trials as if all machines had been at work together.
    busy: float | None = None
    #: The times at which it lost machines, as far as was read.
    preemptions: tuple[datetime, ...] = ()

    @property
    def machine_types(self) -> frozenset[str]:
        return frozenset(group.machine.type for group in self.machines)

    @property
    def waited(self) -> float | None:
        """The seconds from its creation to its start; None where it has not started."""
        if self.created is None or self.started is None:
            return None
        return max(0.0, (self.started - self.created).total_seconds())


@dataclass(frozen=True)
class Deployment:
    """A version of the catalog, in force from `at` until the next one."""

    at: datetime
    catalog: Catalog


@dataclass(frozen=True)
class PoolSample:
    """The machines of a pool at one moment."""

    #: The machines that were up.
    live: _Machines
    #: The busy ones among them.
    used: _Machines


@dataclass(frozen=True)
class Sample:
    """The pools of all clusters that existed at one moment, also those without machines."""

    at: datetime
    pools: Mapping[PoolKey, PoolSample]


@dataclass(frozen=True)
class History:
    """The known past of a stack between two moments, each part in the order of its times."""

    stack: str
    project: str
    region: str
    since: datetime
    until: datetime
    #: By creation, earlier ones that still ran among them.
    jobs: tuple[PastJob, ...]
    #: The first is the one in force at `since`, where the bucket still has it.
    deployments: tuple[Deployment, ...] = ()
    #: The first are those that may still have held at `since`.
    samples: tuple[Sample, ...] = ()
    #: The parts that could not be read, as text.
    unread: tuple[str, ...] = ()
    #: Regions.
    jobs_unread: frozenset[str] = frozenset()
