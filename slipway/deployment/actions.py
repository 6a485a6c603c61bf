"""`decide`: what a deployment does about each cluster, given which ones are wanted and what lives. Pure."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from slipway.catalog.document import PublishedCatalog
from slipway.cloud.clusters import PersistentResource
from slipway.cluster import CurrentCluster
from slipway.generations.action import Action, What
from slipway.generations.current_generation import is_ours
from slipway.generations.dormant import DormantCluster, brought_by_season
from slipway.generations.old_generations import goes_ahead, goes_first, overdue, removed, successor, why_keep
from slipway.generations.retiring import Why
from slipway.labels import NAME_LABEL
from slipway.live import Live, Unknown

Clusters = Mapping[str, PersistentResource]


def by_id(live: Live, adopted: Container[str], region: str, stack: str) -> tuple[Clusters, Clusters]:
    """All that live, and those that the stack made. Somebody may have made one by hand in another region, of the same
    request: then that at home is the stack's. What is adopted is at home, and another region may have one of its id."""
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
        name, follows = cluster.labels[NAME_LABEL], successor(cluster, current)
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
    left = (
        Action(name, id_, What.LEAVE) for name, id_ in published.clusters.items() if id_ in published.adopted - here
    )
    declared = (_declared(one, living.get(one.id), catalog) for one in current)
    order = list(What)
    return (*declared, *left, *map(resting, dormant), *sorted(fates, key=lambda one: order.index(one.what)))


def resting(one: DormantCluster) -> Action:
    return Action(one.spec.name, one.id, What.REST, dormant=one)


def of_current(one: CurrentCluster) -> Action:
    what = What.ADOPT if one.spec.adopted else What.KEEP if one.import_ else What.CREATE
    instead = tuple(other.id for other in one.alternatives)
    return Action(one.spec.name, one.id, what, instead=instead, current=one)


def _declared(
    one: CurrentCluster, cluster: PersistentResource | None, catalog: PublishedCatalog | Unknown | None
) -> Action:
    action = replace(of_current(one), living=cluster)
    if action.what is What.CREATE and brought_by_season(one, catalog):
        return replace(action, why=Why.SEASON)
    published = catalog if isinstance(catalog, PublishedCatalog) else PublishedCatalog()
    if action.what is not What.KEEP or published.clusters.get(one.spec.name) == one.id:
        return action
    was = published.whole.dormant.get(one.spec.name) if published.whole else None
    again = was is not None and was.why == "season"
    return replace(
        action, what=What.TAKE, why=Why.AWAITED if was and was.awaited else Why.SEASON if again else Why.ASKED
    )
