"""A catalog that no longer offers some clusters, so that no job is sent to them: they are being replaced in place,
become dormant, or have come to the end of their season since its publication."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields, replace
from datetime import datetime
from typing import Any

from slipway.model.catalog.clusters import Cluster, DormantCluster
from slipway.model.catalog.model import Catalog, Offer

UNCOMMITTED = "uncommitted"
"""In place of a commit: nobody can continue that deployment, and its effect on the catalog is its own."""


def begun(catalog: Catalog, commit: str) -> Catalog:
    """Return the catalog with the commit of a deployment that has begun; empty where nobody else has it to continue
    with."""
    return replace(catalog, under_way=commit or UNCOMMITTED)


def withdrawn(catalog: Catalog, ids: Collection[str], since: datetime) -> Catalog:
    """Withdraw the clusters of these ids, which become dormant; their offers say so."""
    going = {
        name: DormantCluster(**_fields(one), why="in-place", since=since)
        for name, one in catalog.clusters.items()
        if one.id in ids
    }
    return _resting(catalog, going)


def over(catalog: Catalog, dormant: Mapping[str, DormantCluster]) -> Catalog:
    """Return the catalog with these clusters dormant, as they are here, and retiring: no job is sent to them."""
    going = {name: dormant[name] for name, one in catalog.clusters.items() if name in dormant and not one.adopted}
    ids = (*catalog.retiring, *(catalog.clusters[name].id for name in going))
    return replace(_resting(catalog, going), retiring=tuple(dict.fromkeys(ids)))


def in_season(catalog: Catalog, now: datetime) -> Catalog:
    """Leave out the clusters whose season has ended by now: a job that is sent there would keep the cluster, and grow
    it, until the next deployment."""
    ended = {
        name: DormantCluster(**_fields(one), why="season", since=one.season.ends)
        for name, one in catalog.clusters.items()
        if one.season.ends and one.season.ends <= now
    }
    return over(catalog, ended) if ended else catalog


def ended_between(then: Catalog, now: Catalog) -> tuple[str, ...]:
    """Return the clusters whose season ended, where that is the whole difference between the two catalogs; else
    none."""
    ended = {name: now.dormant[name] for name in then.clusters if name in now.dormant}
    return tuple(ended) if ended and over(then, ended) == now else ()


def _resting(catalog: Catalog, going: Mapping[str, DormantCluster]) -> Catalog:
    """Leave out the clusters that go, by name, and give the reason in their offers."""

    def offer(one: Offer) -> Offer:
        name = one.cluster
        if name not in going:
            return one
        why = going[name].words
        return replace(one, available=False, why=why, cluster="", pools=(), lacks_quota=False, dormant=name)

    templates = {name: replace(one, offers=tuple(map(offer, one.offers))) for name, one in catalog.templates.items()}
    clusters = {name: one for name, one in catalog.clusters.items() if name not in going}
    return replace(catalog, clusters=clusters, templates=templates, dormant={**catalog.dormant, **going})


def before_withdrawal(catalog: Catalog) -> Catalog:
    """Return the catalog with its clusters as they were deployed, where an unfinished deployment has withdrawn some."""
    came = {name: one for name, one in catalog.dormant.items() if one.why == "in-place"}
    clusters = {**catalog.clusters, **{name: Cluster(**_fields(one)) for name, one in came.items()}}
    dormant = {name: one for name, one in catalog.dormant.items() if name not in came}
    return replace(catalog, clusters=clusters, dormant=dormant, under_way=None)


def replacing(catalog: Catalog) -> frozenset[str]:
    """Return the names of clusters that an unfinished deployment was replacing in place."""
    return frozenset(name for name, one in catalog.dormant.items() if one.why == "in-place")


def unfinished(catalog: Catalog) -> bool:
    """Tell whether a later deployment did not come to its end: it writes the catalog before that."""
    return bool(catalog.under_way or replacing(catalog))


def _fields(cluster: Cluster) -> dict[str, Any]:
    """Return the fields of a cluster on offer."""
    return {one.name: getattr(cluster, one.name) for one in fields(Cluster)}
