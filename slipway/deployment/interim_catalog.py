"""The catalog while clusters are being made or removed, which Slipway publishes itself: the engine's comes last.

All else that is deployed goes before clusters that are made, as that may take days. The catalog says which commit is
under way then, so that the next deployment goes on where this one does not come to its end, that of the schedule too.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from slipway.catalog import document
from slipway.catalog.model import NAME, Catalog
from slipway.catalog.withdrawal import begun, withdrawn
from slipway.cloud.failures import CloudError
from slipway.cloud.storage import Location, Storage
from slipway.deployment.checkout import UNKNOWN
from slipway.formatting import join
from slipway.labels import Revision
from slipway.packages.source_package import SourcePackage

CatalogOf = Callable[[Mapping[str, str]], Catalog]
"""From those of the new clusters that run: their ids, by the ids that were asked for."""


@dataclass(frozen=True)
class Offers:
    """What is published: `before`, as the deployment began, in `bucket`; `interim`, while clusters are being made;
    `final`, by the engine. `packages` are what the interim's templates need. Without `revision` no commit is under way.
    `withdrawn` gives a catalog without clusters of some ids, as of a time."""

    before: Catalog | None
    interim: CatalogOf
    final: CatalogOf
    bucket: str
    packages: tuple[SourcePackage, ...]
    revision: Revision | None
    now: datetime
    withdrawn: Callable[[Catalog, Collection[str], datetime], Catalog] = withdrawn


class InterimCatalog:
    """Threads share it."""

    def __init__(self, offers: Offers, storage: Storage, warn: Callable[[str], None]) -> None:
        self._offers, self._storage, self._warn = offers, storage, warn
        self._before = document.write(offers.before) if offers.before else ""
        self._published, self._packages = self._before, offers.packages
        self._made: dict[str, str] = {}
        self._withdrawn: frozenset[str] = frozenset()
        self._lock = threading.Lock()

    def publish(self, made: Mapping[str, str] = {}) -> None:
        """What there is to submit to, now that these clusters run too."""
        with self._lock:
            self._made |= made
            self._publish()

    def withdraw(self, ids: Collection[str]) -> None:
        """Nobody is sent to these clusters any more. Raises CloudError."""
        with self._lock:
            self._withdrawn |= frozenset(ids)
            self._publish()

    def offer_again(self, ids: Collection[str]) -> None:
        with self._lock:
            self._withdrawn -= frozenset(ids)
            try:
                self._publish()
            except CloudError as error:
                self._warn(f"the catalog does not offer {join(ids)} until the next pulumi up: {error.why}")

    def end(self) -> None:
        """Where the engine finds its catalog as it was, it does not write it again."""
        with self._lock:
            if document.write(self._offers.final(self._made)) == self._before:
                self._write(self._before)

    def _publish(self) -> None:
        offers = self._offers
        catalog = offers.withdrawn(offers.interim(self._made), self._withdrawn, offers.now)
        as_before = replace(catalog, under_way=offers.before.under_way if offers.before else None)
        if document.write(as_before) == self._before:
            self._write(self._before)
            return
        for one in self._packages:
            self._storage.create(Location(catalog.catalog_bucket, one.path), one.content, "application/gzip")
        self._packages = ()
        if revision := offers.revision:
            known = not revision.dirty and revision.commit != UNKNOWN  # Else nobody has it, so as to go on.
            catalog = begun(catalog, revision.commit if known else "")
        self._write(document.write(catalog))

    def _write(self, text: str) -> None:
        if text != self._published:
            self._storage.write(Location(self._offers.bucket, NAME), text.encode(), "application/json")
            self._published = text
