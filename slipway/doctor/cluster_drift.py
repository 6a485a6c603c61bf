"""What a person did to a cluster, against what the catalog says was asked for. Its size within bounds is the
autoscaler's work, and none of it. Of one that is adopted nothing is put back: its owner's word counts."""

from __future__ import annotations

from collections.abc import Iterator

from slipway.catalog.model import Catalog
from slipway.cloud.clusters import STEADY, PersistentResource
from slipway.doctor.drift import Drift, Then
from slipway.generations.published_clusters import departures
from slipway.labels import HASH_LABEL, NAME_LABEL, STACK_LABEL

_KNOWN_BY = tuple(f"labels.{key}" for key in (STACK_LABEL, NAME_LABEL, HASH_LABEL))


def of_clusters(catalog: Catalog, clusters: tuple[PersistentResource, ...]) -> Iterator[Drift]:
    """Of those that are offered. No deployment changes a living cluster: what differs stays until there is a new one,
    but for one that is gone."""
    there = {(cluster.region or catalog.region, cluster.id): cluster for cluster in clusters}
    for name, published in catalog.clusters.items():
        on, live = f"cluster {published.id}", there.get((catalog.region_of(name), published.id))
        if live is None:
            yield Drift(on, "", "somebody deleted it", Then.REFUSES if published.adopted else Then.MADE_ANEW)
            continue
        then = Then.REFUSES if published.adopted else Then.STAYS
        for one in departures(published, live.spec, catalog.stack, steady=live.state == STEADY):
            known = "; by it the cluster was known as the stack's" if one.key in _KNOWN_BY else ""
            words = f"{one.key} is {one.after or 'none'}, and was deployed with {one.before or 'none'}{known}"
            yield Drift(on, one.key, words, then)
