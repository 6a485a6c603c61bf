"""Jobs and other stacks that need a resource, read at the last moment before its deletion."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Set
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from slipway.deploying.deployment.shared_grants import dropped, shared, stacks_of
from slipway.deploying.deployment.workspace_plan import CATALOG, SharedGrant
from slipway.google.connection import Connection, connect
from slipway.google.jobs import VertexJob
from slipway.google.live import InUse, Unknown
from slipway.google.live_reader import LiveScope, Reader, all_or_unknown
from slipway.google.snapshot import neighbours
from slipway.model.kinds import KINDS
from slipway.model.labels import STACK_LABEL
from slipway.model.state import State, StateGrant

_AT_ONCE = 8
# Clusters that are being made are waited for before anything is planned.
_UNREADY = frozenset({"STOPPING", "REBOOTING"})
_NOTHING = State()


@dataclass(frozen=True)
class GuardSubject:
    """The resource that a deletion would take from jobs: a cluster (its full name), a bucket, an account (its address)
    or an account's grant on a bucket; the whole stack where none is named."""

    cluster: str = ""
    account: str = ""
    bucket: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The bare names of all its resources."""
        return tuple(filter(None, (self.cluster.rpartition("/")[2], self.account, self.bucket)))

    def __str__(self) -> str:
        if self.cluster:
            return f"cluster {self.names[0]}"
        if self.account:
            return f"the grant of {self.account} on gs://{self.bucket}" if self.bucket else f"account {self.account}"
        return f"bucket gs://{self.bucket}" if self.bucket else "the stack"


def use_of_cluster(connection: Connection, cluster: str) -> InUse | Unknown:
    """Return the use of a cluster (`projects/P/locations/L/persistentResources/ID`) by its state and its jobs."""
    _, project, _, region, _, id_ = cluster.split("/")
    reader = Reader(connection, LiveScope(project, region), where=f" in {region}")
    return _use(reader, {id_}, lambda job: job.persistent_resource_id == id_)


def use_of_stack(
    connection: Connection,
    project: str,
    region: str,
    stack: str,
    names: Collection[str] = (),
    needed: Collection[str] = (),
) -> InUse | Unknown:
    """Return the use of all clusters with the stack's label, and of its accounts (addresses) and buckets (`names`).

    With `needed` it includes the jobs that need any of those, wherever they run; jobs that no list shows yet may need
    them as well.
    """
    reader = Reader(connection, LiveScope(project, region), where=f" in {region}")
    listed = reader.clusters()
    if isinstance(listed, Unknown):
        return listed
    ids = {cluster.id for cluster in listed if cluster.labels.get(STACK_LABEL) == stack}
    if needed:
        return _use(reader, ids, lambda job: all(map(job.needs, needed)))
    return _use(reader, ids, lambda job: job.persistent_resource_id in ids or any(map(job.needs, names)))


def _use(reader: Reader, ids: Set[str], concerns: Callable[[VertexJob], bool]) -> InUse | Unknown:
    """Read each cluster by itself: its list may lag, and with it the number of machines in use."""
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="use") as threads:
        requests = [threads.submit(reader.cluster, id_) for id_ in sorted(ids)]
        jobs = all_or_unknown(map(reader.jobs, KINDS.values()))
        answers = [future.result() for future in requests]
    if isinstance(jobs, Unknown):
        return jobs
    listed = {job.persistent_resource_id for job in jobs}
    clusters = all_or_unknown(
        answer if isinstance(answer, Unknown) else (answer,) for answer in answers if answer is not None
    )
    if isinstance(clusters, Unknown):
        return clusters
    busy_without_job = tuple(cluster.id for cluster in clusters if cluster.in_use and cluster.id not in listed)
    unready = {cluster.id: cluster.state for cluster in clusters if cluster.state in _UNREADY}
    return InUse(
        jobs=tuple(job for job in jobs if concerns(job)),
        busy_without_job=busy_without_job,
        unready=unready,
        clusters=frozenset(ids),
    )


def needed_by_others(
    readers: Mapping[tuple[str, str], Reader], known: State, stack: str, grants: Collection[StateGrant] | None = None
) -> tuple[SharedGrant, ...]:
    """Return those of the stack's grants (by default all that its state has) that another stack of the project needs,
    or may need. `readers`: one for each place of the stack, its own first, by project and region."""
    drops = dropped(known if grants is None else replace(known, grants=tuple(grants)))
    if not drops:
        return ()
    (project, _), here = next(iter(readers.items()))
    seen = stacks_of(all_or_unknown(reader.clusters() for reader in readers.values()))
    return shared(drops, neighbours(here), known, stack=stack, project=project, seen=seen)


def guarded_grants(
    environ: Mapping[str, str],
    where: Callable[[], Iterable[tuple[str, str]]],
    stack: str,
    known: State | Unknown = _NOTHING,
) -> Callable[[StateGrant], SharedGrant | None]:
    """Return the guard's question before a grant goes: which other stacks need it by now. A deployment decides long
    before that. `where` is as of `guarded_use`."""
    before = _NOTHING if isinstance(known, Unknown) else known

    def ask(grant: StateGrant) -> SharedGrant | None:
        connection = connect(environ)
        readers = {place: Reader(connection, LiveScope(*place), where=f" in {place[1]}") for place in where()}
        return next(iter(needed_by_others(readers, before, stack, (grant,))), None)

    return ask


def guarded_use(
    environ: Mapping[str, str],
    where: Callable[[], Iterable[tuple[str, str]]],
    stack: str,
    known: State | Unknown = _NOTHING,
) -> Callable[[GuardSubject], InUse | Unknown]:
    """Return the guard's question before a deletion. `where`: projects and regions of the stack, once known."""
    before = _NOTHING if isinstance(known, Unknown) else known
    # Buckets of other kinds outlive their stack, so their users do not matter.
    catalogs = [bucket.name for bucket in before.buckets if bucket.logical.startswith(CATALOG)]
    names = [*(account.name for account in before.accounts), *catalogs]

    def ask(subject: GuardSubject) -> InUse | Unknown:
        connection = connect(environ)
        if subject.cluster:
            return use_of_cluster(connection, subject.cluster)
        answers = (use_of_stack(connection, *place, stack, names, subject.names) for place in where())
        uses = all_or_unknown(use if isinstance(use, Unknown) else (use,) for use in answers)
        if isinstance(uses, Unknown):
            return uses
        return InUse(
            jobs=tuple(job for use in uses for job in use.jobs),
            busy_without_job=tuple(id_ for use in uses for id_ in use.busy_without_job),
            clusters=frozenset(id_ for use in uses for id_ in use.clusters or ()),
        )

    return ask
