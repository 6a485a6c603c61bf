"""The catalog while clusters are being made or removed, which Slipway publishes itself: the engine's comes last.

Clusters are made after the rest of a deployment, as that may take days. A cluster that does not exist yet is offered as
its predecessor, if that lives; so is one whose entry is gone, as a new one may come in its place. The catalog names the
commit under way, so that the next deployment, a scheduled one too, continues where this one is killed.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from slipway.authoring.packages.source_package import SourcePackage
from slipway.base.formatting import join, span
from slipway.deploying.deployment.patience import patiently
from slipway.deploying.deployment.plan import Plan, as_made
from slipway.deploying.generations.action import What
from slipway.deploying.generations.dormant import Dormancy
from slipway.deploying.generations.generations import SPENT_STATES
from slipway.google.catalog import document
from slipway.google.failures import CloudError
from slipway.google.live import Live, Unknown
from slipway.google.storage import Location, Storage
from slipway.model.catalog.clusters import Cluster
from slipway.model.catalog.model import NAME, Catalog
from slipway.model.catalog.template import Template
from slipway.model.catalog.withdrawal import mark_under_way, withdrawn
from slipway.model.cluster import CurrentCluster
from slipway.model.labels import UNKNOWN_COMMIT, Revision
from slipway.model.season import MACHINES

_WITHIN_S = 240.0
"""The seconds for which a write is tried: as long as the gcp provider tries an upload."""

CatalogOf = Callable[[Mapping[str, str]], Catalog]
"""A function that returns the catalog while some new clusters run: it takes their ids by the ids of their first
configurations, as an alternative that was made in a cluster's place has another id."""


def interim(plan: Plan, live: Live, catalog_of: Callable[[Plan], Catalog]) -> CatalogOf:
    """Return the catalog while some of the clusters to be made run. `catalog_of` returns a plan's catalog. Pure.

    The parts that wait for clusters being made stay as published: their predecessors, and templates that would lose
    these.
    """
    published = live.deployed
    listed = () if isinstance(live.clusters, Unknown) else live.clusters
    usable = {cluster.id for cluster in listed if cluster.state not in SPENT_STATES}
    predecessors = {
        name: cluster
        for name, cluster in (published.clusters if published else {}).items()
        if cluster.id in usable and not cluster.adopted
    }
    dormant_names = {dormancy.spec.name for dormancy in plan.dormant}
    declared = dormant_names | {cluster.spec.name for cluster in plan.current}
    # Nothing is being made under these names, so what the plan says of them holds already.
    decided = dormant_names | {cluster.spec.name for cluster in plan.current if cluster.import_}

    def interim_of(made: Mapping[str, str]) -> Catalog:
        existing = _plan_of_existing(as_made(plan, made), predecessors=predecessors, declared=declared, made=made)
        catalog = catalog_of(existing)
        # The clusters that are deleted last live until all else is done.
        last = (action.id for action in plan.of(What.DELETE_LAST) if not catalog.cluster_named(action.id))
        catalog = replace(catalog, retiring=tuple(dict.fromkeys((*catalog.retiring, *last))))
        if published is None:
            return catalog
        waiting = {
            name: cluster
            for name, cluster in published.clusters.items()
            if name not in decided and catalog.cluster_named(cluster.id)
        }
        in_place = {
            name: dormant
            for name, dormant in published.dormant.items()
            if dormant.why == "in-place" and name in catalog.dormant
        }
        templates = {
            name: before if (before := published.templates.get(name)) and _loses(before, now, waiting) else now
            for name, now in catalog.templates.items()
        }
        clusters, dormant = {**catalog.clusters, **waiting}, {**catalog.dormant, **in_place}
        return replace(catalog, clusters=clusters, dormant=dormant, templates=templates)

    return interim_of


def _plan_of_existing(
    plan: Plan, *, predecessors: Mapping[str, Cluster], declared: Collection[str], made: Collection[str]
) -> Plan:
    """Return the plan of the existing clusters, while of the new ones only those `made` run, by their first ids. Usable
    `predecessors` by name; `declared`: the names in the stack file."""
    current, dormant = [], list(plan.dormant)
    living = {name: CurrentCluster(former, former.id, "", import_=True) for name, former in predecessors.items()}
    for cluster in plan.current:
        if cluster.import_ or cluster.id in made:
            current.append(cluster)
        elif predecessor := living.get(cluster.spec.name):
            current.append(predecessor)
        else:
            lacks = {MACHINES: ""} if cluster.spec.season.begins else {}
            dormant.append(Dormancy(cluster.spec, cluster.id, "season", lacks=lacks))
    current += (former for name, former in living.items() if name not in declared)
    return plan.with_clusters(current, dormant)


def _loses(before: Template, now: Template, clusters: Collection[str]) -> bool:
    """Tell whether a template no longer offers one of these clusters."""
    was, is_ = ({offer.cluster for offer in template.offers if offer.available} for template in (before, now))
    return bool((was - is_) & set(clusters))


@dataclass(frozen=True)
class DeploymentCatalogs:
    #: The published one at the beginning of the deployment.
    before: Catalog | None
    #: The one while clusters are being made.
    interim: CatalogOf
    #: The one that the engine publishes at the end.
    final: CatalogOf
    bucket: str
    #: The packages of the interim catalog's templates.
    packages: tuple[SourcePackage, ...]
    #: The commit under way; None where the catalog names none.
    revision: Revision | None
    now: datetime


class InterimCatalog:
    """The publisher of the interim catalog. Threads share it."""

    def __init__(
        self,
        catalogs: DeploymentCatalogs,
        storage: Storage,
        warn: Callable[[str], None],
        pause: Callable[[float], object] = time.sleep,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._catalogs, self._storage, self._warn, self._pause, self._now = catalogs, storage, warn, pause, now
        self._before = document.write(catalogs.before) if catalogs.before else ""
        self._published, self._packages = self._before, catalogs.packages
        self._made: dict[str, str] = {}
        self._withdrawn: frozenset[str] = frozenset()
        self._lock = threading.Lock()

    def publish(self, made: Mapping[str, str] = {}) -> None:
        with self._lock:
            self._made |= made
            self._publish()

    def withdraw(self, ids: Collection[str]) -> None:
        """Take these clusters out of the catalog. Raises CloudError."""
        with self._lock:
            self._withdrawn |= frozenset(ids)
            self._publish()

    def offer_again(self, ids: Collection[str]) -> None:
        with self._lock:
            self._withdrawn -= frozenset(ids)
            try:
                self._publish()
            except CloudError as error:
                self._warn(f"the catalog does not offer {join(ids)} until the next deployment: {error.why}")

    def end(self) -> None:
        """Write the catalog as it was before, where the final one is no other: the engine then writes nothing."""
        with self._lock:
            if document.write(self._catalogs.final(self._made)) == self._before:
                self._write(self._before)

    def _publish(self) -> None:
        catalogs = self._catalogs
        catalog = withdrawn(catalogs.interim(self._made), self._withdrawn, catalogs.now)
        # Where only the commit under way is new, nothing is to be told: the catalog is, or becomes again, what it was.
        as_before = replace(catalog, under_way=catalogs.before.under_way if catalogs.before else None)
        if document.write(as_before) == self._before:
            self._write(self._before)
            return
        for package in self._packages:
            self._upload(Location(catalog.catalog_bucket, package.path), package.content)
        self._packages = ()
        if revision := catalogs.revision:
            # Another machine can continue a commit alone: it does not have local changes.
            continuable = not revision.dirty and revision.commit != UNKNOWN_COMMIT
            catalog = mark_under_way(catalog, revision.commit if continuable else "")
        self._write(document.write(catalog))

    def _write(self, text: str) -> None:
        if text != self._published:
            at = Location(self._catalogs.bucket, NAME)
            self._patiently(at, lambda: self._storage.write(at, text.encode(), "application/json"))
            self._published = text

    def _upload(self, at: Location, content: bytes) -> None:
        # One that is there already, as where an answer was lost, has the same contents: its name has their hash.
        self._patiently(at, lambda: self._storage.create(at, content, "application/gzip"))

    def _patiently(self, at: Location, write: Callable[[], object]) -> None:
        patiently(
            write,
            lambda error, left: self._warn(f"{at} is not written yet: {error.message}; trying again, for {span(left)}"),
            within=_WITHIN_S,
            pause=self._pause,
            now=self._now,
        )
