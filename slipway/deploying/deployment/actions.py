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
    listed = () if isinstance(live.clusters, Unknown) else live.clusters
    ordered = sorted(listed, key=lambda cluster: cluster.region in ("", region))
    living = {cluster.id: cluster for cluster in ordered if cluster.id not in adopted or cluster.region in ("", region)}
    return living, {cluster.id: cluster for cluster in ordered if is_ours(cluster, stack)}


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
    adopted, catalog = {cluster.id for cluster in current if cluster.spec.adopted}, live.catalog
    living, ours = by_id(live, adopted, region, stack)
    unended = () if isinstance(live.jobs, Unknown) else tuple(job for job in live.jobs if not job.ended)
    here, dormant_by_name = {cluster.id for cluster in current}, {cluster.spec.name: cluster for cluster in dormant}
    creates = any(not cluster.import_ for cluster in current)
    published = catalog if isinstance(catalog, PublishedCatalog) else PublishedCatalog()
    named = {*dormant_by_name, *(cluster.spec.name for cluster in current)}

    def fate(cluster: PersistentResource) -> Iterator[Action]:
        name = cluster.labels[NAME_LABEL]
        follows = next((candidate for candidate in current if candidate.spec.name == name), None)
        jobs = tuple(job for job in unended if job.persistent_resource_id == cluster.id)
        why, first = _why_keep(cluster, jobs, follows, catalog), _goes_first(cluster, follows)
        instead = (follows.id,) if follows is not None and not follows.import_ else ()
        rests = dormant_by_name.get(name)
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

    fates = [action for id_ in sorted(ours.keys() - here) for action in fate(ours[id_])]
    no_longer_adopted = ((name, id_) for name, id_ in published.clusters.items() if id_ in published.adopted - here)
    asked = (_asked(cluster, living.get(cluster.id), published) for cluster in current)
    order = list(What)
    return (
        *asked,
        *(Action(name, id_, What.LEAVE) for name, id_ in no_longer_adopted),
        *(replace(resting(entry), why=_why_resting(entry, published.whole)) for entry in dormant),
        *sorted(fates, key=lambda action: order.index(action.what)),
    )


def of_catalog(catalog: Catalog, deployed: Catalog | None, live: Live, now: datetime) -> tuple[Action, ...]:
    """Return the actions of the deployment that publishes `catalog` where `deployed` was published before. Where the
    living clusters could not be read, nothing is told of those that are no longer declared."""
    living = {} if isinstance(live.clusters, Unknown) else {cluster.id: cluster for cluster in live.clusters}
    current = [
        CurrentCluster(
            cluster,
            cluster.id,
            "",
            import_=cluster.id in living,
            state=living[cluster.id].state if cluster.id in living else "",
        )
        for cluster in catalog.clusters.values()
    ]
    dormant = [
        Dormancy(cluster, cluster.id, cluster.why, cluster.since, dict.fromkeys(cluster.lacks or (), ""))
        for cluster in catalog.dormant.values()
    ]
    published = as_published(deployed) if deployed else None
    if isinstance(live.jobs, Unknown):
        live = replace(live, clusters=live.jobs)
    live = replace(live, catalog=published)
    return decide(current, dormant, live, stack=catalog.stack, region=catalog.region, now=now)


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
        hashes = (fingerprint_of(whole.stack, whole.project, whole.region, option) for option in was.options)
        ids += (cluster_id(was.name, option) for option in hashes)
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
