"""`decide`: the step of a deployment about each cluster, with its reason, from the wanted and the living ones. Pure."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from slipway.deploying.generations.action import Action, What, Why
from slipway.deploying.generations.dormant import Dormancy
from slipway.deploying.generations.generations import DELETABLE_STATES, is_ours, retirement
from slipway.google.catalog.document import PublishedCatalog, as_published
from slipway.google.clusters import RUNNING_STATES, PersistentResource
from slipway.google.jobs import VertexJob
from slipway.google.live import Live, Unknown
from slipway.model.catalog import clusters
from slipway.model.catalog.forms import Removed
from slipway.model.catalog.model import Catalog
from slipway.model.cluster import IN_PLACE, CurrentCluster
from slipway.model.fingerprint import cluster_id, fingerprint_of, is_id_of
from slipway.model.labels import NAME_LABEL

Clusters = Mapping[str, PersistentResource]


def by_id(live: Live, adopted: Container[str], region: str, stack: str) -> tuple[Clusters, Clusters]:
    """Return the living clusters, and those that the stack made. Somebody may have made one by hand in another region,
    by the same request: then the one at home is the stack's. Adopted ones are at home, and another region may have one
    of the same id."""
    there = () if isinstance(live.clusters, Unknown) else live.clusters
    ordered = sorted(there, key=lambda one: one.region in ("", region))
    living = {one.id: one for one in ordered if one.id not in adopted or one.region in ("", region)}
    return living, {one.id: one for one in ordered if is_ours(one, stack)}


def decide(
    current: Sequence[CurrentCluster],
    dormant: Sequence[Dormancy],
    live: Live,
    *,
    stack: str,
    region: str,
    now: datetime | None,
) -> tuple[Action, ...]:
    """Return the actions, in the order of display. `current` are wanted now, `dormant` later or after an edit."""
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
        why, first = _why_keep(cluster, jobs, follows, catalog), _goes_first(cluster, follows)
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
            gone = _removed(cluster, named, catalog, now)
            late = _overdue(follows, rests, living, now, gone)
            yield replace(goes, what=What.RETIRE, why=why, overdue=late, removed=gone)
            # A cluster that was another's predecessor already lacks the machines that are to be replaced.
            if first and cluster.id not in published.retiring:
                yield replace(goes, what=What.REFUSE, why=why)
        elif creates and _goes_ahead(cluster, follows, catalog, ours, rests=rests is not None):
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
    """Return the actions of the deployment that publishes `catalog` where `deployed` was published before. Where the
    living clusters could not be read, nothing is told of those that are no longer declared."""
    there = {} if isinstance(live.clusters, Unknown) else {one.id: one for one in live.clusters}
    current = [
        CurrentCluster(one, one.id, "", import_=one.id in there, state=there[one.id].state if one.id in there else "")
        for one in catalog.clusters.values()
    ]
    dormant = [
        Dormancy(one, one.id, one.why, one.since, dict.fromkeys(one.lacks or (), ""))
        for one in catalog.dormant.values()
    ]
    published = as_published(deployed) if deployed else None
    if isinstance(live.jobs, Unknown):
        live = replace(live, clusters=live.jobs)
    live = replace(live, catalog=published)
    return decide(current, dormant, live, stack=catalog.stack, region=catalog.region, now=now)


def resting(one: Dormancy) -> Action:
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
    """Tell whether the entry is deployed unchanged: then only time brings a dormant cluster."""
    was = (whole.clusters.get(one.spec.name) or whole.dormant.get(one.spec.name)) if whole else None
    if whole is None or was is None:
        return Why.ASKED
    rested = isinstance(was, clusters.DormantCluster) and was.why != "in-place"
    ids = [was.id]
    if one.import_ or not rested:  # As one of its alternatives.
        hashes = (fingerprint_of(whole.stack, whole.project, whole.region, each) for each in was.options)
        ids += (cluster_id(was.name, each) for each in hashes)
    if not any(is_id_of(one.id, id_) for id_ in ids) or (rested and was.season != one.spec.season):
        return Why.ASKED
    if not isinstance(was, clusters.DormantCluster) or not rested:
        return Why.DEPLOYED
    return Why.AWAITED if was.awaited else Why.SEASON


def _why_resting(one: Dormancy, whole: Catalog | None) -> Why:
    was = whole.clusters.get(one.spec.name) if whole else None
    return Why.SEASON if was and was.season == one.spec.season else Why.ASKED


def _why_keep(
    cluster: PersistentResource,
    jobs: tuple[VertexJob, ...],
    follows: CurrentCluster | None,
    catalog: PublishedCatalog | Unknown | None,
) -> Why | Unknown | None:
    """Return the reason why it stays declared; None when it goes. `follows` is its successor, `jobs` have not ended."""
    if jobs:
        return Why.JOBS
    if cluster.state == "STOPPING":
        return None  # It is going already: importing it would race with its end.
    if cluster.in_use:
        return Why.IN_USE
    if cluster.state not in DELETABLE_STATES:
        return Why.BUSY_STATE
    # A successor that this `up` makes needs no rule: its predecessor is deleted last (or see `_goes_ahead`), and not
    # when a create failed.
    if follows is not None and follows.import_ and follows.state not in RUNNING_STATES:
        return Why.SUCCESSOR
    if isinstance(catalog, Unknown):
        return catalog
    if catalog is not None and catalog.damage:
        return Why.DAMAGED  # It may be on offer: the catalog of this deployment ends that.
    return None if catalog is not None and catalog.lists(cluster.id) else Why.UNPUBLISHED


def _goes_first(cluster: PersistentResource, follows: CurrentCluster | None) -> bool:
    """Tell whether its successor needs its machines, as there may be none for both. A failed cluster has none."""
    replaces = follows is not None and not follows.import_ and follows.spec.replacement == IN_PLACE
    return replaces and not cluster.failed


def _goes_ahead(
    cluster: PersistentResource,
    follows: CurrentCluster | None,
    catalog: PublishedCatalog | Unknown | None,
    ours: Mapping[str, PersistentResource],
    *,
    rests: bool,
) -> bool:
    """Tell whether a cluster that goes need not wait for the creations of this deployment, which may take days: no job
    is sent to it any more, or it `rests` from now on. A cluster that may still be needed, as its successor does not
    exist or is not on offer yet, waits. `ours` are the living ones by id. A failed one holds nothing."""
    if cluster.failed or not isinstance(catalog, PublishedCatalog) or catalog.damage:
        return False
    name = cluster.labels[NAME_LABEL]
    if catalog.offers(cluster.id):
        return catalog.whole is not None and rests
    offered = ours.get(catalog.clusters.get(name, ""))
    return follows is None or follows.import_ or (offered is not None and offered.state in RUNNING_STATES)


def _overdue(
    follows: CurrentCluster | None,
    rests: Dormancy | None,
    clusters: Mapping[str, PersistentResource],
    now: datetime | None,
    gone: Removed | None = None,
) -> bool:
    """Tell whether it should be gone; `gone` is for an entry that the stack file lacks."""
    entry = follows.spec if follows else rests.spec if rests else None
    successor = clusters.get(follows.id) if follows else None
    since, within = retirement(entry, successor, rests.since if rests else None, gone)
    return now is not None and since is not None and within is not None and now - since > within


def _removed(
    cluster: PersistentResource,
    named: Collection[str],
    catalog: PublishedCatalog | Unknown | None,
    now: datetime | None,
) -> Removed | None:
    """Return the time by which it should be gone where no entry tells that any more: as the catalog remembers it, or
    from now on by the limit of the last deployed entry. None for a cluster `named` by an entry, and where there is no
    limit."""
    name = cluster.labels[NAME_LABEL]
    whole = catalog.whole if isinstance(catalog, PublishedCatalog) else None
    if whole is None or name in named:
        return None
    if known := (whole.removed or {}).get(cluster.id):
        return known
    last = whole.clusters.get(name) or whole.dormant.get(name)
    return Removed(last.retire_within, now) if last and last.retire_within and now else None
