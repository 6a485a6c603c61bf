"""Deletes what a stack made and its state lacks, before the engine deletes what it has. All talking, no deciding."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping

from slipway.catalog.document import PublishedCatalog
from slipway.catalog.model import NAME
from slipway.cloud.connection import connect
from slipway.cloud.credentials import identity
from slipway.cloud.failures import CloudError, Conflict, NotFound, Refused
from slipway.cloud.storage import Location
from slipway.deployment.deletion_guard import use_of_cluster, use_of_stack
from slipway.deployment.grace_period import GracePeriod
from slipway.deployment.live_reader import LiveScope, Reader
from slipway.deployment.orphans import (
    Orphan,
    announced,
    leaving,
    left,
    orphans,
    refuse,
    unasked,
    unready,
    untold,
    unwilling,
)
from slipway.deployment.published_offers import PublishedOffers
from slipway.errors import PolicyError
from slipway.fingerprint import cluster_id, fingerprint_of
from slipway.formatting import join, span
from slipway.generations.protection import undeletable
from slipway.live import Unknown, Use
from slipway.polling import poll
from slipway.stack.stack import Stack
from slipway.state import State, stack_locations

WITHIN_S = 2 * 3600.0
_FIRST_S, _LONGEST_S = 0.5, 10.0
_TRIES = 5

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
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Raises AuthError without credentials, ConfigError for an invalid variable."""
        self._insists, self._known, self._stack = left(environ), known, stack
        self._grace, self._say, self._warn, self._sleep = GracePeriod.of(environ), say, warn, sleep
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
        self._offers = PublishedOffers(self._connection.storage, Location(self._bucket, NAME), stack, warn)
        self._going: set[str] = set()

    def _reader(self, project: str, region: str) -> Reader:
        """Of a place besides the stack's own, which it names where something can't be read."""
        reader = Reader(self._connection, LiveScope(project, region), self._here.identity)
        reader.where = f" in {region}"
        return reader

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
            self._refuse(found)
            if not preview:
                self._delete(found, within_s)
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
        for region in whole.regions if whole and whole.stack == self._stack else ():
            self._look_in(region)

    def _look_in(self, region: str) -> None:
        """There too: a stack file that was edited, and a state that was lost, do not tell it."""
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

    def _refuse(self, found: tuple[Orphan, ...]) -> None:
        refuse(found, self._uses(found))

    def _uses(self, found: tuple[Orphan, ...]) -> Iterator[Use | Unknown]:
        """Of the whole stack, and of each of these, which a list may lack."""
        for project, region in self.where:
            yield use_of_stack(self._connection, project, region, self._stack)
        for one in found:
            yield use_of_cluster(self._connection, one.name)

    def _delete(self, found: tuple[Orphan, ...], within_s: float) -> None:
        """Waits until all of them can be deleted, asks for jobs again, and deletes them. After an error the catalog
        offers again what was not deleted; after a kill it does not, and the same command goes on from there."""
        try:
            self._try_to_delete(found, within_s)
        except Exception:
            self._offers.restore(self._going)
            raise

    def _try_to_delete(self, found: tuple[Orphan, ...], within_s: float) -> None:
        for attempt in range(_TRIES):
            found = self._settled(found, within_s)
            if not found:
                return
            self._going -= {one.id for one in found}
            self._refuse(found)
            self._let_time_pass(found)
            for one in found:
                self._say(f"deleting cluster {one.id}")
                self._ask_for_its_end(one)
            self._sleep(min(_FIRST_S * 2**attempt, _LONGEST_S))
        found = self._settled(found, within_s)
        if found:
            raise unwilling(found)

    def _let_time_pass(self, found: tuple[Orphan, ...]) -> None:
        """Until the catalog has not offered one for so long that its jobs would be known. One that is not there may
        have been until a moment ago."""
        ids, said = tuple(one.id for one in found), False
        self._grace.began_with(self._here.catalog() if self._bucket else None)
        self._offers.withdraw(ids)
        while wait := max(map(self._grace.left, ids)):
            if not said:
                self._say(f"deleting {join(ids)} in {span(math.ceil(wait))}: a job may not be listed yet")
                said = True
            self._sleep(min(wait, _LONGEST_S))
            self._refuse(found)

    def _settled(self, found: tuple[Orphan, ...], within_s: float) -> tuple[Orphan, ...]:
        """Those that are there when none is being made or deleted any more."""
        busy: tuple[Orphan, ...] = ()
        said = ""
        for _ in poll(self._sleep, _FIRST_S, _LONGEST_S, within=within_s):
            found = tuple(now for one in found if (now := self._now(one)))
            busy = tuple(one for one in found if not one.deletable)
            if not busy:
                return found
            words = f"waiting for cluster {join(map(str, busy))}"
            if words != said:
                self._say(words)
                said = words
        raise unready(busy, within_s / 3600)

    def _now(self, one: Orphan) -> Orphan | None:
        cluster = self._readers[one.project, one.region].cluster(one.id)
        if isinstance(cluster, Unknown):
            raise untold(f"whether cluster {one.id} is there", cluster)
        if cluster is None:
            self._say(f"cluster {one.id} is deleted")
            return None
        return Orphan(one.project, one.region, cluster)

    def _ask_for_its_end(self, one: Orphan) -> None:
        self._going.add(one.id)
        try:
            self._connection.vertex(one.project, one.region).delete_persistent_resource(one.id)
        except (NotFound, Refused, Conflict):
            return  # It is gone, or going: its state tells which, and is asked for next.
        except CloudError as error:
            if error.not_accepted:
                self._going.discard(one.id)
            raise
