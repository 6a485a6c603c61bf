"""A destruction: the engine deletes only what the state has, so it is refused while a cluster of the stack lives that
the state lacks. `up` takes such a cluster over."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from slipway.base.errors import PolicyError, ResourceError
from slipway.base.formatting import join
from slipway.deploying.deployment.deletion_guard import StackGuard, use_of_cluster
from slipway.deploying.deployment.shared_grants import by_member
from slipway.deploying.deployment.takeover import catalog_found, clusters_found, taken
from slipway.deploying.deployment.unknown_clusters import UnknownCluster, would_leave
from slipway.deploying.generations.generations import free_id
from slipway.deploying.generations.protection import undeletable
from slipway.google.catalog.document import PublishedCatalog
from slipway.google.clusters import PersistentResource
from slipway.google.connection import connect
from slipway.google.live import Unknown
from slipway.model.fingerprint import fingerprint_of
from slipway.model.identity import Identity, identity_in
from slipway.model.origin import Program
from slipway.model.state import State

Clusters = tuple[PersistentResource, ...]
_INLINE = (
    '\nor, for an inline program: os.environ["SLIPWAY_PURPOSE"] = "destroy" before stack.destroy(run_program=True)'
)


def must_leave_none(guard: StackGuard) -> None:
    """Raise PolicyError when a stack that is taken down has a protected cluster, would leave one that its state lacks,
    or has an empty state and exists, which would leave all; ResourceError when that can't be told; AuthError
    without credentials."""
    known = State() if isinstance(guard.state, Unknown) else guard.state
    file = guard.declared
    bucket = _bucket(guard)
    catalog = guard.reader(guard.place, bucket).catalog() if bucket else None
    if refusal := undeletable(file.clusters if file else (), catalog, guard.origin, known.protected):
        raise refusal.error
    whole = catalog.whole if isinstance(catalog, PublishedCatalog) else None
    # The catalog has more regions than the stack file once that is edited, or than a lost state.
    guard.published_regions = whole.regions if whole and whole.identity.label == guard.stack else ()
    if isinstance(guard.state, Unknown):
        raise _cannot_tell(guard, "which clusters the stack's state lacks", guard.state)
    living = _clusters(guard)
    if isinstance(living, Unknown):
        raise _cannot_tell(guard, "which clusters there are", living)
    if guard.state == State():
        _refuse_stateless(guard, catalog, living)
    if orphans := unknown_to_state(living, guard.state, guard.stack):
        raise would_leave([_with_use(guard, cluster) for cluster in orphans], guard.origin, guard.back)


def _with_use(guard: StackGuard, cluster: PersistentResource) -> UnknownCluster:
    return UnknownCluster(cluster, use_of_cluster(connect(guard.environ), cluster.name))


def _refuse_stateless(guard: StackGuard, catalog: PublishedCatalog | Unknown | None, living: Clusters) -> None:
    """Raise PolicyError where something of the stack exists, and its state has nothing: whose it is nobody can tell."""
    published = catalog if isinstance(catalog, PublishedCatalog) and catalog.owner == guard.stack else None
    found = [catalog_found(_bucket(guard), published)] if published else []
    project, _ = guard.place
    if orphans := unknown_to_state(living, State(), guard.stack):
        found.append(clusters_found(sorted(cluster.id for cluster in orphans), project))
    if found:
        raise taken(_identity(guard, published), found, guard.back)


def _bucket(guard: StackGuard) -> str:
    """Return the bucket of the stack's catalog; empty if unknown."""
    known = State() if isinstance(guard.state, Unknown) else guard.state
    return known.catalog_bucket or (guard.declared.workspace.catalog_bucket if guard.declared else "")


def _identity(guard: StackGuard, catalog: PublishedCatalog | None) -> Identity:
    if guard.declared:
        return guard.declared.identity
    if catalog and catalog.identity:
        return catalog.identity
    return identity_in(guard.stack) or Identity("", guard.stack)


def must_be_decided(guard: StackGuard) -> None:
    """Raise PolicyError where the catalog would go before the program has said what it declares."""
    if guard.undecided:
        raise PolicyError(
            "the catalog is not deleted",
            why="a bucket or an account that the program gives to a component is being replaced, and the catalog would "
            "go first, with the roles there",
            fix=f"undo that edit of the program's resource: {guard.undecided.command('preview')} names it",
        )


def must_keep_roles(guard: StackGuard) -> None:
    """Raise PolicyError when a destruction without SLIPWAY_PURPOSE would take grants that another stack needs."""
    grants = () if isinstance(guard.state, Unknown) else guard.state.grants
    if stay := by_member(guard.need(grants)):
        inline = _INLINE if isinstance(guard.origin, Program) else ""
        raise PolicyError(
            f"{guard.origin.whole()} is not taken down: the roles of {join(stay)} would go, and another stack of the "
            "project may need them",
            why="without SLIPWAY_PURPOSE the engine deletes all that the state has, and it does not tell of --target",
            fix=f"{guard.origin.command('destroy')} takes all down, and leaves what others need{inline}\n"
            "with --target: the same command with SLIPWAY_PURPOSE=destroy before it, which deletes the targets alone",
        )


def _clusters(guard: StackGuard) -> Clusters | Unknown:
    """Return the listed clusters, and the stack file's own that are too new for a list, named by their places."""
    project, home = guard.place
    readers = {place: guard.reader(place) for place in guard.where}
    by_name: dict[str, PersistentResource] = {}
    for place, reader in readers.items():
        listed = reader.clusters()
        if isinstance(listed, Unknown):
            return listed
        by_name |= {_named(cluster.id, place): cluster for cluster in listed}
    ids = {cluster.id for cluster in by_name.values()}
    for option in (option for spec in (guard.declared.clusters if guard.declared else ()) for option in spec.options):
        place = project, option.region or home
        id_ = free_id(option.name, fingerprint_of(guard.stack, project, home, option), ids)
        cluster = readers[place].cluster(id_)
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


def _cannot_tell(guard: StackGuard, what: str, part: Unknown) -> ResourceError:
    whole = guard.origin.whole()
    return ResourceError(
        f"{whole} is not taken down: can't tell {what}", why=str(part), fix="correct that and run it again"
    )


def _named(id_: str, place: tuple[str, str]) -> str:
    project, region = place
    return f"projects/{project}/locations/{region}/persistentResources/{id_}"


def _place(name: str) -> tuple[str, str]:
    _, project, _, region, *_ = name.split("/")
    return project, region
