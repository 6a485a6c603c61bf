"""Jobs and other stacks that need a resource, read at the last moment before its deletion."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Set
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from threading import Lock

from slipway.authoring.stack.stack import Stack
from slipway.base.errors import PolicyError
from slipway.base.formatting import join, span
from slipway.deploying.deployment.others_jobs import jobs_of_others, kept_by_their_catalogs
from slipway.deploying.deployment.removal import GracePeriod
from slipway.deploying.deployment.shared_grants import (
    dropped,
    must_be_unneeded,
    shared,
    stacks_of,
    stacks_with_catalogs,
)
from slipway.deploying.deployment.workspace_plan import CATALOG, SharedGrant
from slipway.google.connection import Connection, connect
from slipway.google.credentials import identity
from slipway.google.failures import NotFound
from slipway.google.jobs import VertexJob
from slipway.google.live import InUse, Unknown
from slipway.google.live_reader import LiveScope, Reader, all_or_unknown
from slipway.google.permissions import Bound, Holder
from slipway.google.snapshot import neighbours
from slipway.model.kinds import KINDS
from slipway.model.labels import STACK_LABEL
from slipway.model.origin import Origin
from slipway.model.state import State, StateGrant, stack_locations

_AT_ONCE = 8
# The clusters of another stack that is taken down go after its grace period.
_TAKEN_DOWN_WITHIN_S, _LOOK_EVERY_S = 180.0, 2.0
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


def state_of_cluster(environ: Mapping[str, str], cluster: str) -> str | Unknown:
    """Return a cluster's state by its full name; empty where it is gone."""
    _, project, _, region, _, id_ = cluster.split("/")
    living = Reader(connect(environ), LiveScope(project, region), where=f" in {region}").cluster(id_)
    return living if isinstance(living, Unknown) else living.state if living else ""


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


def _declared(id_: str, effect: str, origin: Origin, second_entry: str) -> PolicyError:
    """Return the error of a deletion that the running deployment contradicts. `second_entry`: the URN of an entry of
    the state that the program does not declare, for the same cluster."""
    why = "Pulumi deletes it because of an option such as --replace or --target, or because its entry is tainted"
    fix = f"{origin.up} without such an option; {origin.command('destroy')} deletes the whole stack"
    if second_entry:
        why = f"Pulumi's state has the cluster under two names, and the program no longer declares {second_entry}"
        fix = (
            f"pulumi state delete '{second_entry}' --stack {origin.stack}, which deletes nothing in Google Cloud; "
            f"then {origin.up}"
        )
    return PolicyError(f"cluster {id_} is not deleted: this deployment {effect}", why=why, fix=fix)


class StackGuard:
    """A stack's answers before something of it is deleted. It remembers whose catalogs it has read."""

    #: The stack as its program declares it, once that is known.
    declared: Stack | None = None
    #: Where it is declared, while the program has decided nothing.
    undecided: Origin | None = None
    #: Other regions in its published catalog, where that was read.
    published_regions: Collection[str] = ()
    #: Clusters alone have no catalog, by whose deletion a destruction begins.
    has_workspace: bool = True
    #: The program takes it down, and has asked what that would leave.
    taken_down: bool = False
    #: The beginning of the names, in the engine's state, of what belongs to it.
    prefix: str = ""
    #: The stacks that are taken down at once, itself among them: what they need goes with them.
    together: Collection[str] = ()
    #: The types and logical names of resources of the program itself that the engine leaves in the cloud.
    retained: Collection[tuple[str, str]] = ()
    #: Returns the clusters that the running deployment declares, by id, with the effect on each.
    declared_clusters: Callable[[], Mapping[str, str]] = dict
    #: The deletion of its catalog has begun, with which a destruction begins.
    ended: bool = False

    def __init__(
        self, environ: Mapping[str, str], stack: str, place: tuple[str, str], known: State | Unknown = _NOTHING
    ) -> None:
        """Take a stack with its project and region, and what the engine knows of it. Raises ConfigError for a grace
        period that can't be read."""
        self.stack, self.place, self.state = stack, place, known
        self.grace = GracePeriod.of(environ)
        self.environ = environ
        self._known = _NOTHING if isinstance(known, Unknown) else known
        self._read: frozenset[str] = frozenset()
        self._one_at_a_time = Lock()
        self._wait_until: float | None = None

    @property
    def where(self) -> tuple[tuple[str, str], ...]:
        """The projects and regions where its clusters may be, its own place first."""
        declared = self.declared.other_regions if self.declared else ()
        return stack_locations(self._known, *self.place, (*declared, *self.published_regions))

    @property
    def origin(self) -> Origin:
        return self.declared.origin if self.declared else self.undecided or Origin(self.stack)

    @property
    def back(self) -> str:
        """The command that makes the stack's state know what lives."""
        return self.origin.up

    def reader(self, place: tuple[str, str], catalog_bucket: str = "") -> Reader:
        """Return a reader of one of its places, which failures name where it is not the stack's own."""
        where = "" if place == self.place else f" in {place[1]}"
        scope = LiveScope(*place, catalog_bucket=catalog_bucket)
        return Reader(connect(self.environ), scope, identity(self.environ), where=where)

    def must_be_undeclared(self, cluster: str, urn: str, declared_as: str = "") -> None:
        """Raise PolicyError if the running deployment declares a cluster that Pulumi would delete.

        `cluster`: its full name. `urn`: the entry of the state that Pulumi deletes. `declared_as`: the entry that the
        program registered for the same cluster; empty if none is known. A destruction begins with the catalog, so
        until then Pulumi deletes nothing that is declared.
        """
        id_ = cluster.rpartition("/")[2]
        effect = self.declared_clusters().get(id_)
        if effect is None or self.taken_down or self.ended:
            return
        is_second_entry = declared_as not in ("", urn)
        if is_second_entry or self._known.catalog_bucket:
            raise _declared(id_, effect, self.origin, urn if is_second_entry else "")

    def use(self, subject: GuardSubject) -> InUse | Unknown:
        """Return the use of a resource of the stack."""
        connection = connect(self.environ)
        if subject.cluster:
            return use_of_cluster(connection, subject.cluster)
        # Buckets of other kinds outlive their stack, so their users do not matter.
        catalogs = [bucket.name for bucket in self._known.buckets if bucket.logical.startswith(CATALOG)]
        names = [*(account.name for account in self._known.accounts), *catalogs]
        answers = (use_of_stack(connection, *place, self.stack, names, subject.names) for place in self.where)
        uses = all_or_unknown(use if isinstance(use, Unknown) else (use,) for use in answers)
        if isinstance(uses, Unknown):
            return uses
        whole = InUse(
            jobs=tuple(job for use in uses for job in use.jobs),
            busy_without_job=tuple(id_ for use in uses for id_ in use.busy_without_job),
            clusters=frozenset(id_ for use in uses for id_ in use.clusters or ()),
        )
        return self._without_others(whole)

    def _without_others(self, use: InUse) -> InUse:
        """Return a use without the jobs of other deployments that need nothing which goes with the stack."""
        others = jobs_of_others(use, self._known, {self.stack, *self.together})
        if not others:
            return use
        kept = kept_by_their_catalogs(others, self._known, neighbours(self.reader(self.place)))
        return replace(use, jobs=tuple(job for job in use.jobs if job not in kept))

    def need(self, grants: Collection[StateGrant]) -> tuple[SharedGrant, ...]:
        """Return those of the stack's grants that another stack needs by now, or may need."""
        drops = dropped(replace(self._known, grants=tuple(grants)))
        if not drops:
            return ()
        readers = [self.reader(place) for place in self.where]
        seen = stacks_of(all_or_unknown(reader.clusters() for reader in readers))
        catalogs, leaving = neighbours(readers[0]), self._read | {*self.together}
        self._read |= stacks_with_catalogs(catalogs)
        if not isinstance(catalogs, Unknown):
            catalogs = {
                bucket: catalog
                for bucket, catalog in catalogs.items()
                if isinstance(catalog, Unknown) or catalog.owner not in self.together
            }
        project, _ = self.place
        return shared(drops, catalogs, self._known, stack=self.stack, project=project, seen=seen, leaving=leaving)

    def release(self, grant: StateGrant) -> SharedGrant | None:
        """Take a grant that others may need from its member, or return why it stays; the engine may leave it in the
        cloud, since a destruction that failed. Raises CloudError."""
        if not dropped(replace(self._known, grants=(grant,))):
            return None
        staying: list[SharedGrant] = []

        def stays() -> bool:
            staying[:] = self.need((grant,))
            return bool(staying)

        project, _ = self.place
        what: Holder = "bucket" if grant.on.startswith("gs://") else "account" if grant.on else "project"
        name = grant.on.removeprefix("gs://") or project
        # The engine deletes several at once, and their writings of one policy would be each other's conflicts.
        with self._one_at_a_time, suppress(NotFound):
            connect(self.environ).permissions(project).revoke(what, name, Bound(grant.role, grant.member), stays)
        return next(iter(staying), None)

    def release_in_time(
        self,
        grant: StateGrant,
        say: Callable[[str], object],
        pause: Callable[[float], object] = time.sleep,
        now: Callable[[], float] = time.monotonic,
    ) -> SharedGrant | None:
        """Take a grant as `release` does. A stack that has clusters and no catalog is waited for, as somebody may be
        taking it down: three minutes, for all grants together."""
        stays = self.release(grant)
        if stays and stays.unpublished and self._wait_until is None:
            self._wait_until = now() + _TAKEN_DOWN_WITHIN_S
            within = span(_TAKEN_DOWN_WITHIN_S)
            say(f"{join(stays.unread)}: waiting up to {within}, as somebody may be taking it down")
        while stays and stays.unpublished and self._wait_until and now() < self._wait_until:
            pause(_LOOK_EVERY_S)
            stays = self.release(grant)
        return stays

    def has(self, grant: StateGrant) -> bool:
        """Tell whether a grant is the stack's, or may be."""
        named = replace(grant, name=grant.name.removeprefix(self.prefix))
        return isinstance(self.state, Unknown) or named in self._known.grants

    def ends_with(self, grant: StateGrant) -> bool:
        """Tell whether the deletion of one of its declared grants may begin its destruction."""
        return self.has(grant) and self._may_end

    def ends_with_cluster(self, id_: str) -> bool:
        """Tell whether the deletion of a registered cluster may begin its destruction."""
        return self.has_workspace and self._may_end and id_ in self.declared_clusters()

    @property
    def _may_end(self) -> bool:
        """Whether a destruction may begin without the catalog, which would go first: the state has none, as after a
        first deployment that was killed."""
        return not (self.ended or self.taken_down or self._known.catalog_bucket)

    def leaves(self, grant: StateGrant) -> bool:
        """Tell whether the engine leaves a grant in the cloud, as it is taken from its member here."""
        return False

    def let_go(self, grant: StateGrant) -> None:
        """Take a grant from its member, where it is the stack's. Raises SlipwayError where another stack needs it, or
        may."""
        if self.has(grant):
            must_be_unneeded(grant, self.release(grant))
