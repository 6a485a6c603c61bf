"""A catalog that no longer offers some clusters, so that no job is sent to them: they are being replaced in place,
become dormant, or have come to the end of their season since its publication."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields, replace
from datetime import datetime
from typing import Any

from slipway.model.catalog.clusters import Cluster, DormantCluster
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.template import Offer

UNCOMMITTED = "uncommitted"
"""The mark of a deployment that nobody else can continue, in place of its commit: without a mark, its withdrawal of a
cluster would be taken for a change by hand."""


def mark_under_way(catalog: Catalog, commit: str) -> Catalog:
    """Return the catalog with the commit of a deployment that has begun, empty where nobody else can continue it."""
    return replace(catalog, under_way=commit or UNCOMMITTED)


def withdrawn(catalog: Catalog, ids: Collection[str], since: datetime) -> Catalog:
    """Return the catalog with the clusters of these ids dormant, as they are being replaced in place."""
    going = {
        name: DormantCluster(**_fields(cluster), why="in-place", since=since)
        for name, cluster in catalog.clusters.items()
        if cluster.id in ids
    }
    return _move_to_dormant(catalog, going)


def with_dormant(catalog: Catalog, dormant: Mapping[str, DormantCluster]) -> Catalog:
    """Return the catalog with these clusters dormant, as they are here, and retiring: no job is sent to them."""
    going = {
        name: dormant[name] for name, cluster in catalog.clusters.items() if name in dormant and not cluster.adopted
    }
    ids = (*catalog.retiring, *(catalog.clusters[name].id for name in going))
    return replace(_move_to_dormant(catalog, going), retiring=tuple(dict.fromkeys(ids)))


def in_season(catalog: Catalog, now: datetime) -> Catalog:
    """Return the catalog without the clusters whose season has ended: a job sent there would keep them."""
    ended = {
        name: DormantCluster(**_fields(cluster), why="season", since=cluster.season.ends)
        for name, cluster in catalog.clusters.items()
        if cluster.season.ends and cluster.season.ends <= now
    }
    return with_dormant(catalog, ended) if ended else catalog


def ended_between(then: Catalog, now: Catalog) -> tuple[str, ...]:
    """Return the clusters whose season ended, where that is the whole difference of two catalogs; else none."""
    ended = {name: now.dormant[name] for name in then.clusters if name in now.dormant}
    return tuple(ended) if ended and with_dormant(then, ended) == now else ()


def _move_to_dormant(catalog: Catalog, going: Mapping[str, DormantCluster]) -> Catalog:
    """Return the catalog with the clusters that go, by name, among the dormant, and the reason in their offers."""

    def withdraw(offer: Offer) -> Offer:
        name = offer.cluster
        if name not in going:
            return offer
        why = going[name].words
        return replace(offer, available=False, why=why, cluster="", pools=(), lacks_quota=False, dormant=name)

    templates = {
        name: replace(template, offers=tuple(map(withdraw, template.offers)))
        for name, template in catalog.templates.items()
    }
    clusters = {name: cluster for name, cluster in catalog.clusters.items() if name not in going}
    return replace(catalog, clusters=clusters, templates=templates, dormant={**catalog.dormant, **going})


def before_withdrawal(catalog: Catalog) -> Catalog:
    """Return the catalog with its clusters as they were deployed, where an unfinished deployment has withdrawn some."""
    in_place = replacing(catalog)
    returned = {name: Cluster(**_fields(cluster)) for name, cluster in catalog.dormant.items() if name in in_place}
    clusters = {**catalog.clusters, **returned}
    dormant = {name: cluster for name, cluster in catalog.dormant.items() if name not in in_place}
    return replace(catalog, clusters=clusters, dormant=dormant, under_way=None)


def replacing(catalog: Catalog) -> frozenset[str]:
    """Return the names of clusters that an unfinished deployment was replacing in place."""
    return frozenset(name for name, cluster in catalog.dormant.items() if cluster.why == "in-place")


def unfinished(catalog: Catalog) -> bool:
    """Tell whether a later deployment did not come to its end."""
    # A deployment writes these into the catalog before it comes to its end.
    return bool(catalog.under_way or replacing(catalog))


def _fields(cluster: Cluster) -> dict[str, Any]:
    """Return the fields of `Cluster`, without those that a dormant one has besides."""
    return {field.name: getattr(cluster, field.name) for field in fields(Cluster)}
