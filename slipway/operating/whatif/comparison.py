"""A stack's past jobs on its pools, and on others: both outcomes, and their reliability. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property

from slipway.base.formatting import counted, span, span_parts
from slipway.model.catalog.model import Catalog
from slipway.model.cluster import ClusterSpec
from slipway.model.labels import STACK_LABEL
from slipway.operating.history.model import History
from slipway.operating.history.timeline import timelines
from slipway.operating.whatif.calibration import Calibration, calibrate
from slipway.operating.whatif.delays import MeasuredDelays, measure
from slipway.operating.whatif.holds import Holds
from slipway.operating.whatif.machine_changes import MachineChanges
from slipway.operating.whatif.model import Replay, ReplayedPause, ReplayedPool
from slipway.operating.whatif.outcome import Outcome, outcome
from slipway.operating.whatif.past_load import PastLoad
from slipway.operating.whatif.pools import pools_of, pools_over_time
from slipway.operating.whatif.replay import replay
from slipway.operating.whatif.routes import Routes
from slipway.operating.whatif.workload import Workload, workload
from slipway.using.jobs.pause import Pause


def jobs_of(jobs: int, seconds: float) -> str:
    """Return `the last 30 days' 412 jobs`, `12 jobs of the last 5 h`."""
    time, count = span(seconds), counted(jobs, "job")
    return f"the last {time}' {count}" if "days" in span_parts(seconds) else f"{count} of the last {time}"


@dataclass(frozen=True)
class Declaration:
    """The part of a stack that a replay depends on."""

    clusters: tuple[ClusterSpec, ...]
    #: Machines of a cluster by team, while others wait.
    shares: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    #: The stack's own first; none for those that are deployed.
    regions: tuple[str, ...] = ()
    #: Other regions of templates than the published ones, by name.
    template_regions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, catalog: Catalog) -> Declaration:
        """Return what is deployed."""
        return cls(tuple(catalog.clusters.values()), catalog.shares or {}, catalog.regions)


@dataclass(frozen=True)
class Comparison:
    """The same jobs under two declarations."""

    before: Outcome
    after: Outcome
    #: Both are the same.
    unchanged: bool
    #: One of them has shares of teams.
    shares: bool
    calibration: Calibration
    #: That of the second one.
    replayer: Replayer

    @property
    def jobs(self) -> int:
        return self.replayer.work.counted


@dataclass(frozen=True)
class Replayer:
    """A history that can be replayed on any pools."""

    history: History
    catalog: Catalog
    load: PastLoad
    changes: MachineChanges
    holds: Holds
    #: The jobs as they were.
    past: Workload
    #: The same with the machines that their templates ask for by now.
    work: Workload
    delays: MeasuredDelays = field(default_factory=MeasuredDelays)

    @classmethod
    def of(cls, history: History, catalog: Catalog, pauses: Iterable[Pause] = ()) -> Replayer:
        load, changes = PastLoad(history), MachineChanges(history.deployments, catalog, catalog)
        replayed = tuple(_replayed(pause, pause.since, history) for pause in pauses if pause.since)
        replayed = tuple(pause for pause in replayed if pause.until > 0)
        routes = Routes(catalog, catalog.regions)
        past = workload(history, routes, load, pauses=replayed)
        return cls(
            history=history,
            catalog=catalog,
            load=load,
            changes=changes,
            holds=Holds(pauses=replayed),
            past=past,
            work=workload(history, routes, load, changes, replayed) if changes else past,
            delays=measure(history, load),
        )

    def under(self, declared: Declaration) -> Replayer:
        """Return the replayer of a stack with other shares and regions."""
        holds, work = replace(self.holds, shares=declared.shares), self.work
        routes = Routes(self.catalog, declared.regions or self.catalog.regions, declared.template_regions)
        if routes.differ:
            work = workload(self.history, routes, self.load, self.changes, holds.pauses)
        return replace(self, holds=holds, work=work)

    @property
    def length(self) -> float:
        return (self.history.until - self.history.since).total_seconds()

    @property
    def begin(self) -> float:
        """The seconds of the history before the stack: no pool is paid for then."""
        history = self.history
        label = self.catalog.identity.label
        sent = (job.created for job in history.jobs if job.labels.get(STACK_LABEL) == label and job.created)
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
        return replay(self.work.jobs, pools, self.length, begin=self.begin, holds=self.holds)

    def outcome(self, pools: tuple[ReplayedPool, ...]) -> Outcome:
        return outcome(self.replay(pools), self.catalog.region)

    @cached_property
    def calibration(self) -> Calibration:
        """The error of a replay of the stack as it was."""
        history = self.history
        pools = pools_over_time(history.deployments, self.catalog.region, self.delays, history.since)
        # Jobs that shares held then are in it from when they were sent.
        holds = replace(self.holds, shares={})
        return calibrate(replay(self.past.jobs, pools, self.length, begin=self.begin, holds=holds), timelines(history))

    def comparison(self, before: Declaration, after: Declaration) -> Comparison:
        """Compare two declarations under the same jobs."""
        old, new = self.under(before), self.under(after)
        pools_before, pools_after = self.pools(before.clusters), self.pools(after.clusters)
        same = (pools_before, old.holds, old.work) == (pools_after, new.holds, new.work)
        outcome_before = old.outcome(pools_before)
        return Comparison(
            before=outcome_before,
            after=outcome_before if same else new.outcome(pools_after),
            unchanged=same,
            shares=bool(before.shares or after.shares),
            calibration=self.calibration,
            replayer=new,
        )


def _replayed(pause: Pause, begin: datetime, history: History) -> ReplayedPause:
    since, until = ((at - history.since).total_seconds() for at in (begin, pause.until or history.until))
    return ReplayedPause(pause.cluster, since, until)
