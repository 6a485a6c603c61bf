"""A custom job: its body for people, its run, and the parts of each step in its life."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

from ...clock import timestamp
from ...supply.scenario import Strategy
from ...supply.shape import Shape, shape_of
from ..names import id_of, location_of

State = Literal[
    "JOB_STATE_QUEUED",
    "JOB_STATE_PENDING",
    "JOB_STATE_RUNNING",
    "JOB_STATE_CANCELLING",
    "JOB_STATE_SUCCEEDED",
    "JOB_STATE_FAILED",
    "JOB_STATE_CANCELLED",
    "JOB_STATE_EXPIRED",
]
ENDED = ("JOB_STATE_SUCCEEDED", "JOB_STATE_FAILED", "JOB_STATE_CANCELLED", "JOB_STATE_EXPIRED")
Again = Literal["retry", "restart", "preempted"]
"""Ends of an attempt, not of the job: after an error; as a worker restarted; with the machines taken away."""
CANCELLED, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED = 1, 4, 8
DEFAULT_TIMEOUT_S = 7 * 24 * 3600


@dataclass(frozen=True)
class Demand:
    """The demand for `count` replicas of one shape for the worker pool at `index`."""

    index: int
    shape: Shape
    count: int


@dataclass(frozen=True)
class Replica:
    """A replica that was given a machine: of a cluster's pool, of a reservation (its path), or neither."""

    index: int
    number: int
    pool: str | None
    #: It stays the same when the replica is restarted in place.
    host: str
    port: int
    open_port: int
    reservation: str | None = None
    #: Those in place in this attempt.
    restarts: int = 0
    #: The moment of the last restart.
    lost: str | None = None
    #: When a machine of the job's own is there.
    made: str | None = None

    @property
    def name(self) -> str:
        return f"workerpool{self.index}-{self.number}"

    @property
    def chief(self) -> bool:
        return self.index == 0 and self.number == 0


@dataclass(frozen=True)
class Outcome:
    """The end that a run comes to once its replicas have ended: a state, or another attempt."""

    state: State | Again
    code: int = 0
    message: str = ""
    #: Replicas have these seconds between SIGTERM and SIGKILL; 0 is SIGKILL at once, None the cloud's usual grace.
    grace_s: float | None = None

    @property
    def again(self) -> bool:
        return self.state not in ENDED


@dataclass(frozen=True)
class Run:
    """The run of a job that has not ended."""

    #: It orders runs by creation.
    number: int
    name: str
    state: State
    cluster: str | None
    spot: bool
    demands: tuple[Demand, ...]
    #: It counts time in RUNNING.
    timeout_s: float
    may_retry: bool
    email: str
    attempt: int = 1
    replicas: tuple[Replica, ...] = ()
    #: Of the first RUNNING.
    start_time: str | None = None
    outcome: Outcome | None = None
    flex: bool = False
    #: How long a flex-start job may wait for machines; None is forever.
    max_wait_s: float | None = None
    restart_whole: bool = False
    #: When machines are looked for again.
    due: str | None = None
    #: When the wait of a flex-start job is over.
    deadline: str | None = None
    #: How many looks found no machines since there were some.
    tries: int = 0
    #: Attempts that ended because machines were taken away.
    preemptions: int = 0
    #: Tries to go on after a preemption.
    restarts: int = 0
    #: How often each replica was restarted, by name, since the last attempt that ended in an error.
    worn: Mapping[str, int] = field(default_factory=dict)
    #: RUNNING of this attempt.
    running_since: str | None = None
    #: Seconds in RUNNING before this attempt.
    ran_s: float = 0.0
    #: The id of the trial that it runs, of the job `tuning`.
    trial: str | None = None
    tuning: str | None = None

    @property
    def id(self) -> str:
        return id_of(self.name)

    @property
    def region(self) -> str:
        return location_of(self.name)

    @property
    def strategy(self) -> Strategy:
        return "spot" if self.spot else "flex-start" if self.flex else "standard"

    @property
    def holds_machines(self) -> bool:
        return bool(self.replicas)

    @property
    def failures(self) -> int:
        """The number of attempts that ended in an error."""
        return self.attempt - 1 - self.preemptions

    @property
    def line(self) -> str:
        """The queue that the run waits in, with all that wait in the same way for the same machines and disks."""
        kinds = {
            f"{item.shape.machine_type}/{item.shape.accelerator_type or ''}/{item.shape.disk_type}"
            for item in self.demands
        }
        return f"{self.strategy} {' '.join(sorted(kinds))}"

    def machines(self) -> list[tuple[Shape, int]]:
        return [(demand.shape, demand.count) for demand in self.demands]


@dataclass(frozen=True)
class Job:
    """A job."""

    #: Canonical JSON, for people.
    body: Mapping[str, Any]
    #: None once the job has ended.
    run: Run | None
    #: The service's own log lines on the latest step, (severity, text), yet to be written.
    said: tuple[tuple[str, str], ...] = ()

    @property
    def over(self) -> bool:
        return self.run is None

    def telling(self, text: str, severity: str = "INFO") -> "Job":
        return replace(self, said=(*self.said, (severity, text)))


def demands_of(spec: Mapping[str, Any]) -> tuple[Demand, ...]:
    """Return the demands of a canonical job spec; worker pools that are skipped (`{}`) need nothing."""
    return tuple(
        Demand(index, shape_of(pool["machineSpec"], pool.get("diskSpec", {})), int(pool["replicaCount"]))
        for index, pool in enumerate(spec["workerPoolSpecs"])
        if pool
    )


def changed(job: Job, run: Run, state: State, now: datetime) -> Job:
    """Return a job that goes on in a state. Its time in RUNNING is counted when it leaves that."""
    body = {**job.body, "state": state, "updateTime": timestamp(now)}
    if run.start_time:
        body["startTime"] = run.start_time
    if run.state == "JOB_STATE_RUNNING" and state not in ("JOB_STATE_RUNNING", "JOB_STATE_CANCELLING"):
        run = halted(run, now)
    return Job(body, replace(run, state=state), job.said)


def halted(run: Run, over: datetime) -> Run:
    """Return a run whose replicas ended at a moment, with its time in RUNNING counted."""
    return replace(run, state="JOB_STATE_PENDING", ran_s=running_s(run, over), running_since=None)


def ended(job: Job, run: Run, outcome: Outcome, now: datetime, over: datetime | None = None) -> Job:
    """Return a job at its end, with nothing left to do. Its replicas were `over` before this look, where it had any."""
    assert outcome.state in ENDED
    moments = {"endTime": timestamp(over or now), "updateTime": timestamp(now)}
    body = {**job.body, "state": outcome.state, **moments}
    if run.start_time:
        body["startTime"] = run.start_time
    if outcome.state != "JOB_STATE_SUCCEEDED":
        body["error"] = {"code": outcome.code, "message": outcome.message}
    return Job(body, None, job.said)


def running_s(run: Run, now: datetime) -> float:
    """Return the seconds in RUNNING, in all attempts together."""
    since = run.running_since or run.start_time
    if run.state != "JOB_STATE_RUNNING" or since is None:
        return run.ran_s
    return run.ran_s + (now - datetime.fromisoformat(since)).total_seconds()
