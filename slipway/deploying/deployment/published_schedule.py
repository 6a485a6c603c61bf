"""The schedule of a published catalog: events that its deployments bring by themselves, as far as known. Pure."""

from __future__ import annotations

from datetime import datetime

from slipway.base.errors import ConfigError, ResourceError
from slipway.base.installation import updating
from slipway.deploying.deployment.plan import plan
from slipway.deploying.deployment.schedule import Due, schedule
from slipway.google.live import Live
from slipway.model.catalog.clusters import Cluster
from slipway.model.catalog.model import Catalog
from slipway.model.fingerprint import cluster_id, fingerprint_of


def upcoming(catalog: Catalog, live: Live, now: datetime) -> tuple[Due, ...]:
    """Return the events of the next and later deployments of the published catalog, without clusters that are being
    replaced in place: the catalog does not tell their successors. Pure.

    Raises ConfigError for a catalog that does not tell all of its clusters, ResourceError where nothing can be planned.
    """
    rests = (dormant for dormant in catalog.dormant.values() if dormant.why != "in-place")
    clusters: tuple[Cluster, ...] = (*catalog.clusters.values(), *rests)
    for cluster in clusters:
        known = cluster_id(
            cluster.name, fingerprint_of(catalog.identity.label, catalog.project, catalog.region, cluster)
        )
        if not (cluster.adopted or cluster.id.startswith(known)):
            raise ConfigError(
                f"the catalog {catalog.source} does not tell all of cluster {cluster.name}",
                why="a later version published it",
                fix=updating(),
            )
    decided = plan(
        clusters,
        live,
        stack=catalog.identity.label,
        project=catalog.project,
        region=catalog.region,
        origin=catalog.origin,
        now=now,
        waits={name: dict.fromkeys(dormant.lacks, "") for name, dormant in catalog.dormant.items() if dormant.lacks},
    )
    if decided.problems:
        raise ResourceError("what is due can't be told", why="\n".join(decided.problems), fix="correct that first")
    return schedule(decided, live, catalog.region, now)
