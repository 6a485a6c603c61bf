"""A stack's past jobs on its pools, and on others: both outcomes, and their reliability. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property

from slipway.base.formatting import counted, span, span_parts
from slipway.model.catalog.model import Catalog
from slipway.model.cluster import ClusterSpec
from slipway.model.labels import STACK_LABEL
from slipway.operating.history.model import History
from slipway.operating.history.timeline import timelines
from slipway.operating.whatif.calibration import Calibration, calibrate
from slipway.operating.whatif.delays import MeasuredDelays, measure
from slipway.operating.whatif.machine_changes import MachineChanges
from slipway.operating.whatif.model import Replay, ReplayedPool
from slipway.operating.whatif.outcome import Outcome, outcome
from slipway.operating.whatif.past_load import PastLoad
from slipway.operating.whatif.pools import pools_of, pools_over_time
from slipway.operating.whatif.replay import replay
from slipway.operating.whatif.workload import Workload, workload


def jobs_of(jobs: int, seconds: float) -> str:
    """Return `the last 30 days' 412 jobs`, `12 jobs of the last 5 h`."""
    time, count = span(seconds), counted(jobs, "job")
    return f"the last {time}' {count}" if "days" in span_parts(seconds) else f"{count} of the last {time}"


@dataclass(frozen=True)
class Comparison:
    """The same jobs on two sets of pools."""

    before: Outcome
    after: Outcome
    #: The pools before and after are the same.
    unchanged: bool
    calibration: Calibration
    replayer: Replayer

    @property
    def jobs(self) -> int:
        return self.replayer.work.counted


@dataclass(frozen=True)
class Replayer:
    """A history that can be replayed on any pools."""

    history: History
    catalog: Catalog
    #: The jobs as they were.
    past: Workload
    #: The same with the machines that their templates ask for by now.
    work: Workload
    delays: MeasuredDelays = field(default_factory=MeasuredDelays)

    @classmethod
    def of(cls, history: History, catalog: Catalog) -> Replayer:
        load, changes = PastLoad(history), MachineChanges(history.deployments, catalog, catalog)
        past = workload(history, catalog, load)
        return cls(
            history=history,
            catalog=catalog,
            past=past,
            work=workload(history, catalog, load, changes) if changes else past,
            delays=measure(history, load),
        )

    @property
    def length(self) -> float:
        return (self.history.until - self.history.since).total_seconds()

    @property
    def begin(self) -> float:
        """The seconds of the history before the stack: no pool is paid for then."""
        history = self.history
        sent = (job.created for job in history.jobs if job.labels.get(STACK_LABEL) == history.stack and job.created)
        # Earlier deployments may be forgotten or unread: then the first job tells as much.
        first = min((*(deployment.at for deployment in history.deployments), *sent), default=history.since)
        return max(0.0, (first - history.since).total_seconds())

    @property
    def time(self) -> timedelta:
        """The replayed time."""
        return timedelta(seconds=self.length - self.begin)

    def pools(self, clusters: Iterable[ClusterSpec]) -> tuple[ReplayedPool, ...]:
        return pools_of(clusters, self.catalog.region, self.delays, self.history.until)

    def replay(self, pools: tuple[ReplayedPool, ...]) -> Replay:
        return replay(self.work.jobs, pools, self.length, begin=self.begin)

    def outcome(self, pools: tuple[ReplayedPool, ...]) -> Outcome:
        return outcome(self.replay(pools), self.catalog.region)

    @cached_property
    def calibration(self) -> Calibration:
        """The error of a replay of the stack as it was."""
        history = self.history
        pools = pools_over_time(history.deployments, self.catalog.region, self.delays, history.since)
        return calibrate(replay(self.past.jobs, pools, self.length, begin=self.begin), timelines(history))

    def comparison(self, before: Iterable[ClusterSpec], after: Iterable[ClusterSpec]) -> Comparison:
        """Compare two sets of clusters under the same jobs."""
        pools_before, pools_after = self.pools(before), self.pools(after)
        outcome_before = self.outcome(pools_before)
        return Comparison(
            before=outcome_before,
            after=outcome_before if pools_after == pools_before else self.outcome(pools_after),
            unchanged=pools_after == pools_before,
            calibration=self.calibration,
            replayer=self,
        )
