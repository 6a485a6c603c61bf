"""The living cluster that a name stands for, or the one to be made. Pure.

An alternative is a generation of its own. One that runs stays, whatever comes before it in the stack file: what asks
for machines again only because they may be there now would give away those that are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import count

from slipway.catalog.document import PublishedCatalog
from slipway.cloud.clusters import RUNNING_STATES, PersistentResource
from slipway.cluster import ClusterSpec, CurrentCluster
from slipway.cluster_fields import as_asked, compare
from slipway.fingerprint import cluster_id, is_id_of
from slipway.formatting import join
from slipway.labels import HASH_LABEL, NAME_LABEL, STACK_LABEL
from slipway.live import Unknown

SPENT_STATES = frozenset({"ERROR", "STOPPING"})
# Which one is current, should there be several.
_PREFERENCE = {"RUNNING": 0, "UPDATING": 0, "REBOOTING": 1, "PROVISIONING": 2}

Identify = Callable[[ClusterSpec], str]
"""The fingerprint of a cluster in its stack, project and region."""


def is_ours(cluster: PersistentResource, stack: str) -> bool:
    """Tell whether a stack made it: its labels say so, and its id follows from them."""
    name, fingerprint = cluster.labels.get(NAME_LABEL, ""), cluster.labels.get(HASH_LABEL, "")
    named = bool(name and fingerprint) and cluster.labels.get(STACK_LABEL) == stack
    return named and is_id_of(cluster.id, cluster_id(name, fingerprint))


def current_generation(
    spec: ClusterSpec,
    identify: Identify,
    clusters: Mapping[str, PersistentResource],
    ours: Mapping[str, PersistentResource],
    catalog: PublishedCatalog | Unknown | None,
    home: str = "",
) -> CurrentCluster:
    """The living cluster, of whichever alternative; else the first one, to be made, with those that may come in its
    place. `clusters` and `ours` by id: all that hold one, and those that this stack made. `home`: the stack's region,
    where somebody's copy of a cluster in another one is not that cluster."""
    published = catalog.clusters.get(spec.name) if isinstance(catalog, PublishedCatalog) else None
    options = [(option, identify(option)) for option in spec.options]
    usable = [
        (place, item)
        for place, (option, fingerprint) in enumerate(options)
        for item in ours.values()
        if not (home and item.region) or item.region == (option.region or home)
        # By the label too: a name may look like another cluster's id.
        if item.labels.get(NAME_LABEL, spec.name) == spec.name and is_id_of(item.id, cluster_id(spec.name, fingerprint))
        if item.state not in SPENT_STATES
    ]
    if usable:

        def order(found: tuple[int, PersistentResource]) -> tuple[object, ...]:
            place, one = found
            return _PREFERENCE.get(one.state, 9), one.id != published, place, len(one.id), one.id

        place, best = min(usable, key=order)
        option, fingerprint = options[place]
        return CurrentCluster(option, best.id, fingerprint, import_=True, state=best.state)
    first, *others = (
        CurrentCluster(option, _free_id(spec.name, fingerprint, clusters), fingerprint, import_=False)
        for option, fingerprint in options
    )
    return replace(first, alternatives=tuple(others))


def as_deployed(
    spec: ClusterSpec,
    identify: Identify,
    ours: Mapping[str, PersistentResource],
    catalog: PublishedCatalog | Unknown | None,
) -> tuple[ClusterSpec, str]:
    """The alternative as which the cluster is published, or else lives, with its fingerprint; the first one where it is
    neither."""
    published = catalog.clusters.get(spec.name) if isinstance(catalog, PublishedCatalog) else None
    options = [(option, identify(option)) for option in spec.options]
    for id_ in (*([published] if published else []), *ours):
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
    """A sentence for each cluster of somebody else that has an id of this stack."""
    bases = [cluster_id(spec.name, identify(option)) for spec in wanted for option in spec.options]
    published = catalog if isinstance(catalog, PublishedCatalog) else PublishedCatalog()
    return [
        f"cluster {cluster.id} has an id of this stack but not its labels ({STACK_LABEL}, {NAME_LABEL}, {HASH_LABEL}): "
        "somebody else made it; delete it by hand"
        # Submissions are sent to the id of one that is offered, and the engine may have it as one of its own.
        f"{'' if published.lists(cluster.id) else ', or raise `generation` to get another id'}"
        for cluster in clusters
        if cluster.id not in ours and (published.lists(cluster.id) or any(is_id_of(cluster.id, base) for base in bases))
    ]


def unlike(current: CurrentCluster, cluster: PersistentResource) -> str:
    """A sentence where machines of a living cluster are not those that its id stands for, or empty. Their numbers are
    the autoscaler's.
    """
    asked = current.spec
    differs = (one for one in compare(asked, as_asked(cluster.spec, asked)) if one.of_machines)
    wrong = next(differs, None) if cluster.pools else None
    if wrong is None:
        return ""
    return (
        f"cluster {cluster.id} was made or edited by hand: it has {wrong.after or 'none'} as {wrong.key}, and the "
        f"stack file asks for {wrong.before or 'none'}; raise `generation` of {asked.name}, or delete it by hand"
    )


def _free_id(name: str, fingerprint: str, clusters: Mapping[str, PersistentResource]) -> str:
    ids = (cluster_id(name, fingerprint, n) for n in count(1))
    return next(id_ for id_ in ids if id_ not in clusters)


DELETABLE_STATES = RUNNING_STATES | {"ERROR"}
"""In these the API deletes a cluster; in the others it refuses."""


def not_withdrawable(ids: Collection[str], catalog: PublishedCatalog | Unknown | None) -> Iterator[str]:
    """A problem where clusters have to go from a catalog that this version does not read."""
    if ids and isinstance(catalog, PublishedCatalog) and catalog.whole is None and not catalog.damage:
        yield (
            f"{join(ids)} is to be replaced in place, and another version published the catalog: put the entry back, "
            "pulumi up once with this version, and make the edit after that"
        )
