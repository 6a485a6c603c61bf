"""A custom job as it runs: what it needs, where it was put, how it is ending."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from local.cloud.vertex.names import id_of, location_of
from local.cloud.vertex.shape import Shape, shape_of

State = Literal[
    "JOB_STATE_QUEUED",
    "JOB_STATE_PENDING",
    "JOB_STATE_RUNNING",
    "JOB_STATE_CANCELLING",
    "JOB_STATE_SUCCEEDED",
    "JOB_STATE_FAILED",
    "JOB_STATE_CANCELLED",
]
ENDED = ("JOB_STATE_SUCCEEDED", "JOB_STATE_FAILED", "JOB_STATE_CANCELLED")
DEFAULT_TIMEOUT_S = 7 * 24 * 3600


@dataclass(frozen=True)
class Demand:
    """`count` replicas of one shape for the worker pool at `index`."""

    index: int
    shape: Shape
    count: int


@dataclass(frozen=True)
class Replica:
    """One replica that was given a machine: of a cluster's pool, or of its own (`pool` None). `host` is its address."""

    index: int
    number: int
    pool: str | None
    host: str
    port: int
    open_port: int

    @property
    def name(self) -> str:
        return f"workerpool{self.index}-{self.number}"

    @property
    def chief(self) -> bool:
        return self.index == 0 and self.number == 0


@dataclass(frozen=True)
class Outcome:
    """How a run is to end once its replicas have: a state, or `retry` for another attempt."""

    state: State | Literal["retry"]
    code: int = 0
    message: str = ""


@dataclass(frozen=True)
class Run:
    """A job that has not ended. `number` orders runs by creation; `timeout_s` counts from RUNNING; `trial` is the id
    of the trial it runs, where it belongs to a tuning job."""

    number: int
    name: str
    state: State
    cluster: str | None
    spot: bool
    demands: tuple[Demand, ...]
    timeout_s: float
    may_retry: bool
    email: str
    attempt: int = 1
    replicas: tuple[Replica, ...] = ()
    start_time: str | None = None
    cancelled: str | None = None
    outcome: Outcome | None = None
    trial: str | None = None

    @property
    def id(self) -> str:
        return id_of(self.name)

    @property
    def region(self) -> str:
        return location_of(self.name)

    @property
    def holds_machines(self) -> bool:
        return bool(self.replicas)

    def machines(self) -> list[tuple[Shape, int]]:
        return [(demand.shape, demand.count) for demand in self.demands]


def demands_of(spec: Mapping[str, Any]) -> tuple[Demand, ...]:
    """What a canonical job spec needs; worker pools that are skipped (`{}`) need nothing."""
    return tuple(
        Demand(index, shape_of(pool["machineSpec"], pool.get("diskSpec", {})), int(pool["replicaCount"]))
        for index, pool in enumerate(spec["workerPoolSpecs"])
        if pool
    )


def dump(run: Run) -> dict[str, Any]:
    """A run as a document for the store."""
    return asdict(run)


def load(document: Mapping[str, Any]) -> Run:
    """A run from its document."""
    demands = tuple(Demand(**{**item, "shape": Shape(**item["shape"])}) for item in document["demands"])
    replicas = tuple(Replica(**item) for item in document["replicas"])
    outcome = Outcome(**document["outcome"]) if document["outcome"] else None
    return Run(**{**document, "demands": demands, "replicas": replicas, "outcome": outcome})
