"""The grounds of a verdict: who draws which metric, how much lives, and which limits are known.

The present draw is counted from live clusters and the jobs beside them, as no API tells it reliably.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from slipway.google.clusters import PersistentResource
from slipway.google.jobs import VertexJob
from slipway.google.live import Live, QuotaLimit, Unknown
from slipway.google.quota.metrics import Need, needs_of, rank
from slipway.model.capacity import RESERVATION
from slipway.model.cluster import ClusterSpec, CurrentCluster, PoolSpec
from slipway.model.machines.spec import MachineGroup
from slipway.model.machines.table import MachineError

if TYPE_CHECKING:  # A report is a table, and a call from Python loads none.
    from slipway.google.quota.report import OfferDraw

_NOT_STARTED = frozenset({"JOB_STATE_QUEUED", "JOB_STATE_PAUSED"})


@dataclass(frozen=True)
class Usage:
    """Amounts in use, by metric."""

    #: Held by the stack's current clusters.
    own: Mapping[str, int] = field(default_factory=dict)
    #: Held by its old generations.
    old: Mapping[str, int] = field(default_factory=dict)
    #: Held by all others.
    others: Mapping[str, int] = field(default_factory=dict)
    #: Sentences on clusters and jobs that are left out.
    uncounted: tuple[str, ...] = ()

    def total(self, metric: str) -> int:
        return self.own.get(metric, 0) + self.old.get(metric, 0) + self.others.get(metric, 0)


@dataclass(frozen=True)
class Share:
    """A pool's draw of a metric."""

    cluster: CurrentCluster
    pool: PoolSpec
    each: int
    #: The draw after this `up`.
    now: int

    @property
    def initial(self) -> int:
        """The draw at the pool's creation."""
        return self.each * self.pool.replicas

    @property
    def ceiling(self) -> int:
        return self.each * self.pool.max


def drawn(clusters: Iterable[ClusterSpec], offers: Iterable[OfferDraw]) -> frozenset[str]:
    """Return the metrics that clusters' pools and templates' offers draw: those whose limits a verdict asks for."""
    of_pools = (need for cluster in clusters for pool in cluster.pools for need in _needs_of_one(pool))
    of_offers = (need for draw in offers for need in needs_of(draw.machines, preemptible=draw.preemptible))
    return frozenset(need.metric for need in (*of_pools, *of_offers))


def superseded(clusters: Iterable[PersistentResource], stack: str, wanted: Container[str]) -> frozenset[str]:
    """Return the ids of a stack's old generations among living clusters. `wanted`: the ids of its current ones."""
    return frozenset(cluster.id for cluster in clusters if cluster.made_by(stack) and cluster.id not in wanted)


def usage(
    clusters: tuple[PersistentResource, ...],
    jobs: tuple[VertexJob, ...],
    own: frozenset[str] = frozenset(),
    old: frozenset[str] = frozenset(),
) -> Usage:
    """Count the live machines of every cluster, retiring ones too, and of jobs that run beside the clusters.

    `own` and `old` are ids: of the stack's current clusters, and of its generations that go when they can. Jobs on a
    reservation are not counted: no page says that they draw quota.

    A training pipeline runs as a custom or tuning job, which is counted in its place. A tuning job is counted with all
    trials that may run at once, and the custom jobs of its trials are not counted again.
    """
    trial_prefixes = tuple(f"{job.display_name}-trial-" for job in jobs if job.kind.has_trials and not job.ended)
    by_own, by_old, by_others = (Counter[str]() for _ in range(3))
    uncounted: list[str] = []
    for cluster in clusters:
        if cluster.failed:
            continue  # It has no machines; a cluster in deletion has them until it is gone.
        if cluster.id in own:
            amounts = by_own
        elif cluster.id in old:
            amounts = by_old
        else:
            amounts = by_others
        uncounted += _count(amounts, cluster.machines, preemptible=False, who=f"cluster {cluster.id}")
    for job in jobs:
        if (
            not job.persistent_resource_id
            and not job.ended
            and job.state not in _NOT_STARTED
            and job.capacity_type != RESERVATION
            and (job.kind.runs_itself or job.kind.has_trials)
            and not (job.kind.runs_itself and job.display_name.startswith(trial_prefixes))
        ):
            uncounted += _count(by_others, job.machines, preemptible=job.preemptible, who=f"job {job.display_name}")
    return Usage(own=by_own, old=by_old, others=by_others, uncounted=tuple(uncounted))


def _count(amounts: Counter[str], groups: tuple[MachineGroup, ...], *, preemptible: bool, who: str) -> list[str]:
    """Add the needs of machines to the amounts; return sentences on those that can't be counted."""
    uncounted: list[str] = []
    for group in groups:
        try:
            needs = needs_of((group,), preemptible=preemptible)
        except MachineError as error:
            uncounted.append(f"{who} is not counted: {error.what}")
            continue
        for need in needs:
            amounts[need.metric] += need.amount
    return uncounted


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
            existing = frozenset(cluster.id for cluster in current if cluster.import_)
            self.usage = usage(live.clusters, live.jobs, own=existing, old=old)
        clusters = () if isinstance(live.clusters, Unknown) else live.clusters
        sizes = {(living.id, pool.id): pool.replicas for living in clusters for pool in living.pools}
        shares: dict[str, list[Share]] = {}
        inferred = {need.metric for _, needs in self.draws for need in needs if not need.documented}
        for cluster in current:
            for pool in cluster.spec.pools:
                size = sizes.get((cluster.id, pool.name), pool.replicas) if cluster.import_ else pool.replicas
                for need in _needs_of_one(pool):
                    share = Share(cluster=cluster, pool=pool, each=need.amount, now=need.amount * size)
                    shares.setdefault(need.metric, []).append(share)
                    if not need.documented:
                        inferred.add(need.metric)
        self.shares: Mapping[str, list[Share]] = {metric: shares[metric] for metric in sorted(shares, key=rank)}
        self._inferred = frozenset(inferred)

    def limit(self, metric: str) -> QuotaLimit | str:
        """Return the limit, or the reason why it can't be told."""
        if self.live.skipped:
            return "nothing was read"
        if isinstance(self.live.limits, Unknown):
            return str(self.live.limits)
        return self.live.limits.get(metric) or f"{metric} is not among the quotas that the service lists"

    def unchecked(self, metric: str) -> bool:
        """Tell whether a metric's name was inferred and the service does not list it: there is no limit to compare."""
        limits = self.live.limits
        return metric in self._inferred and not isinstance(limits, Unknown) and metric not in limits

    def lacking(self, need: Need) -> int:
        """Return the amount by which the limit alone is too small; 0 where it suffices or can't be told."""
        limit = self.limit(need.metric)
        return limit.lacks(need.amount) if isinstance(limit, QuotaLimit) else 0


def _needs_of_one(pool: PoolSpec) -> tuple[Need, ...]:
    return needs_of((MachineGroup(pool.machine, 1),))
