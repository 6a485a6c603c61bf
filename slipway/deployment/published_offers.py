"""What the published catalog offers of clusters that a destruction deletes itself: nothing, from before it does so."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from slipway.catalog import document
from slipway.catalog.model import Catalog
from slipway.cloud.failures import CloudError, NotFound
from slipway.cloud.storage import Location, Storage
from slipway.errors import ConfigError
from slipway.formatting import join


def without_offers(catalog: Catalog, ids: Collection[str]) -> Catalog:
    """The same, with the clusters of these ids among those that retire: nobody is sent to them any more."""
    names = {name: one.id for name, one in catalog.clusters.items() if one.id in ids}
    why = f"its cluster is being deleted, as stack {catalog.stack} is taken down"
    templates = {
        name: replace(
            one,
            offers=tuple(
                replace(offer, available=False, why=why, cluster="", pools=(), lacks_quota=False)
                if offer.cluster in names
                else offer
                for offer in one.offers
            ),
        )
        for name, one in catalog.templates.items()
    }
    return replace(
        catalog,
        clusters={name: one for name, one in catalog.clusters.items() if name not in names},
        retiring=tuple(dict.fromkeys((*catalog.retiring, *names.values()))),
        templates=templates,
    )


class PublishedOffers:
    """Those of one stack. `at`: where its catalog is. All talking, no deciding."""

    def __init__(self, storage: Storage, at: Location, stack: str, warn: Callable[[str], None]) -> None:
        self._storage, self._at, self._stack, self._warn = storage, at, stack, warn
        self._before = b""

    def withdraw(self, ids: Collection[str]) -> None:
        """Publishes the catalog without these clusters, if it offers any. Where that can't be done it is said, and the
        destruction goes on: it asks for jobs before it deletes anything."""
        if not self._at.bucket:
            self._warn(_unwithdrawn("a catalog", ids, "the stack file can't be read, and the state names no bucket"))
            return
        try:
            content = self._storage.read(self._at)
            catalog = document.read(content, str(self._at))
            if catalog.stack != self._stack or not any(one.id in ids for one in catalog.clusters.values()):
                return
            self._before = self._before or content
            self._write(without_offers(catalog, ids))
        except NotFound:
            pass  # Nobody is sent anywhere.
        except (CloudError, ConfigError) as error:
            self._warn(_unwithdrawn(f"the catalog {self._at}", ids, error.why))

    def restore(self, gone: Collection[str]) -> None:
        """Publishes again what was withdrawn, but for clusters that are being deleted: the stack stays."""
        if not self._before:
            return
        try:
            again = without_offers(document.read(self._before, str(self._at)), gone)
            self._write(again)
        except CloudError as error:
            self._warn(f"the catalog {self._at} offers less than there is until the next pulumi up: {error.why}")

    def _write(self, catalog: Catalog) -> None:
        self._storage.write(self._at, document.write(catalog).encode(), "application/json")


def _unwithdrawn(catalog: str, ids: Collection[str], why: str) -> str:
    return (
        f"{catalog} may go on offering {join(ids)} until it is deleted itself: {why}; "
        "a job that is sent there right before the deletion may be cancelled by it"
    )
