"""What people may submit to while clusters are being made, which may take days: all else that is deployed goes first.

A cluster that is not there yet is offered as its predecessor, where that lives. One whose entry is gone is offered too,
as what is made may come in its place. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from slipway.catalog.clusters import Cluster
from slipway.catalog.document import PublishedCatalog
from slipway.catalog.model import Catalog, Template
from slipway.cluster import CurrentCluster
from slipway.deployment.alternatives import as_made
from slipway.deployment.plan import Plan
from slipway.generations.action import What
from slipway.generations.current_generation import SPENT_STATES
from slipway.generations.dormant import DormantCluster
from slipway.generations.published_clusters import declared
from slipway.live import Live, Unknown
from slipway.season import MACHINES


def interim(plan: Plan, live: Live, catalog_of: Callable[[Plan], Catalog]) -> Callable[[Mapping[str, str]], Catalog]:
    """What is offered when some of the clusters to be made run. `catalog_of` gives what is published of a plan."""

    def offered(made: Mapping[str, str]) -> Catalog:
        return _as_published(catalog_of(_there(as_made(plan, made), live, made)), plan, live)

    return offered


def _there(plan: Plan, live: Live, made: Collection[str]) -> Plan:
    """The plan for what is there when of the clusters to be made, by the ids asked for, these run."""
    stays = _offered(live)
    current, dormant = [], list(plan.dormant)
    named = {*(one.spec.name for one in plan.current), *(one.spec.name for one in plan.dormant)}
    for one in plan.current:
        if one.import_ or one.id in made:
            current.append(one)
        elif was := stays.get(one.spec.name):
            current.append(CurrentCluster(declared(was), was.id, "", import_=True))
        else:
            lacks = {MACHINES: ""} if one.spec.season.begins else {}
            dormant.append(DormantCluster(one.spec, one.id, "season", lacks=lacks))
    gone = (one for name, one in stays.items() if name not in named)
    current += (CurrentCluster(declared(was), was.id, "", import_=True) for was in gone)
    return plan.with_clusters(current, dormant)


def _as_published(catalog: Catalog, plan: Plan, live: Live) -> Catalog:
    """`catalog` is of what is there, `plan` the whole one. What waits for clusters that are being made is as it
    is published: their predecessors, and templates that would lose these."""
    whole = live.catalog.whole if isinstance(live.catalog, PublishedCatalog) else None
    last = (one.id for one in plan.of(What.DELETE_LAST) if not catalog.cluster_named(one.id))
    catalog = replace(catalog, retiring=tuple(dict.fromkeys((*catalog.retiring, *last))))
    if whole is None:
        return catalog
    settled = {*(one.spec.name for one in plan.current if one.import_), *(one.spec.name for one in plan.dormant)}
    was = {name: one for name, one in whole.clusters.items() if name not in settled and catalog.cluster_named(one.id)}
    rests = {name: one for name, one in whole.dormant.items() if one.why == "in-place" and name in catalog.dormant}
    templates = {
        name: before if (before := whole.templates.get(name)) and _loses(before, now, was) else now
        for name, now in catalog.templates.items()
    }
    clusters, dormant = {**catalog.clusters, **was}, {**catalog.dormant, **rests}
    return replace(catalog, clusters=clusters, dormant=dormant, templates=templates)


def _offered(live: Live) -> Mapping[str, Cluster]:
    """By name the clusters of ours that are published and live."""
    whole = live.catalog.whole if isinstance(live.catalog, PublishedCatalog) else None
    clusters = () if isinstance(live.clusters, Unknown) else live.clusters
    there = {one.id for one in clusters if one.state not in SPENT_STATES}
    published = whole.clusters if whole else {}
    return {name: one for name, one in published.items() if one.id in there and not one.adopted}


def _loses(before: Template, now: Template, clusters: Collection[str]) -> bool:
    """Whether a template would not be offered any more on one of these clusters."""
    was, is_ = ({offer.cluster for offer in one.offers if offer.available} for one in (before, now))
    return bool((was - is_) & set(clusters))
