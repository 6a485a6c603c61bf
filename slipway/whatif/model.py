"""The parts of a replay: jobs with the capacity types that they may take, pools with their bounds, and what came of
them. Seconds count from the beginning of the time that is replayed; what was before is below 0."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from slipway.capacity import POOL
from slipway.history.model import PastJob
from slipway.machines.spec import MachineGroup, MachineSpec
from slipway.prices import Price


@dataclass(frozen=True)
class PoolDelays:
    """Seconds from a pool's free machine to a job's start, until machines that the pool grows by are there, and how
    long a pool is larger than it needs to be until it shrinks."""

    start: float
    scale_up: float
    idle: float


@dataclass(frozen=True)
class PoolBounds:
    """Bounds of a pool from a moment on."""

    since: float
    min: int
    max: int


@dataclass(frozen=True)
class ReplayedPool:
    """A resource pool of a cluster, called as people say. `bounds` in the order of their times: before the first it is
    not there. `per_hour` is one machine's."""

    cluster: str
    name: str
    machine: MachineSpec
    region: str
    per_hour: Price
    bounds: tuple[PoolBounds, ...]
    delays: PoolDelays

    @property
    def label(self) -> str:
        return f"{self.cluster}/{self.name}"


@dataclass(frozen=True)
class Route:
    """A capacity type that a job may take. `wait`: seconds until it takes the next one, None to stay. `cluster`: the
    only one of its pools, empty for any that fits. `chosen`: somebody chose it, so that a full pool is waited for."""

    capacity_type: str
    wait: float | None = None
    cluster: str = ""
    chosen: bool = False

    @property
    def on_pool(self) -> bool:
        return self.capacity_type == POOL


@dataclass(frozen=True)
class ReplayedJob:
    """A job as it is sent again: at the same moment, for the same run time, by the first of its `routes` that takes it.

    `delays`: seconds until its machines beside the pools are there, by capacity type. `waited`: seconds until it
    started when it happened, attempts that were given up included; `past`: that job. `counted`: its wait and cost are
    told; others only hold machines.
    """

    name: str
    template: str
    created: float
    run: float
    machines: tuple[MachineGroup, ...]
    routes: tuple[Route, ...]
    delays: Mapping[str, float] = field(default_factory=dict)
    waited: float | None = None
    past: PastJob | None = None
    counted: bool = True


@dataclass(frozen=True)
class ReplayedRun:
    """The job's run in a replay. `started` is None of one that never ran, and then it has no capacity type. `pools`:
    machines by the place of their pool in the replay's."""

    job: ReplayedJob
    started: float | None = None
    capacity_type: str = ""
    pools: tuple[tuple[int, int], ...] = ()

    @property
    def wait(self) -> float | None:
        return None if self.started is None else self.started - self.job.created

    @property
    def ended(self) -> float | None:
        return None if self.started is None else self.started + self.job.run


class PoolStep(NamedTuple):
    """Machines that a pool had, and those of them that jobs held, from a moment on until the next step."""

    since: float
    live: int
    held: int


@dataclass(frozen=True)
class PoolUse:
    """Machine seconds of a pool within the time that is replayed: those that it had, and those that jobs held. `most`:
    machines that jobs held at once. `steps` in the order of their times: before the first it had none."""

    pool: ReplayedPool
    live: float
    held: float
    most: int
    steps: tuple[PoolStep, ...] = ()


@dataclass(frozen=True)
class Replay:
    """The fates of jobs on pools, each in the order in which the jobs were given. `length` of the time, in seconds."""

    runs: tuple[ReplayedRun, ...]
    pools: tuple[PoolUse, ...]
    length: float

    @cached_property
    def never(self) -> tuple[ReplayedRun, ...]:
        """Counted jobs that never ran."""
        return tuple(one for one in self.runs if one.started is None and one.job.counted)

    @cached_property
    def waits(self) -> tuple[float, ...]:
        """Waits of the counted jobs that ran, the shortest first."""
        return tuple(sorted(one.wait for one in self.runs if one.wait is not None and one.job.counted))
