"""The parts of a replay: jobs with their possible capacity types, pools with their bounds, and the fates of jobs.
Seconds count from the beginning of the replayed time; earlier moments are below 0."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from slipway.model.capacity import POOL
from slipway.model.machines.spec import MachineGroup, MachineSpec
from slipway.model.prices import Price
from slipway.operating.history.model import PastJob


@dataclass(frozen=True)
class PoolDelays:
    """Seconds from a pool's free machine to a job's start, until the machines of a growing pool exist, and until a pool
    that is larger than it needs to be shrinks."""

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
    """A resource pool of a cluster, by its display name. `bounds` in the order of their times: before the first it does
    not exist. `per_hour` is one machine's."""

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
    """A capacity type that a job may take. `wait`: seconds until the job takes the next one, None to stay. `cluster`:
    the only one of its pools, empty for any that fits. `chosen`: the submitter chose it, so a full pool is waited
    for."""

    capacity_type: str
    wait: float | None = None
    cluster: str = ""
    chosen: bool = False

    @property
    def on_pool(self) -> bool:
        return self.capacity_type == POOL


@dataclass(frozen=True)
class ReplayedJob:
    """A job that is sent again: at the same moment, for the same run time, by the first of its `routes` that takes it.

    `delays`: seconds until its machines beside the pools exist, by capacity type. `waited`: seconds until its start in
    the past, abandoned attempts included; `past`: that job. `counted`: its wait and cost are reported; other jobs only
    hold machines.
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
    """A job's run in a replay. `started` is None for a job that never ran, and then it has no capacity type. `pools`:
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


@dataclass(frozen=True)
class PoolUse:
    """Machine seconds of a pool within the replayed time: all of them, and those held by jobs. `most`: machines that
    jobs held at once."""

    pool: ReplayedPool
    live: float
    held: float
    most: int


@dataclass(frozen=True)
class Replay:
    """The fates of jobs on pools, each in the order in which the jobs were given. `length` of the time, in seconds."""

    runs: tuple[ReplayedRun, ...]
    pools: tuple[PoolUse, ...]
    length: float

    @cached_property
    def never(self) -> tuple[ReplayedRun, ...]:
        """The counted jobs that never ran."""
        return tuple(one for one in self.runs if one.started is None and one.job.counted)

    @cached_property
    def waits(self) -> tuple[float, ...]:
        """The waits of the counted jobs that ran, the shortest first."""
        return tuple(sorted(one.wait for one in self.runs if one.wait is not None and one.job.counted))
