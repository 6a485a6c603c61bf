"""Clusters that are not asked for any more: they go, before or after their successors are made, or stay. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime, timedelta

from slipway.catalog.document import PublishedCatalog
from slipway.catalog.forms import Removed
from slipway.cloud.clusters import RUNNING_STATES, PersistentResource
from slipway.cloud.jobs import VertexJob
from slipway.cluster import IN_PLACE, CurrentCluster
from slipway.formatting import join
from slipway.generations.action import Why
from slipway.generations.dormant import DormantCluster
from slipway.labels import NAME_LABEL
from slipway.live import Unknown

DELETABLE_STATES = RUNNING_STATES | {"ERROR"}
"""In these the API deletes a cluster; in the others it refuses."""


def successor(cluster: PersistentResource, current: Iterable[CurrentCluster]) -> CurrentCluster | None:
    return next((item for item in current if item.spec.name == cluster.labels[NAME_LABEL]), None)


def why_keep(
    cluster: PersistentResource,
    jobs: tuple[VertexJob, ...],
    follows: CurrentCluster | None,
    catalog: PublishedCatalog | Unknown | None,
) -> Why | Unknown | None:
    """The reason why it stays declared; None when it goes. `follows` is its successor, `jobs` have not ended."""
    if jobs:
        return Why.JOBS
    if cluster.state == "STOPPING":
        return None  # It is going already: importing it would race with its end.
    if cluster.in_use:
        return Why.IN_USE
    if cluster.state not in DELETABLE_STATES:
        return Why.BUSY_STATE
    # One that is made by this `up` needs no rule: what it follows is deleted last (or see `goes_ahead`), and not when a
    # create failed.
    if follows is not None and follows.import_ and follows.state not in RUNNING_STATES:
        return Why.SUCCESSOR
    if isinstance(catalog, Unknown):
        return catalog
    if catalog is not None and catalog.damage:
        return Why.DAMAGED  # It may be offered to submitters: the catalog of this deployment ends that.
    return None if catalog is not None and catalog.lists(cluster.id) else Why.UNPUBLISHED


def goes_first(cluster: PersistentResource, follows: CurrentCluster | None) -> bool:
    """Tell whether its machines are needed for its successor, as there may be none for both. A failed one has none."""
    replaces = follows is not None and not follows.import_ and follows.spec.replacement == IN_PLACE
    return replaces and not cluster.failed


def goes_ahead(
    cluster: PersistentResource,
    follows: CurrentCluster | None,
    catalog: PublishedCatalog | Unknown | None,
    ours: Mapping[str, PersistentResource],
    *,
    rests: bool,
) -> bool:
    """Tell whether one that goes need not wait for what this deployment makes, which may take days: nobody is sent to
    it any more, or it `rests` from now on. One that may still be needed, as its successor is not there or not offered
    yet, waits. `ours` are the living ones by id. A failed one holds nothing."""
    if cluster.failed or not isinstance(catalog, PublishedCatalog) or catalog.damage:
        return False
    name = cluster.labels[NAME_LABEL]
    if catalog.offers(cluster.id):
        return catalog.whole is not None and rests
    offered = ours.get(catalog.clusters.get(name, ""))
    return follows is None or follows.import_ or (offered is not None and offered.state in RUNNING_STATES)


def not_withdrawable(ids: Collection[str], catalog: PublishedCatalog | Unknown | None) -> Iterator[str]:
    """A problem where clusters have to go from a catalog that this version does not read."""
    if ids and isinstance(catalog, PublishedCatalog) and catalog.whole is None and not catalog.damage:
        yield (
            f"{join(ids)} is to be replaced in place, and another version published the catalog: put the entry back, "
            "pulumi up once with this version, and make the edit after that"
        )


def overdue(
    follows: CurrentCluster | None,
    rests: DormantCluster | None,
    clusters: Mapping[str, PersistentResource],
    now: datetime | None,
    gone: Removed | None = None,
) -> bool:
    """Counted from its successor's creation, or from when it was not asked for any more; `gone` is of an entry that the
    stack file does not have."""
    if follows is not None:
        within, since = follows.spec.retire_within, clusters[follows.id].create_time if follows.id in clusters else None
    elif rests is not None:
        within, since = rests.spec.retire_within, rests.since
    else:
        within, since = (timedelta(seconds=gone.retire_within), gone.since) if gone else (None, None)
    return now is not None and since is not None and within is not None and now - since > within


def removed(
    cluster: PersistentResource,
    named: Collection[str],
    catalog: PublishedCatalog | Unknown | None,
    now: datetime | None,
) -> Removed | None:
    """The time by which it should be gone where no entry says so any more: as the catalog remembers it, or from now on
    by the limit of the entry that was deployed last. None for one that is `named` by an entry, and where there is no
    limit."""
    name = cluster.labels[NAME_LABEL]
    whole = catalog.whole if isinstance(catalog, PublishedCatalog) else None
    if whole is None or name in named:
        return None
    if known := (whole.removed or {}).get(cluster.id):
        return known
    last = whole.clusters.get(name) or whole.dormant.get(name)
    return Removed(last.retire_within, now) if last and last.retire_within and now else None
