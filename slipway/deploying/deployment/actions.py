"""`decide`: the step of a deployment about each cluster, with its reason, from the wanted and the living ones. Pure."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from slipway.deploying.generations.action import Action, What, Why
from slipway.deploying.generations.dormant import Dormancy
from slipway.deploying.generations.generations import DELETABLE_STATES, retirement
from slipway.google.catalog.document import PublishedCatalog, as_published
from slipway.google.clusters import RUNNING_STATES, PersistentResource
from slipway.google.jobs import VertexJob
from slipway.google.live import Live, Unknown
from slipway.google.quota.seasons import offered
from slipway.model.catalog import clusters
from slipway.model.catalog.forms import Removed
from slipway.model.catalog.model import Catalog
from slipway.model.cluster import IN_PLACE, CurrentCluster
from slipway.model.fingerprint import cluster_id, fingerprint_of, is_id_of
from slipway.model.labels import NAME_LABEL

Clusters = Mapping[str, PersistentResource]


def by_id(live: Live, adopted: Container[str], region: str, stack: str) -> tuple[Clusters, Clusters]:
    """Return the living clusters, and those that the stack made, by id.

    Two regions may have a cluster of the same id: somebody may have made one by hand, by the same request. Then the one
    at home is the stack's, and so is an adopted one.
    """
    listed = () if isinstance(live.clusters, Unknown) else live.clusters
    ordered = sorted(listed, key=lambda cluster: cluster.region in ("", region))
    living = {cluster.id: cluster for cluster in ordered if cluster.id not in adopted or cluster.region in ("", region)}
    return living, {cluster.id: cluster for cluster in ordered if cluster.made_by(stack)}


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
    catalog = live.catalog
    adopted = {cluster.id for cluster in current if cluster.spec.adopted}
    living, ours = by_id(live, adopted, region, stack)
    unended: dict[str, list[VertexJob]] = {}
    for job in () if isinstance(live.jobs, Unknown) else live.jobs:
        if not job.ended:
            unended.setdefault(job.persistent_resource_id, []).append(job)
    current_ids = {cluster.id for cluster in current}
    dormant_by_name = {entry.spec.name: entry for entry in dormant}
    creates = any(not cluster.import_ for cluster in current)
    published = catalog if isinstance(catalog, PublishedCatalog) else PublishedCatalog()
    named = {*dormant_by_name, *(cluster.spec.name for cluster in current)}

    def fate(cluster: PersistentResource) -> Iterator[Action]:
        name = cluster.labels[NAME_LABEL]
        successor = next((candidate for candidate in current if candidate.spec.name == name), None)
        jobs = tuple(job for job in unended.get(cluster.id, ()) if job.is_on(cluster))
        why = _why_keep(cluster, jobs, successor, live)
        instead = (successor.id,) if successor is not None and not successor.import_ else ()
        # There may be no machines for both; a failed cluster has none.
        must_go_first = bool(instead and successor and successor.spec.replacement == IN_PLACE and not cluster.failed)
        rests = dormant_by_name.get(name)
        goes = Action(
            cluster=name,
            id=cluster.id,
            what=What.DELETE_LAST,
            why=Why.IDLE,
            jobs=jobs,
            instead=instead,
            living=cluster,
            dormant=rests,
        )
        if isinstance(why, Unknown):
            yield replace(goes, what=What.REFUSE, why=Why.UNREAD)
        elif why is Why.UNPUBLISHED and cluster.failed and instead:
            yield replace(goes, what=What.CLEAR, why=Why.FAILED)
        elif must_go_first and why in (None, Why.UNPUBLISHED, Why.DAMAGED):
            yield replace(goes, what=What.DELETE_FIRST, why=Why.IN_PLACE)
        elif why:
            gone = _removed(cluster, named, live.deployed, now)
            late = _overdue(successor, rests, living, now, gone)
            yield replace(goes, what=What.RETIRE, why=why, overdue=late, removed=gone)
            # A cluster that was another's predecessor already lacks the machines that are to be replaced.
            if must_go_first and cluster.id not in published.retiring:
                yield replace(goes, what=What.REFUSE, why=why)
        elif creates and _may_go_before_creates(cluster, successor, catalog, ours, rests=rests is not None):
            yield replace(goes, what=What.DELETE_FIRST)
        else:
            yield goes

    asked = [_asked(cluster, living.get(cluster.id), published) for cluster in current]
    no_longer_adopted = [
        Action(name, id_, What.LEAVE)
        for name, id_ in published.clusters.items()
        if id_ in published.adopted - current_ids
    ]
    rest = [replace(resting(entry), why=_why_resting(entry, published.whole)) for entry in dormant]
    order = list(What)
    fates = [action for id_ in sorted(ours.keys() - current_ids) for action in fate(ours[id_])]
    fates.sort(key=lambda action: order.index(action.what))
    return (*asked, *no_longer_adopted, *rest, *fates)


def of_catalog(catalog: Catalog, deployed: Catalog | None, live: Live, now: datetime) -> tuple[Action, ...]:
    """Return the actions of the deployment that publishes `catalog` where `deployed` was published before. Where the
    living clusters could not be read, those that are no longer declared have no action."""
    current = offered(catalog, () if isinstance(live.clusters, Unknown) else live.clusters)
    dormant = [
        Dormancy(cluster, cluster.id, cluster.why, cluster.since, lacks=dict.fromkeys(cluster.lacks or (), ""))
        for cluster in catalog.dormant.values()
    ]
    published = as_published(deployed) if deployed else None
    if isinstance(live.jobs, Unknown):
        live = replace(live, clusters=live.jobs)
    live = replace(live, catalog=published)
    return decide(current, dormant, live, stack=catalog.identity.label, region=catalog.region, now=now)


def resting(dormancy: Dormancy) -> Action:
    when = dormancy.spec.season.begins if dormancy.comes and not dormancy.lacks else None
    return Action(dormancy.spec.name, dormancy.id, What.REST, dormant=dormancy, when=when)


def of_current(cluster: CurrentCluster) -> Action:
    what = What.ADOPT if cluster.spec.adopted else What.KEEP if cluster.import_ else What.CREATE
    instead = tuple(alternative.id for alternative in cluster.alternatives)
    return Action(cluster.spec.name, cluster.id, what, instead=instead, current=cluster)


def _asked(current: CurrentCluster, cluster: PersistentResource | None, published: PublishedCatalog) -> Action:
    action = replace(of_current(current), why=_why_asked(current, published.whole), living=cluster)
    stays = published.clusters.get(current.spec.name) == current.id
    return action if stays or action.what is not What.KEEP else replace(action, what=What.TAKE)


def _why_asked(current: CurrentCluster, whole: Catalog | None) -> Why:
    """Tell whether the entry is deployed unchanged: then only time brings a dormant cluster."""
    was = (whole.clusters.get(current.spec.name) or whole.dormant.get(current.spec.name)) if whole else None
    if whole is None or was is None:
        return Why.ASKED
    rested = isinstance(was, clusters.DormantCluster) and was.why != "in-place"
    ids = [was.id]
    if current.import_ or not rested:  # As one of its alternatives.
        hashes = (fingerprint_of(whole.identity.label, whole.project, whole.region, option) for option in was.options)
        ids += (cluster_id(was.name, fingerprint) for fingerprint in hashes)
    if not any(is_id_of(current.id, id_) for id_ in ids) or (rested and was.season != current.spec.season):
        return Why.ASKED
    if not isinstance(was, clusters.DormantCluster) or not rested:
        return Why.DEPLOYED
    return Why.AWAITED if was.awaited else Why.SEASON


def _why_resting(dormancy: Dormancy, whole: Catalog | None) -> Why:
    was = whole.clusters.get(dormancy.spec.name) if whole else None
    return Why.SEASON if was and was.season == dormancy.spec.season else Why.ASKED


def _why_keep(
    cluster: PersistentResource,
    jobs: tuple[VertexJob, ...],
    successor: CurrentCluster | None,
    live: Live,
) -> Why | Unknown | None:
    """Return the reason why a cluster stays declared; None when it goes. `jobs` are those that have not ended."""
    catalog = live.catalog
    if jobs:
        return Why.JOBS
    if cluster.state == "STOPPING":
        return None  # It is going already: importing it would race with its end.
    if cluster.in_use:
        return Why.IN_USE
    if cluster.state not in DELETABLE_STATES:
        return Why.BUSY_STATE
    # A successor that this `up` makes needs no rule: its predecessor is deleted last (or see `_may_go_before_creates`),
    # and not when a create failed.
    if successor is not None and successor.import_ and successor.state not in RUNNING_STATES:
        return Why.SUCCESSOR
    if isinstance(catalog, Unknown):
        return catalog
    if catalog is not None and catalog.damage:
        return Why.DAMAGED  # It may be on offer: the catalog of this deployment ends that.
    if catalog is None:
        return Why.UNPUBLISHED
    # After a deployment that failed or was killed late, Pulumi's state alone has the predecessor: no job is sent to it.
    return None if catalog.lists(cluster.id) or cluster.id in live.in_state else Why.UNPUBLISHED


def _may_go_before_creates(
    cluster: PersistentResource,
    successor: CurrentCluster | None,
    catalog: PublishedCatalog | Unknown | None,
    ours: Mapping[str, PersistentResource],
    *,
    rests: bool,
) -> bool:
    """Tell whether a cluster that goes need not wait for the creations of this deployment, which may take days.

    It need not when no job is sent to it any more, or when its entry `rests` from now on. It waits while it may still
    be needed, as its successor does not exist or is not on offer yet. `ours`: the stack's living clusters, by id.
    """
    # A failed cluster holds no machines, so nothing is gained.
    if cluster.failed or not isinstance(catalog, PublishedCatalog) or catalog.damage:
        return False
    name = cluster.labels[NAME_LABEL]
    if catalog.offers(cluster.id):
        return catalog.whole is not None and rests
    offered = ours.get(catalog.clusters.get(name, ""))
    return successor is None or successor.import_ or (offered is not None and offered.state in RUNNING_STATES)


def _overdue(
    successor: CurrentCluster | None,
    rests: Dormancy | None,
    clusters: Mapping[str, PersistentResource],
    now: datetime | None,
    gone: Removed | None = None,
) -> bool:
    entry = successor.spec if successor else rests.spec if rests else None
    living = clusters.get(successor.id) if successor else None
    since, within = retirement(entry, living, rests.since if rests else None, gone)
    return now is not None and since is not None and within is not None and now - since > within


def _removed(
    cluster: PersistentResource, named: Collection[str], whole: Catalog | None, now: datetime | None
) -> Removed | None:
    """Return the time by which it should be gone where no entry tells that any more: as the catalog remembers it, or
    from now on by the limit of the last deployed entry. None for a cluster `named` by an entry, and where there is no
    limit."""
    name = cluster.labels[NAME_LABEL]
    if whole is None or name in named:
        return None
    if known := (whole.removed or {}).get(cluster.id):
        return known
    last = whole.clusters.get(name) or whole.dormant.get(name)
    return Removed(last.retire_within, now) if last and last.retire_within and now else None
