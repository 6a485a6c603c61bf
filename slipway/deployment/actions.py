"""`decide`: what a deployment does about each cluster, given which ones are wanted and what lives. Pure."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from slipway.catalog import clusters
from slipway.catalog.document import PublishedCatalog, as_published
from slipway.catalog.model import Catalog
from slipway.cloud.clusters import PersistentResource
from slipway.cluster import CurrentCluster
from slipway.fingerprint import cluster_id, fingerprint_of, is_id_of
from slipway.generations.action import Action, What, Why
from slipway.generations.dormant import DormantCluster
from slipway.generations.generations import goes_ahead, goes_first, is_ours, overdue, removed, why_keep
from slipway.generations.published_clusters import declared
from slipway.labels import NAME_LABEL
from slipway.live import Live, Unknown

Clusters = Mapping[str, PersistentResource]


def by_id(live: Live, adopted: Container[str], region: str, stack: str) -> tuple[Clusters, Clusters]:
    """Clusters that live, and those of them that the stack made. Somebody may have made one by hand in another region,
    of the same request: then that at home is the stack's. What is adopted is at home, and another region may have one
    of its id."""
    there = () if isinstance(live.clusters, Unknown) else live.clusters
    ordered = sorted(there, key=lambda one: one.region in ("", region))
    living = {one.id: one for one in ordered if one.id not in adopted or one.region in ("", region)}
    return living, {one.id: one for one in ordered if is_ours(one, stack)}


def decide(
    current: Sequence[CurrentCluster],
    dormant: Sequence[DormantCluster],
    live: Live,
    *,
    stack: str,
    region: str,
    now: datetime | None,
) -> tuple[Action, ...]:
    """The actions, in the order of telling. `current` are wanted now, `dormant` later or once they are edited."""
    adopted, catalog = {one.id for one in current if one.spec.adopted}, live.catalog
    living, ours = by_id(live, adopted, region, stack)
    unended = () if isinstance(live.jobs, Unknown) else tuple(job for job in live.jobs if not job.ended)
    here, rest = {one.id for one in current}, {one.spec.name: one for one in dormant}
    creates = any(not one.import_ for one in current)
    published = catalog if isinstance(catalog, PublishedCatalog) else PublishedCatalog()
    named = {*rest, *(one.spec.name for one in current)}

    def fate(cluster: PersistentResource) -> Iterator[Action]:
        name = cluster.labels[NAME_LABEL]
        follows = next((one for one in current if one.spec.name == name), None)
        jobs = tuple(job for job in unended if job.persistent_resource_id == cluster.id)
        why, first = why_keep(cluster, jobs, follows, catalog), goes_first(cluster, follows)
        instead = (follows.id,) if follows is not None and not follows.import_ else ()
        rests = rest.get(name)
        goes = Action(name, cluster.id, What.DELETE_LAST, Why.IDLE, jobs, instead, living=cluster, dormant=rests)
        if isinstance(why, Unknown):
            yield replace(goes, what=What.REFUSE, why=Why.UNREAD)
        elif why is Why.UNPUBLISHED and cluster.failed and instead:
            yield replace(goes, what=What.CLEAR, why=Why.FAILED)
        elif first and why in (None, Why.UNPUBLISHED, Why.DAMAGED):
            yield replace(goes, what=What.DELETE_FIRST, why=Why.IN_PLACE)
        elif why:
            gone = removed(cluster, named, catalog, now)
            late = overdue(follows, rests, living, now, gone)
            yield replace(goes, what=What.RETIRE, why=why, overdue=late, removed=gone)
            # One that was another's predecessor already has not the machines that are to be replaced.
            if first and cluster.id not in published.retiring:
                yield replace(goes, what=What.REFUSE, why=why)
        elif creates and goes_ahead(cluster, follows, catalog, ours, rests=rests is not None):
            yield replace(goes, what=What.DELETE_FIRST)
        else:
            yield goes

    fates = [one for id_ in sorted(ours.keys() - here) for one in fate(ours[id_])]
    left = ((name, id_) for name, id_ in published.clusters.items() if id_ in published.adopted - here)
    asked = (_asked(one, living.get(one.id), published) for one in current)
    order = list(What)
    return (
        *asked,
        *(Action(name, id_, What.LEAVE) for name, id_ in left),
        *(replace(resting(one), why=_why_resting(one, published.whole)) for one in dormant),
        *sorted(fates, key=lambda one: order.index(one.what)),
    )


def of_catalog(catalog: Catalog, deployed: Catalog | None, live: Live, now: datetime) -> tuple[Action, ...]:
    """Actions of the deployment that publishes `catalog` where `deployed` was published before. Where what lives
    could not be read, nothing is said of what is not asked for any more."""
    there = {} if isinstance(live.clusters, Unknown) else {one.id: one for one in live.clusters}
    current = [
        CurrentCluster(
            declared(one), one.id, "", import_=one.id in there, state=there[one.id].state if one.id in there else ""
        )
        for one in catalog.clusters.values()
    ]
    dormant = [
        DormantCluster(declared(one), one.id, one.why, one.since, dict.fromkeys(one.lacks or (), ""))
        for one in catalog.dormant.values()
    ]
    published = as_published(deployed) if deployed else None
    if isinstance(live.jobs, Unknown):
        live = replace(live, clusters=live.jobs)
    live = replace(live, catalog=published)
    return decide(current, dormant, live, stack=catalog.stack, region=catalog.region, now=now)


def resting(one: DormantCluster) -> Action:
    when = one.spec.season.begins if one.comes and not one.lacks else None
    return Action(one.spec.name, one.id, What.REST, dormant=one, when=when)


def of_current(one: CurrentCluster) -> Action:
    what = What.ADOPT if one.spec.adopted else What.KEEP if one.import_ else What.CREATE
    instead = tuple(other.id for other in one.alternatives)
    return Action(one.spec.name, one.id, what, instead=instead, current=one)


def _asked(one: CurrentCluster, cluster: PersistentResource | None, published: PublishedCatalog) -> Action:
    action = replace(of_current(one), why=_why_asked(one, published.whole), living=cluster)
    stays = published.clusters.get(one.spec.name) == one.id
    return action if stays or action.what is not What.KEEP else replace(action, what=What.TAKE)


def _why_asked(one: CurrentCluster, whole: Catalog | None) -> Why:
    """Tell whether the entry is deployed as it is: then nobody but time brings what was dormant."""
    was = (whole.clusters.get(one.spec.name) or whole.dormant.get(one.spec.name)) if whole else None
    if whole is None or was is None:
        return Why.ASKED
    rested = isinstance(was, clusters.DormantCluster) and was.why != "in-place"
    ids = [was.id]
    if one.import_ or not rested:  # As one of its alternatives.
        hashes = (fingerprint_of(whole.stack, whole.project, whole.region, each) for each in declared(was).options)
        ids += (cluster_id(was.name, each) for each in hashes)
    if not any(is_id_of(one.id, id_) for id_ in ids) or (rested and was.season != one.spec.season):
        return Why.ASKED
    if not isinstance(was, clusters.DormantCluster) or not rested:
        return Why.DEPLOYED
    return Why.AWAITED if was.awaited else Why.SEASON


def _why_resting(one: DormantCluster, whole: Catalog | None) -> Why:
    was = whole.clusters.get(one.spec.name) if whole else None
    return Why.SEASON if was and was.season == one.spec.season else Why.ASKED
