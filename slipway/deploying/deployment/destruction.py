"""A destruction: the engine deletes only what the state has, so it is refused while a cluster of the stack lives that
the state lacks. `up` takes such a cluster over."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace

from slipway.authoring.stack.stack import Stack
from slipway.base.errors import PolicyError, ResourceError
from slipway.base.formatting import join
from slipway.deploying.deployment.removal import in_words
from slipway.deploying.deployment.shared_grants import by_member
from slipway.deploying.deployment.workspace_plan import SharedGrant
from slipway.deploying.generations.generations import free_id
from slipway.deploying.generations.protection import undeletable
from slipway.google.catalog.document import PublishedCatalog
from slipway.google.clusters import PersistentResource
from slipway.google.connection import connect
from slipway.google.credentials import identity
from slipway.google.live import Unknown
from slipway.google.live_reader import LiveScope, Reader
from slipway.model.fingerprint import fingerprint_of
from slipway.model.state import State, StateGrant, stack_locations

Clusters = tuple[PersistentResource, ...]


class Destruction:
    """A stack that is taken down, in all its places. `file` is the stack file, where that can be read.

    Raises AuthError without credentials.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        known: State | Unknown,
        *,
        stack: str,
        project: str,
        region: str,
        file: Stack | None,
    ) -> None:
        self._known, self._stack = known, stack
        self._connection = connect(environ)
        self._specs = declared = file.clusters if file else ()
        self._declared = [
            (option.name, fingerprint_of(stack, project, region, option), (project, option.region or region))
            for spec in declared
            for option in spec.options
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

    def must_leave_none(self) -> None:
        """Raise PolicyError when the stack has a protected cluster, would leave one that its state lacks, or is
        published and its state is lost, which would leave all; ResourceError when that can't be told."""
        catalog = self._here.catalog() if self._bucket else None
        known = {} if isinstance(self._known, Unknown) else self._known.protected
        if refusal := undeletable(self._specs, catalog, self._stack, known):
            raise refusal.error
        whole = catalog.whole if isinstance(catalog, PublishedCatalog) else None
        # The catalog has more regions than the stack file once that is edited, or than a lost state.
        for region in whole.regions if whole and whole.stack == self._stack else ():
            place = (self.where[0][0], region)
            if place not in self._readers:
                self._readers[place] = self._reader(*place)
                self.where = (*self.where, place)
        if isinstance(self._known, Unknown):
            raise _cannot_tell("which clusters the stack's state lacks", self._known)
        living = self._clusters()
        if isinstance(living, Unknown):
            raise _cannot_tell("which clusters there are", living)
        if orphans := unknown_to_state(living, self._known, self._stack):
            them = "it" if len(orphans) == 1 else "them"
            raise PolicyError(
                f"the stack is not taken down: {in_words(orphans)} would be left",
                why="made by this stack, and unknown to its state because an up was killed or failed; "
                "the engine deletes only what the state has, and the rest is billed",
                fix="\n".join(
                    (
                        f"make up STACK={self._stack}, which takes {them} over; then again",
                        "or, where nobody works there:",
                        *map(_deletion, orphans),
                    )
                ),
            )
        if self._known == State() and isinstance(catalog, PublishedCatalog) and catalog.stack == self._stack:
            raise PolicyError(
                "the stack is not taken down: its state is lost, and buckets, accounts and roles would be left",
                why=f"gs://{self._bucket} has its catalog, and the backend nothing of it",
                fix="set PULUMI_BACKEND_URL to where it was deployed from\n"
                f"or make up STACK={self._stack}, which takes over what lives; then again",
            )

    def must_keep_roles(self, need: Callable[[Collection[StateGrant]], Iterable[SharedGrant]]) -> None:
        """Raise PolicyError when a destruction without SLIPWAY_PURPOSE would take grants that another stack needs, as
        `need` tells."""
        grants = () if isinstance(self._known, Unknown) else self._known.grants
        if stay := by_member(need(grants)):
            raise PolicyError(
                f"the stack is not taken down: the roles of {join(stay)} would go, and another stack of the project "
                "may need them",
                why="without SLIPWAY_PURPOSE the engine deletes all that the state has",
                fix=f"make destroy STACK={self._stack}, which leaves what others need",
            )

    def _clusters(self) -> Clusters | Unknown:
        """Return the listed clusters, and the stack file's own that are too new for a list, named by their places."""
        by_name: dict[str, PersistentResource] = {}
        for place, reader in self._readers.items():
            listed = reader.clusters()
            if isinstance(listed, Unknown):
                return listed
            by_name |= {_named(cluster.id, place): cluster for cluster in listed}
        ids = {cluster.id for cluster in by_name.values()}
        for name, fingerprint, place in self._declared:
            id_ = free_id(name, fingerprint, ids)
            cluster = self._readers[place].cluster(id_)
            if isinstance(cluster, Unknown):
                return cluster
            if cluster is not None:
                by_name[_named(id_, place)] = cluster
        return tuple(replace(cluster, name=name) for name, cluster in by_name.items())


def unknown_to_state(clusters: Iterable[PersistentResource], known: State, stack: str) -> Clusters:
    """Return the clusters that the stack made and its state lacks, without those that are being deleted."""
    return tuple(
        cluster
        for cluster in clusters
        if cluster.made_by(stack) and cluster.state != "STOPPING" and not known.has(*_place(cluster.name), cluster.id)
    )


def _cannot_tell(what: str, part: Unknown) -> ResourceError:
    return ResourceError(
        f"the stack is not taken down: can't tell {what}", why=str(part), fix="correct that and run it again"
    )


def _named(id_: str, place: tuple[str, str]) -> str:
    project, region = place
    return f"projects/{project}/locations/{region}/persistentResources/{id_}"


def _place(name: str) -> tuple[str, str]:
    _, project, _, region, *_ = name.split("/")
    return project, region


def _deletion(cluster: PersistentResource) -> str:
    project, region = _place(cluster.name)
    return f"gcloud ai persistent-resources delete {cluster.id} --project={project} --region={region}"
