"""The quota verdict of what is deployed, from a catalog and from what lives."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from slipway.catalog.clusters import Cluster, DormantCluster
from slipway.catalog.model import Catalog
from slipway.cluster import ClusterSpec, CurrentCluster
from slipway.labels import STACK_LABEL
from slipway.live import Live, Unknown
from slipway.quota.assessment import assess
from slipway.quota.report import OfferDraw, QuotaReport
from slipway.quota.seasons import readiness, with_coming
from slipway.quota.usage import drawn


def judge(catalog: Catalog, live: Live, now: datetime, draws: tuple[OfferDraw, ...] = ()) -> QuotaReport:
    """Report on what the catalog has deployed and offers, and on what seasons are to bring. Pure."""
    alive = () if isinstance(live.clusters, Unknown) else live.clusters
    states = {cluster.id: cluster.state for cluster in alive}
    current = tuple(
        CurrentCluster(spec(cluster), cluster.id, "", cluster.id in states, states.get(cluster.id, ""))
        for cluster in catalog.clusters.values()
    )
    known = {item.id for item in current}
    old = frozenset(
        cluster.id for cluster in alive if cluster.id not in known and cluster.labels.get(STACK_LABEL) == catalog.stack
    )
    report = assess(current, live, region=catalog.region, offers=draws, mode="warn", preview=True, old=old)
    rest = [CurrentCluster(spec(one), one.id, "", import_=False) for one in coming(catalog)]
    return with_coming(report, readiness(current, rest, live, region=catalog.region, now=now, old=old))


def coming(catalog: Catalog) -> list[DormantCluster]:
    """Dormant clusters that come without an edit."""
    return [one for one in catalog.dormant.values() if one.comes]


def metrics(catalog: Catalog, draws: tuple[OfferDraw, ...] = ()) -> frozenset[str]:
    """Metrics whose limits the verdict needs."""
    return drawn(map(spec, (*catalog.clusters.values(), *coming(catalog))), draws)


def quota_ids(live: Live) -> Mapping[str, str] | None:
    """The ids of the quotas that were read, by metric; where they could not be, those that are published, if any."""
    if not isinstance(live.limits, Unknown):
        return {metric: limit.quota_id for metric, limit in live.limits.items() if limit.quota_id}
    return live.deployed.quotas if live.deployed else None


def spec(cluster: Cluster) -> ClusterSpec:
    pools = tuple(cluster.pools.values())
    return ClusterSpec(cluster.name, pools, region=cluster.region or "", season=cluster.season)
