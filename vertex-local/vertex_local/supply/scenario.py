"""A scenario: how many machines there are and when, preempted Spot jobs, reservations, and values of GPUs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, get_args

from .gpu_recording import GpuRecording

Strategy = Literal["standard", "spot", "flex-start"]
"""The way to get machines: persistent resources and jobs without a strategy are `standard`."""
STRATEGIES = ("any", *get_args(Strategy))
SHARED = "ALLOW_ALL"


@dataclass(frozen=True)
class Entry:
    """An entry: from `at` seconds after the scenario's start, a region has `machines` of a type for a strategy. `any`
    bounds all strategies together, beside the bounds of each."""

    at: float
    region: str
    machine: str
    strategy: str
    machines: int


@dataclass(frozen=True)
class Preemption:
    """A preemption: `after` seconds a Spot job named `job…` loses `replica`, `times` times (-1 is always)."""

    job: str
    replica: str
    after: float
    times: int


@dataclass(frozen=True)
class Chance:
    """Preemption at random: `rate_per_hour` for each running replica; the same seed gives the same times."""

    rate_per_hour: float
    seed: int


@dataclass(frozen=True)
class Reservation:
    """A reservation of machines of one kind."""

    path: str
    machine: str
    accelerator: str | None
    accelerator_count: int
    count: int
    #: Its service share type.
    share: str = SHARED
    #: Seconds after the scenario's start. One with an end is of a future reservation in calendar mode.
    begins: float = 0.0
    ends: float | None = None

    def over(self, elapsed_s: float) -> bool:
        return self.ends is not None and self.ends <= elapsed_s

    @property
    def zone(self) -> str:
        return self.path.split("/")[3]

    @property
    def region(self) -> str:
        return self.zone.rpartition("-")[0]


@dataclass(frozen=True)
class Playback:
    """A playback: the GPUs of a job whose display name starts with `job` show a recording, from the job's start on."""

    job: str
    recording: GpuRecording


@dataclass(frozen=True)
class Scenario:
    """A scenario. A machine without an entry is unlimited."""

    supply: tuple[Entry, ...] = ()
    preemptions: tuple[Preemption, ...] = ()
    chance: Chance | None = None
    #: From SIGTERM to SIGKILL for Spot.
    notice_s: float | None = None
    reservations: Mapping[str, Reservation] = field(default_factory=lambda: MappingProxyType({}))
    playbacks: tuple[Playback, ...] = ()

    def limits(self, region: str, elapsed_s: float) -> dict[tuple[str, str], int]:
        """Return (machine, strategy) to machines as they are: of each, the entry that began last."""
        by_kind: dict[tuple[str, str], int] = {}
        for entry in sorted(self.supply, key=lambda entry: entry.at):
            if entry.region == region and entry.at <= elapsed_s:
                by_kind[entry.machine, entry.strategy] = entry.machines
        return by_kind

    def recording_of(self, display_name: str) -> GpuRecording | None:
        """Return the recording for a job's GPUs, None where there is none."""
        return next((playback.recording for playback in self.playbacks if display_name.startswith(playback.job)), None)
