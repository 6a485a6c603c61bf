"""The grounds of a verdict: who draws which metric, how much lives, and which limits are known.

The present draw is counted from live clusters and the jobs beside them, as no API tells it reliably.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from slipway.google.clusters import PersistentResource
from slipway.google.jobs import VertexJob
from slipway.google.live import Live, QuotaLimit, Unknown
from slipway.google.quota.metrics import Need, needs_of, rank
from slipway.google.quota.report import OfferDraw
from slipway.google.quota.request import lacks
from slipway.model.cluster import ClusterSpec, CurrentCluster, PoolSpec
from slipway.model.machines.spec import MachineGroup
from slipway.model.machines.table import MachineError

_NOT_STARTED = frozenset({"JOB_STATE_QUEUED", "JOB_STATE_PAUSED"})


@dataclass(frozen=True)
class Usage:
    """Amounts by metric: held by the stack's current clusters, by its old generations, and by all others.

    `uncounted`: the parts left out.
    """

    own: Mapping[str, int] = field(default_factory=dict)
    old: Mapping[str, int] = field(default_factory=dict)
    others: Mapping[str, int] = field(default_factory=dict)
    uncounted: tuple[str, ...] = ()

    def total(self, metric: str) -> int:
        return self.own.get(metric, 0) + self.old.get(metric, 0) + self.others.get(metric, 0)


@dataclass(frozen=True)
class Share:
    """A pool's draw of a metric: `each` per machine, `now` after this `up`, `initial` at its creation."""

    cluster: CurrentCluster
    pool: PoolSpec
    each: int
    now: int

    @property
    def initial(self) -> int:
        return self.each * self.pool.replicas

    @property
    def ceiling(self) -> int:
        return self.each * self.pool.max


def drawn(clusters: Iterable[ClusterSpec], offers: Iterable[OfferDraw]) -> frozenset[str]:
    """Return the metrics that clusters' pools and templates' offers draw: those whose limits a verdict asks for."""
    of_pools = (need for cluster in clusters for pool in cluster.pools for need in _needs_of_one(pool))
    of_offers = (need for draw in offers for need in needs_of(draw.machines, preemptible=draw.preemptible))
    return frozenset(need.metric for need in (*of_pools, *of_offers))


def usage(
    clusters: tuple[PersistentResource, ...],
    jobs: tuple[VertexJob, ...],
    own: frozenset[str] = frozenset(),
    old: frozenset[str] = frozenset(),
) -> Usage:
    """Count the live machines of every cluster, retiring ones too, and of jobs that run beside the clusters.

    `own` and `old` are ids: of the stack's current clusters, and of its generations that go when they can.

    A training pipeline runs as a custom or tuning job, which is counted in its place. A tuning job is counted with all
    trials that may run at once, and the custom jobs of its trials are not counted again.
    """
    tuning = tuple(f"{job.display_name}-trial-" for job in jobs if job.kind.has_trials and not job.ended)
    mine: Counter[str] = Counter()
    leaving: Counter[str] = Counter()
    others: Counter[str] = Counter()
    uncounted: list[str] = []
    for cluster in clusters:
        if not cluster.failed:  # A cluster in deletion has its machines until it is gone.
            target = mine if cluster.id in own else leaving if cluster.id in old else others
            uncounted += _count(target, cluster.machines, preemptible=False, who=f"cluster {cluster.id}")
    for job in jobs:
        if (
            not job.persistent_resource_id
            and not job.ended
            and job.state not in _NOT_STARTED
            and (job.kind.runs_itself or job.kind.has_trials)
            and not (job.kind.runs_itself and job.display_name.startswith(tuning))
        ):
            uncounted += _count(others, job.machines, preemptible=job.preemptible, who=f"job {job.display_name}")
    return Usage(mine, leaving, others, tuple(uncounted))


def _count(target: Counter[str], groups: tuple[MachineGroup, ...], *, preemptible: bool, who: str) -> list[str]:
    missed: list[str] = []
    for group in groups:
        try:
            found = needs_of((group,), preemptible=preemptible)
        except MachineError as error:
            missed.append(f"{who} is not counted: {error.what}")
            continue
        for need in found:
            target[need.metric] += need.amount
    return missed


class Grounds:
    """A region's limits, who draws on them, and how much: gathered once for a verdict, and only read then."""

    def __init__(
        self,
        current: tuple[CurrentCluster, ...],
        live: Live,
        region: str,
        offers: tuple[OfferDraw, ...],
        old: frozenset[str],
    ) -> None:
        self.current, self.live, self.region, self.old = current, live, region, old
        self.draws = tuple((draw, needs_of(draw.machines, preemptible=draw.preemptible)) for draw in offers)
        self.usage: Usage | None = None
        if not (live.skipped or isinstance(live.clusters, Unknown) or isinstance(live.jobs, Unknown)):
            self.usage = usage(live.clusters, live.jobs, frozenset(item.id for item in current if item.import_), old)
        clusters = () if isinstance(live.clusters, Unknown) else live.clusters
        sizes = {(one.id, pool.id): pool.replicas for one in clusters for pool in one.pools}
        found: dict[str, list[Share]] = {}
        inferred = {need.metric for _, needs in self.draws for need in needs if not need.documented}
        for item in current:
            for pool in item.spec.pools:
                size = sizes.get((item.id, pool.name), pool.replicas) if item.import_ else pool.replicas
                for need in _needs_of_one(pool):
                    found.setdefault(need.metric, []).append(Share(item, pool, need.amount, need.amount * size))
                    inferred |= set() if need.documented else {need.metric}
        self.shares: Mapping[str, list[Share]] = {metric: found[metric] for metric in sorted(found, key=rank)}
        self._inferred = frozenset(inferred)

    def limit(self, metric: str) -> QuotaLimit | str:
        """Return the limit, or why it can't be told."""
        if self.live.skipped:
            return "nothing was read"
        if isinstance(self.live.limits, Unknown):
            return str(self.live.limits)
        return self.live.limits.get(metric) or f"{metric} is not among the quotas that the service lists"

    def unchecked(self, metric: str) -> bool:
        """Tell whether a name was inferred that the service does not list: then there is no limit to compare with."""
        limits = self.live.limits
        return metric in self._inferred and not isinstance(limits, Unknown) and metric not in limits

    def lacking(self, need: Need) -> int:
        """Return the amount by which the limit alone is too small; 0 where it suffices or can't be told."""
        limit = self.limit(need.metric)
        return need.amount - limit.limit if isinstance(limit, QuotaLimit) and lacks(limit, need.amount) else 0


def _needs_of_one(pool: PoolSpec) -> tuple[Need, ...]:
    return needs_of((MachineGroup(pool.machine, 1),))
