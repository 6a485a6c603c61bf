"""Deletes what a stack made and its state lacks, before the engine deletes what it has. All talking, no deciding."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime
from itertools import chain

from slipway import unfinished_jobs
from slipway.catalog.document import PublishedCatalog
from slipway.catalog.model import NAME
from slipway.catalog.withdrawal import taken_down
from slipway.cloud.connection import connect
from slipway.cloud.credentials import identity
from slipway.cloud.failures import CloudError
from slipway.cloud.storage import Location
from slipway.cloud.vertex import Vertex
from slipway.deployment.deletion_guard import use_of_cluster, use_of_stack
from slipway.deployment.grace_period import GracePeriod
from slipway.deployment.interim_catalog import InterimCatalog, Offers
from slipway.deployment.live_reader import LiveScope, Reader
from slipway.deployment.orphans import (
    NOT_DOWN,
    Orphan,
    announced,
    insist,
    leaving,
    left,
    orphans,
    unasked,
    untold,
)
from slipway.deployment.removal import WITHIN_S, Removal
from slipway.errors import PolicyError
from slipway.fingerprint import cluster_id, fingerprint_of
from slipway.formatting import join
from slipway.generations.protection import undeletable
from slipway.live import Unknown
from slipway.stack.stack import Stack
from slipway.state import State, stack_locations
from slipway.unfinished_jobs import losses_of_stack

Say = Callable[[str], None]


class OrphanCleanup:
    """The clusters of a stack wherever it lives. `file` is the stack file, where that can be read."""

    def __init__(
        self,
        environ: Mapping[str, str],
        known: State | Unknown,
        *,
        stack: str,
        project: str,
        region: str,
        file: Stack | None,
        say: Say,
        warn: Say,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Raises AuthError without credentials, ConfigError for an invalid variable."""
        self._insists, self._known, self._stack = left(environ), known, stack
        self._grace, self._say, self._warn = GracePeriod.of(environ), say, warn
        self._now, self._sleep = now, sleep
        self._connection = connect(environ)
        self._specs = declared = file.clusters if file else ()
        options = (option for spec in declared for option in spec.options)
        self._declared = [
            (one.name, fingerprint_of(stack, project, region, one), (project, one.region or region)) for one in options
        ]
        regions = file.other_regions if file else ()
        self.where = stack_locations(None if isinstance(known, Unknown) else known, project, region, regions)
        self._bucket = file.workspace.catalog_bucket if file else ""
        if not isinstance(known, Unknown) and known.catalog_bucket:
            self._bucket = known.catalog_bucket
        wanted = LiveScope(*self.where[0], catalog_bucket=self._bucket)
        self._here = Reader(self._connection, wanted, identity(environ))
        self._readers = {self.where[0]: self._here, **{place: self._reader(*place) for place in self.where[1:]}}

    def _reader(self, project: str, region: str) -> Reader:
        """Of a place besides the stack's own, which it names where something can't be read."""
        return Reader(self._connection, LiveScope(project, region), self._here.identity, where=f" in {region}")

    def run(self, *, preview: bool, within_s: float = WITHIN_S) -> frozenset[str]:
        """Deletes the clusters that the stack made and the engine does not know; a preview names them.

        Gives the ids of those that are left because a person insists.

        Raises SlipwayError before anything is deleted when a cluster of the stack is protected or jobs are on one, or
        when jobs or clusters can't be told; Timeout when one is still being made after `within_s` seconds.
        """
        self._must_not_be_protected()
        found = self._orphans()
        if found and self._insists:
            self._warn(leaving(found))
            return frozenset(one.id for one in found)
        if found:
            self._warn(announced(found))
            removal = self._removal(found, within_s)
            removal.must_be_idle(removal.names)
            if not preview:
                removal.offers = self._withdrawn([one.id for one in found])
                removal.run()
        return frozenset()

    def must_leave_none(self) -> None:
        """Raises SlipwayError when a stack that is taken down unasked has a protected cluster, or would leave one that
        it made."""
        self._must_not_be_protected()
        found = self._orphans()
        if found and not self._insists:
            raise unasked(found)
        if found:
            self._warn(leaving(found))

    def _must_not_be_protected(self) -> None:
        catalog = self._here.catalog() if self._bucket else None
        known = {} if isinstance(self._known, Unknown) else self._known.protected
        if refusal := undeletable(self._specs, catalog, self._stack, known):
            raise PolicyError(refusal.what, why=refusal.why, fix=refusal.fix)
        whole = catalog.whole if isinstance(catalog, PublishedCatalog) else None
        # There too: a stack file that was edited, and a state that was lost, do not tell it.
        for region in whole.regions if whole and whole.stack == self._stack else ():
            place = (self.where[0][0], region)
            if place not in self._readers:
                self._readers[place] = self._reader(*place)
                self.where = (*self.where, place)

    def _orphans(self) -> tuple[Orphan, ...]:
        if isinstance(self._known, Unknown):
            return self._untold("which clusters the stack's state lacks", self._known)
        found = self._clusters()
        if isinstance(found, Unknown):
            return self._untold("which clusters there are", found)
        return orphans(found, self._known, self._stack)

    def _untold(self, what: str, part: Unknown) -> tuple[Orphan, ...]:
        """None, for whoever insists. Raises ResourceError."""
        error = untold(what, part)
        if not self._insists:
            raise error
        self._warn(f"can't tell {what}: {error.why}; a cluster that the state lacks is left and goes on being billed")
        return ()

    def _clusters(self) -> list[Orphan] | Unknown:
        """All that are listed, and those which a deployment of the stack file made too short ago to be listed."""
        found: list[Orphan] = []
        for place, reader in self._readers.items():
            listed = reader.clusters()
            if isinstance(listed, Unknown):
                return listed
            found += [Orphan(*place, cluster) for cluster in listed]
        ids = {one.id for one in found}
        for name, fingerprint, place in self._declared:
            n = 1
            while (id_ := cluster_id(name, fingerprint, n)) in ids:
                n += 1
            cluster = self._readers[place].cluster(id_)
            if isinstance(cluster, Unknown):
                return cluster
            if cluster is not None:
                found.append(Orphan(*place, cluster))
        return found

    def _removal(self, found: tuple[Orphan, ...], within_s: float) -> Removal:
        def vertex(name: str) -> Vertex:
            _, project, _, region, *_ = name.split("/")
            return self._connection.vertex(project, region)

        def must_be_idle(_: object) -> None:
            """No cluster of the whole stack is in use, nor one of these, which a list may lack."""
            uses = (use_of_stack(self._connection, *place, self._stack) for place in self.where)
            for use in chain(uses, (use_of_cluster(self._connection, one.name) for one in found)):
                unfinished_jobs.must_be_idle(use, NOT_DOWN, losses_of_stack, rest=insist(found))

        names = [one.name for one in found]
        return Removal(
            names,
            vertex,
            must_be_idle,
            self._say,
            self._warn,
            self._now,
            self._sleep,
            grace=self._grace,
            stays=f"{NOT_DOWN}: ",
            again=f"run it again later\n{insist(found)}",
            within=within_s,
        )

    def _withdrawn(self, ids: Collection[str]) -> InterimCatalog | None:
        """The catalog, without these clusters. Where it can't be withdrawn from that is said, and the destruction goes
        on: it asks for jobs before it deletes anything."""
        catalog, at, why = None, "a catalog", "the stack file can't be read, and the state names no bucket"
        if self._bucket:
            catalog, at, why = self._here.catalog(), f"the catalog {Location(self._bucket, NAME)}", ""
        if isinstance(catalog, Unknown):
            why = catalog.why
        elif catalog is not None and catalog.stack in ("", self._stack):
            self._grace.began_with(catalog)
            why = catalog.damage or "another version published it"
            if (whole := catalog.whole) is not None:
                now, bucket = datetime.now(UTC), self._bucket
                offers = Offers(whole, lambda _: whole, lambda _: whole, bucket, (), None, now, taken_down)
                published = InterimCatalog(offers, self._connection.storage, self._warn)
                try:
                    published.withdraw(ids)
                    return published
                except CloudError as error:
                    why = error.why
        if why:
            self._warn(
                f"{at} may go on offering {join(ids)} until it is deleted itself: {why}; "
                "a job that is sent there right before the deletion may be cancelled by it"
            )
        return None
