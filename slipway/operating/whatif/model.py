"""The parts of a replay: jobs with their possible capacity types, pools with their bounds, and the fates of jobs.

Seconds count from the beginning of the replayed time; earlier moments are below 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from slipway.model.capacity import POOL
from slipway.model.machines.spec import MachineGroup, MachineSpec
from slipway.model.prices import Price
from slipway.operating.history.model import PastJob


@dataclass(frozen=True)
class PoolDelays:
    """The delays of a pool, in seconds."""

    #: From a free machine to a job's start.
    start: float
    #: Until the machines of a growing pool exist.
    scale_up: float
    #: Until a pool that is larger than it needs to be shrinks.
    idle: float


@dataclass(frozen=True)
class PoolBounds:
    """Bounds of a pool from a moment on."""

    since: float
    min: int
    max: int


@dataclass(frozen=True)
class ReplayedPool:
    """A resource pool of a cluster."""

    #: The name that people use.
    cluster: str
    name: str
    machine: MachineSpec
    #: The price of one machine.
    per_hour: Price
    #: In the order of their times: before the first the pool does not exist.
    bounds: tuple[PoolBounds, ...]
    delays: PoolDelays

    @property
    def label(self) -> str:
        return f"{self.cluster}/{self.name}"


@dataclass(frozen=True)
class ReplayedPause:
    """A time in which nothing is sent to a cluster, or in the whole stack where that is empty."""

    cluster: str
    since: float
    until: float


@dataclass(frozen=True)
class Route:
    """A capacity type that a job may take."""

    capacity_type: str
    #: Seconds until the job takes the next route; None to stay.
    wait: float | None = None
    #: The only cluster whose pools it may take; empty for any that fits.
    cluster: str = ""
    #: The submitter chose it, so a full pool is waited for.
    chosen: bool = False
    #: Of machines of its own; empty for the stack's own region.
    region: str = ""

    @property
    def on_pool(self) -> bool:
        return self.capacity_type == POOL

    @property
    def label(self) -> str:
        """Return `flex-start in us-east5`."""
        return f"{self.capacity_type} in {self.region}" if self.region else self.capacity_type


@dataclass(frozen=True)
class ReplayedJob:
    """A job that is sent again: at the same moment, for the same run time, by the first of its routes that takes it."""

    name: str
    template: str
    created: float
    #: The run time in seconds.
    run: float
    machines: tuple[MachineGroup, ...]
    routes: tuple[Route, ...]
    #: Seconds until its machines beside the pools exist, by the label of a route; None where that is not known.
    delays: Mapping[str, float | None] = field(default_factory=dict)
    #: Seconds until its start in the past, abandoned attempts included.
    waited: float | None = None
    past: PastJob | None = None
    #: Its wait and cost are reported; other jobs only hold machines.
    counted: bool = True
    team: str = ""
    #: It is a run of a sweep, which above its team's share goes onto free machines alone.
    of_sweep: bool = False
    #: Others make room for it on a full pool.
    urgent: bool = False
    #: It makes room for an urgent job, and goes on behind it.
    yields: bool = False
    #: Pauses hold it; not one that was sent in a pause all the same.
    pausable: bool = True

    @property
    def moved(self) -> bool:
        """Tell whether its machines differ from those of the past."""
        had = self.past.machines if self.past else ()
        return self.past is not None and [used.machine for used in had] != [group.machine for group in self.machines]


@dataclass(frozen=True)
class ReplayedRun:
    """A job's run in a replay."""

    job: ReplayedJob
    #: None for a job that never ran.
    started: float | None = None
    #: None for a job that never ran; where only its start is missing, nobody knows how long it waits there.
    route: Route | None = None
    #: Machines by the place of their pool among the replay's.
    pools: tuple[tuple[int, int], ...] = ()
    #: The moments at which it made room, each with that at which it went on.
    breaks: tuple[tuple[float, float], ...] = ()

    @property
    def capacity_type(self) -> str:
        return self.route.capacity_type if self.route else ""

    @property
    def wait(self) -> float | None:
        return None if self.started is None else self.started - self.job.created


@dataclass(frozen=True)
class PoolUse:
    """The use of a pool within the replayed time."""

    pool: ReplayedPool
    #: Machine seconds, all and those that jobs held.
    live: float
    held: float
    #: The most machines that jobs held at once.
    most: int


@dataclass(frozen=True)
class Replay:
    """The fates of jobs on pools."""

    #: In the order in which the jobs were given.
    runs: tuple[ReplayedRun, ...]
    pools: tuple[PoolUse, ...]
