"""What a person did to a cluster, against what the catalog says was asked for. Its size within bounds is the
autoscaler's work, and none of it. Of one that is adopted nothing is put back: its owner's word counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from slipway.catalog.clusters import Cluster, Pool
from slipway.catalog.model import Catalog
from slipway.cloud.clusters import PersistentResource, ResourcePool
from slipway.doctor.drift import GOOGLES, Then, drift
from slipway.findings.finding import Finding, Subject
from slipway.fingerprint import cluster_id
from slipway.generations.adoption import settings
from slipway.generations.published_clusters import declared as asked_for
from slipway.labels import HASH_LABEL, NAME_LABEL, STACK_LABEL

_STEADY = "RUNNING"


def of_clusters(catalog: Catalog, clusters: tuple[PersistentResource, ...]) -> Iterator[Finding]:
    """Of those that are offered. No deployment changes a living cluster: what differs stays until there is a new one,
    but for one that is gone."""
    there = {(cluster.region or catalog.region, cluster.id): cluster for cluster in clusters}
    for name, declared in catalog.clusters.items():
        on, live = Subject("cluster", declared.id), there.get((catalog.region_of(name), declared.id))
        if live is None:
            yield drift(on, "", "somebody deleted it", Then.REFUSES if declared.adopted else Then.MADE_ANEW)
            continue
        if declared.adopted:
            found = (*_settings(on, declared, live), *_pools(on, declared, live, sizes=False))
            yield from (drift(on, one.field, one.sentence, Then.REFUSES) for one in found)
            continue
        yield from _labels(on, declared, live, catalog.stack, name)
        if live.display_name and declared.display_name and live.display_name != declared.display_name:
            words = f"its display name is {live.display_name!r}, and was {declared.display_name!r}"
            yield drift(on, "displayName", words, Then.STAYS)
        yield from _pools(on, declared, live)


def _labels(on: Subject, declared: Cluster, live: PersistentResource, stack: str, name: str) -> Iterator[Finding]:
    expected = {**declared.labels, STACK_LABEL: stack, NAME_LABEL: name}
    for key in dict.fromkeys((*expected, *live.labels)):
        was, now = expected.get(key), live.labels.get(key)
        if was == now or key == HASH_LABEL or (was is None and key.startswith(GOOGLES)):
            continue
        does = (
            f"is {now!r}, and was {was!r}"
            if was and now
            else f"was {was!r} and is gone"
            if was
            else f"{now!r} was added"
        )
        lost = "; by it the cluster was known as the stack's" if key in (STACK_LABEL, NAME_LABEL) else ""
        yield drift(on, f"labels.{key}", f"label {key} {does}{lost}", Then.STAYS)
    known = live.labels.get(HASH_LABEL, "")
    if not known or not declared.id.startswith(cluster_id(name, known)):
        words = f"label {HASH_LABEL} is {known or 'gone'!r}; by it the cluster was known as the stack's"
        yield drift(on, f"labels.{HASH_LABEL}", words, Then.STAYS)


def _settings(on: Subject, declared: Cluster, live: PersistentResource) -> Iterator[Finding]:
    """All that a deployment holds an adopted cluster to beside its pools. One that the stack made never changes so."""
    for key, was, now, _ in settings(asked_for(declared), live):
        if was != now:
            words = f"{key} is {now or 'none'}, and was deployed with {was or 'none'}"
            yield drift(on, key, words, Then.STAYS)


def _pools(on: Subject, declared: Cluster, live: PersistentResource, *, sizes: bool = True) -> Iterator[Finding]:
    """`sizes`: whether it matters how many machines there are of a pool that grows by itself."""
    pools: Mapping[str, ResourcePool] = {pool.id: pool for pool in live.pools}
    for name, pool in declared.pools.items():
        if name not in pools:
            yield drift(on, f"pools.{name}", f"pool {name} is gone", Then.STAYS)
        else:
            yield from _pool(on, pool, pools[name], steady=live.state == _STEADY, sizes=sizes)
    for name in pools.keys() - declared.pools.keys():
        yield drift(on, f"pools.{name}", f"pool {name} was added", Then.STAYS)


def _pool(on: Subject, declared: Pool, live: ResourcePool, *, steady: bool, sizes: bool) -> Iterator[Finding]:
    field = f"pools.{declared.name}"
    if live.machine != declared.machine:
        yield drift(on, f"{field}.machine", f"pool {declared.name} has other machines: {live.machine}", Then.STAYS)
    if declared.autoscaled != (live.max is not None):
        does = "does not grow by itself any more" if declared.autoscaled else "grows by itself now"
        yield drift(on, f"{field}.replicas", f"pool {declared.name} {does}", Then.STAYS)
    elif declared.autoscaled:
        for key, was, now in (("min", declared.min, live.min), ("max", declared.max, live.max)):
            if was != now:
                words = f"pool {declared.name} has replicas.{key} {now}, and was deployed with {was}"
                yield drift(on, f"{field}.replicas.{key}", words, Then.STAYS)
        # While it grows or shrinks it may be anywhere.
        if sizes and steady and not (live.min or 0) <= live.replicas <= (live.max or live.replicas):
            than = f"fewer machines than its minimum of {live.min}"
            than = than if live.replicas < (live.min or 0) else f"more machines than its maximum of {live.max}"
            yield drift(on, f"{field}.replicas", f"pool {declared.name} has {than}", Then.STAYS)
    elif steady and live.replicas != declared.min:
        words = f"pool {declared.name} has {live.replicas} machines, and was deployed with {declared.min}"
        yield drift(on, f"{field}.replicas", words, Then.STAYS)
