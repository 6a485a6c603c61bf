"""The living cluster of a name, or the one to be made. Pure.

An alternative is a generation of its own. A running one stays, even if the stack file has another one before it:
machines that exist are not given away for machines that may be available now.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count

from slipway.base.formatting import join
from slipway.google.catalog.document import PublishedCatalog
from slipway.google.clusters import RUNNING_STATES, PersistentResource
from slipway.google.live import Unknown
from slipway.model.catalog.forms import Removed
from slipway.model.cluster import ClusterSpec, CurrentCluster
from slipway.model.cluster_fields import as_asked, compare
from slipway.model.fingerprint import cluster_id, is_id_of
from slipway.model.labels import HASH_LABEL, NAME_LABEL, STACK_LABEL

SPENT_STATES = frozenset({"ERROR", "STOPPING"})
DELETABLE_STATES = RUNNING_STATES | {"ERROR"}
"""The states in which the API deletes a cluster; in the others it refuses."""
# The order in which one of several becomes the current one.
_PREFERENCE = {"RUNNING": 0, "UPDATING": 0, "REBOOTING": 1, "PROVISIONING": 2}

Identify = Callable[[ClusterSpec], str]
"""A function that returns the fingerprint of a cluster in its stack, project and region."""


def current_generation(
    spec: ClusterSpec,
    identify: Identify,
    clusters: Mapping[str, PersistentResource],
    ours: Mapping[str, PersistentResource],
    catalog: PublishedCatalog | Unknown | None,
    home: str = "",
) -> CurrentCluster:
    """Return the living cluster, of any alternative; else the first configuration, to be made, with its alternatives.

    `clusters`: all living clusters, by id, none of which a new one may have.
    `ours`: those of them that this stack made.
    `home`: the stack's region; a copy of a cluster in another region is not that cluster.
    """
    published = catalog.clusters.get(spec.name) if isinstance(catalog, PublishedCatalog) else None
    options = [(option, identify(option)) for option in spec.options]
    usable = [
        (place, cluster)
        for place, (option, fingerprint) in enumerate(options)
        for cluster in ours.values()
        if not (home and cluster.region) or cluster.region == (option.region or home)
        # The label is compared too: a name may look like another cluster's id.
        if cluster.labels.get(NAME_LABEL, spec.name) == spec.name
        and is_id_of(cluster.id, cluster_id(spec.name, fingerprint))
        if cluster.state not in SPENT_STATES
    ]
    if usable:

        def order(candidate: tuple[int, PersistentResource]) -> tuple[object, ...]:
            place, cluster = candidate
            return _PREFERENCE.get(cluster.state, 9), cluster.id != published, place, len(cluster.id), cluster.id

        place, best = min(usable, key=order)
        option, fingerprint = options[place]
        return CurrentCluster(option, best.id, fingerprint, import_=True, state=best.state)
    first, *others = (
        CurrentCluster(option, free_id(spec.name, fingerprint, clusters), fingerprint, import_=False)
        for option, fingerprint in options
    )
    return replace(first, alternatives=tuple(others))


def as_deployed(
    spec: ClusterSpec,
    identify: Identify,
    ours: Mapping[str, PersistentResource],
    catalog: PublishedCatalog | Unknown | None,
) -> tuple[ClusterSpec, str]:
    """Return the alternative in which the cluster is published, or else lives, with its fingerprint; the first
    configuration where it is neither."""
    published = catalog.clusters.get(spec.name) if isinstance(catalog, PublishedCatalog) else None
    options = [(option, identify(option)) for option in spec.options]
    ids = [published, *ours] if published else ours
    for id_ in ids:
        for option, fingerprint in options:
            if is_id_of(id_, cluster_id(spec.name, fingerprint)):
                return option, fingerprint
    return options[0]


def taken_ids(
    wanted: Iterable[ClusterSpec],
    identify: Identify,
    clusters: Iterable[PersistentResource],
    ours: Mapping[str, PersistentResource],
    catalog: PublishedCatalog | Unknown | None,
) -> list[str]:
    """Return a sentence for each cluster of another owner that has an id of this stack."""
    bases = [cluster_id(spec.name, identify(option)) for spec in wanted for option in spec.options]
    published = catalog if isinstance(catalog, PublishedCatalog) else PublishedCatalog()
    return [
        f"cluster {cluster.id} has an id of Slipway's but not its labels ({STACK_LABEL}, {NAME_LABEL}, {HASH_LABEL}): "
        "somebody else made it; once no job uses it, delete it by hand"
        # Submissions are sent to the id of a cluster on offer, and the engine may have it as its own.
        f"{'' if published.lists(cluster.id) else ', or raise `generation` to get another id'}"
        for cluster in clusters
        if cluster.id not in ours and (published.lists(cluster.id) or any(is_id_of(cluster.id, base) for base in bases))
    ]


def unlike(current: CurrentCluster, cluster: PersistentResource) -> str:
    """Return a sentence where a cluster's machines are not those of its id; their numbers are the autoscaler's."""
    asked = current.spec
    differs = (difference for difference in compare(asked, as_asked(cluster.spec, asked)) if difference.of_machines)
    wrong = next(differs, None) if cluster.pools else None
    if wrong is None:
        return ""
    return (
        f"cluster {cluster.id} was made or edited by hand: it has {wrong.after or 'none'} as {wrong.key}, and "
        f"its declaration asks for {wrong.before or 'none'}; raise `generation` of {asked.name}, "
        "or, once no job uses it, delete it by hand"
    )


def free_id(name: str, fingerprint: str, clusters: Container[str]) -> str:
    """Return the first id of a cluster that none of the clusters, by id, has."""
    ids = (cluster_id(name, fingerprint, n) for n in count(1))
    return next(id_ for id_ in ids if id_ not in clusters)


def not_withdrawable(ids: Collection[str], catalog: PublishedCatalog | Unknown | None) -> Iterator[str]:
    """Yield a problem where clusters have to go from a catalog that this version does not read."""
    if ids and isinstance(catalog, PublishedCatalog) and catalog.whole is None and not catalog.damage:
        yield (
            f"{join(ids)} is to be replaced in place, and another version published the catalog: undo the edit, "
            "deploy once with this version, and make it after that"
        )


def retirement(
    entry: ClusterSpec | None,
    successor: PersistentResource | None,
    rests_since: datetime | None,
    removed: Removed | None,
) -> tuple[datetime | None, timedelta | None]:
    """Return since when a cluster retires and within what time it should be gone, each None where that is not known.

    It retires from its successor's creation on, or since its entry rests; `removed` is for an entry that is gone.
    """
    if removed:
        return removed.since, removed.retire_within
    since = successor.create_time if successor else rests_since
    return since, entry.retire_within if entry else None
