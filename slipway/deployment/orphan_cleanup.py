"""Clusters that a stack made and its state lacks, which the engine therefore never deletes: they are found and deleted
before the engine deletes its own."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain

from slipway import unfinished_jobs
from slipway.catalog.document import PublishedCatalog
from slipway.catalog.model import NAME
from slipway.catalog.withdrawal import taken_down
from slipway.cloud.clusters import PersistentResource
from slipway.cloud.connection import connect
from slipway.cloud.credentials import identity
from slipway.cloud.failures import CloudError
from slipway.cloud.storage import Location
from slipway.cloud.vertex import Vertex
from slipway.deployment.deletion_guard import needed_by_others, use_of_cluster, use_of_stack
from slipway.deployment.interim_catalog import InterimCatalog, Offers
from slipway.deployment.live_reader import LiveScope, Reader
from slipway.deployment.removal import WITHIN_S, GracePeriod, Removal, in_words
from slipway.deployment.shared_grants import by_member
from slipway.deployment.workspace_plan import SharedGrant
from slipway.errors import ConfigError, PolicyError, ResourceError
from slipway.fingerprint import cluster_id, fingerprint_of
from slipway.formatting import join
from slipway.generations.generations import is_ours
from slipway.generations.protection import undeletable
from slipway.live import Unknown
from slipway.stack.stack import Stack
from slipway.state import State, stack_locations
from slipway.unfinished_jobs import losses_of_stack

VARIABLE, LEAVE = "SLIPWAY_ORPHANS", "leave"
NOT_DOWN = "the stack is not taken down"
_MADE = "made by this stack, and unknown to its state because an up was killed or failed"
_INSIST = f"{VARIABLE}={LEAVE} takes down what the state has; what it lacks stays and goes on being billed"

Clusters = tuple[PersistentResource, ...]
Say = Callable[[str], None]


class OrphanCleanup:
    """The clusters of a stack in all its places. `file` is the stack file, where that can be read."""

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
        """Begin. Raises AuthError without credentials, ConfigError for an invalid variable."""
        self._insists, self._known, self._stack = insists(environ), known, stack
        self._grace, self._say, self._warn = GracePeriod.of(environ), say, warn
        self._now, self._sleep = now, sleep
        self._connection = connect(environ)
        self._specs = declared = file.clusters if file else ()
        self._declared = [
            (one.name, fingerprint_of(stack, project, region, one), (project, one.region or region))
            for spec in declared
            for one in spec.options
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
        """Return a reader of another place than the stack's own, which it names in failures."""
        return Reader(self._connection, LiveScope(project, region), self._here.identity, where=f" in {region}")

    def run(self, *, preview: bool, within_s: float = WITHIN_S) -> frozenset[str]:
        """Delete them, or in a preview name them. Returns the ids of those that are left because a person insists.

        Raises SlipwayError before anything is deleted when a cluster of the stack is protected or jobs are on one, or
        when jobs or clusters can't be told; Timeout when one is still being made after `within_s` seconds.
        """
        found = self._found()
        if found and not self._insists:
            self._warn(f"{in_words(found)}: {_MADE}; it deletes what the engine can't ({VARIABLE}={LEAVE} not)")
            removal = self._removal(found, within_s)
            removal.must_be_idle(removal.names)
            if not preview:
                removal.offers = self._withdrawn([one.id for one in found])
                removal.run()
        return frozenset(one.id for one in found if self._insists)

    def shared_grants(self) -> tuple[SharedGrant, ...]:
        """Return the stack's grants that another stack of the project needs, or may need."""
        return () if isinstance(self._known, Unknown) else needed_by_others(self._readers, self._known, self._stack)

    def must_leave_none(self) -> None:
        """Raise SlipwayError when a stack that is taken down unasked has a protected cluster, or would leave one that
        it made; and when it would take grants along that another stack needs."""
        found = self._found()
        if found and not self._insists:
            raise PolicyError(
                f"{NOT_DOWN}: {in_words(found)} would be left",
                why=f"{_MADE}; the engine deletes only what the state has, and the rest is billed",
                fix="SLIPWAY_PURPOSE=destroy pulumi destroy --run-program, which deletes the rest too\n"
                f"or pulumi up, which takes it over\n{_INSIST}",
            )
        if stay := by_member(self.shared_grants()):
            raise PolicyError(
                f"{NOT_DOWN}: the roles of {join(stay)} would go, and another stack of the project may need them",
                why="without SLIPWAY_PURPOSE the engine deletes all that the state has",
                fix="SLIPWAY_PURPOSE=destroy pulumi destroy --run-program, which leaves what others need",
            )

    def _found(self) -> Clusters:
        """Return the orphans. Raises PolicyError for a protected cluster, ResourceError where it can't be told."""
        self._must_not_be_protected()
        if isinstance(self._known, Unknown):
            return self._untold("which clusters the stack's state lacks", self._known)
        found = self._clusters()
        if isinstance(found, Unknown):
            return self._untold("which clusters there are", found)
        lacking = orphans(found, self._known, self._stack)
        if lacking and self._insists:
            stay = f"{VARIABLE}={LEAVE}: {in_words(lacking)} stays and goes on being billed, until"
            self._warn("\n  ".join((stay, *(_deletion(one.name) for one in lacking))))
        return lacking

    def _untold(self, what: str, part: Unknown) -> Clusters:
        """Return None when a person insists. Raises ResourceError."""
        if not self._insists:
            fix = f"correct that and run it again\n{_INSIST}"
            raise ResourceError(f"{NOT_DOWN}: can't tell {what}", why=str(part), fix=fix)
        self._warn(f"can't tell {what}: {part}; {_INSIST}")
        return ()

    def _must_not_be_protected(self) -> None:
        catalog = self._here.catalog() if self._bucket else None
        known = {} if isinstance(self._known, Unknown) else self._known.protected
        if refusal := undeletable(self._specs, catalog, self._stack, known):
            raise refusal.error
        whole = catalog.whole if isinstance(catalog, PublishedCatalog) else None
        # These too: an edited stack file and a lost state do not tell them.
        for region in whole.regions if whole and whole.stack == self._stack else ():
            place = (self.where[0][0], region)
            if place not in self._readers:
                self._readers[place] = self._reader(*place)
                self.where = (*self.where, place)

    def _clusters(self) -> Clusters | Unknown:
        """Return the listed clusters, and those of the stack file that are too new for a list. Their names have the
        places in the state."""
        found: dict[str, PersistentResource] = {}
        for place, reader in self._readers.items():
            listed = reader.clusters()
            if isinstance(listed, Unknown):
                return listed
            found |= {_named(one.id, place): one for one in listed}
        ids = {one.id for one in found.values()}
        for name, fingerprint, place in self._declared:
            n = 1
            while (id_ := cluster_id(name, fingerprint, n)) in ids:
                n += 1
            cluster = self._readers[place].cluster(id_)
            if isinstance(cluster, Unknown):
                return cluster
            if cluster is not None:
                found[_named(id_, place)] = cluster
        return tuple(replace(one, name=name) for name, one in found.items())

    def _removal(self, found: Clusters, within_s: float) -> Removal:
        def vertex(name: str) -> Vertex:
            return self._connection.vertex(*_place(name))

        def must_be_idle(_: object) -> None:
            """Require that no cluster of the whole stack is in use, nor one of these, which a list may lack."""
            uses = (use_of_stack(self._connection, *place, self._stack) for place in self.where)
            for use in chain(uses, (use_of_cluster(self._connection, one.name) for one in found)):
                unfinished_jobs.must_be_idle(use, NOT_DOWN, losses_of_stack, rest=_INSIST)

        return Removal(
            [one.name for one in found],
            vertex,
            must_be_idle,
            self._say,
            self._warn,
            self._now,
            self._sleep,
            grace=self._grace,
            stays=f"{NOT_DOWN}: ",
            again=f"run it again later\n{_INSIST}",
            within=within_s,
        )

    def _withdrawn(self, ids: Collection[str]) -> InterimCatalog | None:
        """Return the catalog, without these clusters. A failure is reported, and the destruction goes on: it asks for
        jobs before it deletes anything."""
        catalog = self._here.catalog() if self._bucket else Unknown("nobody can tell its bucket", "", "")
        if isinstance(catalog, Unknown):
            why = catalog.why
        elif catalog is None or catalog.stack not in ("", self._stack):
            return None
        else:
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
        at = f"the catalog {Location(self._bucket, NAME)}" if self._bucket else "a catalog"
        self._warn(f"{at} may offer {join(ids)} to the end, and the deletion cancels a job that is sent then: {why}")
        return None


def insists(environ: Mapping[str, str]) -> bool:
    """Tell whether a person insists on leaving them. Raises ConfigError for an unknown word."""
    word = environ.get(VARIABLE, "")
    if word not in ("", LEAVE):
        raise ConfigError(f"invalid {VARIABLE}={word}", fix=f"{VARIABLE}={LEAVE}, or unset it")
    return word == LEAVE


def orphans(found: Iterable[PersistentResource], known: State, stack: str) -> Clusters:
    """Return the clusters that the stack made, by labels and id, and that its state lacks."""
    return tuple(one for one in found if is_ours(one, stack) and not known.has(*_place(one.name), one.id))


def _named(id_: str, place: tuple[str, str]) -> str:
    project, region = place
    return f"projects/{project}/locations/{region}/persistentResources/{id_}"


def _place(name: str) -> tuple[str, str]:
    _, project, _, region, *_ = name.split("/")
    return project, region


def _deletion(name: str) -> str:
    project, region = _place(name)
    return f"gcloud ai persistent-resources delete {name.rpartition('/')[2]} --project={project} --region={region}"
