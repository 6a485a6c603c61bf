"""Clusters that nobody needs any more, which go before others are made: those may not be had for days, and the engine
deletes last, and nothing when one could not be made.

Also what is dormant from now on leaves the catalog then, though a job may keep it: else people would go on submitting.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from slipway.catalog.clusters import DormantCluster
from slipway.catalog.model import Catalog
from slipway.catalog.withdrawal import over
from slipway.cloud.clusters import PersistentResource
from slipway.cloud.jobs import VertexJob
from slipway.cloud.storage import Storage
from slipway.creation.creation_context import CreationContext
from slipway.creation.in_place import InPlace, Published
from slipway.errors import Timeout
from slipway.formatting import join


class Ahead(InPlace):
    """`clusters` are those to delete. `dormant`, by name, are as the catalog is to have them; it may offer some yet."""

    within = 30 * 60.0
    _then = ""
    _before = "it is not asked for any more, and nothing is made before it is gone"

    def __init__(
        self,
        clusters: Sequence[PersistentResource],
        published: Published,
        storage: Storage,
        cloud: CreationContext,
        dormant: Mapping[str, DormantCluster],
    ) -> None:
        super().__init__(clusters, published, storage, cloud)
        self._dormant = dormant

    def run(self) -> None:
        """As for those that are replaced, but that none which takes too long to go holds up what is to be made."""
        if self._ids:
            super().run()
        elif self._dormant:
            self._withdraw()

    def _leaving(self, catalog: Catalog) -> Sequence[str]:
        offered = (catalog.clusters[name] for name in self._dormant if name in catalog.clusters)
        return [one.id for one in offered if not one.adopted]

    def _without(self, catalog: Catalog, ids: Collection[str]) -> Catalog:
        there = {name for name, one in catalog.clusters.items() if one.id in ids}
        return over(catalog, {name: one for name, one in self._dormant.items() if name in there})

    def _words(self, ids: Sequence[str]) -> str:
        return f"the catalog does not offer {join(ids)} any more"

    def _mend(self, jobs: Sequence[VertexJob]) -> str:
        return "pulumi up again: it keeps the cluster until nothing runs on it"

    def _wait_until_gone(self, id_: str) -> None:
        try:
            super()._wait_until_gone(id_)
        except Timeout as slow:
            self._cloud.warn(f"{slow.what}; what is to be made is asked for all the same")
