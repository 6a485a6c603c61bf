"""A tiny model of the engine and the cloud, to play histories against the plan."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from slipway.authoring.stack.stack import Stack
from slipway.deploying.deployment.plan import Plan, Waits, as_made, plan
from slipway.deploying.generations.action import DELETE, Action, What, Why
from slipway.deploying.generations.dormant import Dormancy
from slipway.deploying.generations.published_clusters import published, published_dormant
from slipway.google.catalog.document import PublishedCatalog
from slipway.google.clusters import PersistentResource
from slipway.google.jobs import VertexJob
from slipway.google.live import Live, Unknown
from slipway.model.catalog import model
from slipway.model.catalog.withdrawal import with_dormant, withdrawn
from slipway.model.cluster import PROTECT, ClusterSpec, CurrentCluster
from slipway.model.fingerprint import cluster_id, fingerprint_of
from slipway.model.kinds import CUSTOM_JOB, JobKind
from slipway.model.state import State
from tests.builders import place
from tests.builders.catalogs import catalog
from tests.builders.clusters import cluster_spec, persistent_resource
from tests.builders.pools import pool_spec, resource_pool

ROOT = Path(__file__).with_name("project")
STACK, PROJECT, REGION = place.STACK, place.PROJECT, place.REGION
EPOCH = datetime(2026, 11, 20, tzinfo=UTC)


def spec(name: str = "cpu", high: int = 4, *, generation: int = 1) -> ClusterSpec:
    return cluster_spec(name, pool_spec(high=high), generation=generation)


def job(
    cluster_id: str, name: str = "train", state: str = "JOB_STATE_RUNNING", kind: JobKind = CUSTOM_JOB
) -> VertexJob:
    return VertexJob(name, name, state, persistent_resource_id=cluster_id, kind=kind)


def cluster(
    id_: str, digest: str, state: str = "RUNNING", name: str = "cpu", stack: str = STACK, used: int = 0
) -> PersistentResource:
    pool = resource_pool(used=used, high=4)
    return persistent_resource(id_, pool, state=state, name=name, stack=stack, digest=digest)


def live(
    *clusters: PersistentResource,
    jobs: tuple[VertexJob, ...] | Unknown = (),
    catalog: PublishedCatalog | Unknown | None = None,
) -> Live:
    return Live(clusters=clusters, jobs=jobs, limits={}, catalog=catalog)


def creates(decided: Plan) -> tuple[ClusterSpec, ...]:
    return tuple(item.spec for item in decided.current if not item.import_)


def deleted(decided: Plan) -> tuple[str, ...]:
    return tuple(sorted(decided.ids(*DELETE)))


def replaced(decided: Plan) -> tuple[PersistentResource, ...]:
    return _living(action for action in decided.of(What.DELETE_FIRST) if action.why is Why.IN_PLACE)


def ahead(decided: Plan) -> tuple[PersistentResource, ...]:
    return _living(action for action in decided.of(What.DELETE_FIRST) if action.why is not Why.IN_PLACE)


def cleared(decided: Plan) -> tuple[PersistentResource, ...]:
    return _living(decided.of(What.CLEAR))


def waiting(decided: Plan) -> tuple[PersistentResource, ...]:
    """Return the clusters that are still being made."""
    return _living(action for action in decided.actions if action.current and action.current.state == "PROVISIONING")


def left(decided: Plan) -> dict[str, str]:
    return {action.cluster: action.id for action in decided.of(What.LEAVE)}


def _living(some: Iterable[Action]) -> tuple[PersistentResource, ...]:
    return tuple(action.living for action in some if action.living)


def planned(
    declared: tuple[ClusterSpec, ...],
    seen: Live,
    now: datetime | None = None,
    known: State | None = None,
    workspace: Mapping[str, str] | None = None,
) -> Plan:
    return plan(declared, seen, stack=STACK, project=PROJECT, region=REGION, now=now, known=known, workspace=workspace)


def planned_for(
    stack: Stack, seen: Live, now: datetime, clusters: tuple[ClusterSpec, ...] | None = None, waits: Waits | None = None
) -> Plan:
    """Plan a stack of a file, or other clusters of it."""
    declared, place = stack.clusters if clusters is None else clusters, stack.region
    return plan(declared, seen, stack=stack.name, project=stack.project, region=place, now=now, waits=waits or {})


def remembering(*dormant: Dormancy) -> model.Catalog:
    """Return a catalog that has these and nothing else."""
    return catalog(clusters={}, dormant={cluster.spec.name: published_dormant(cluster, REGION) for cluster in dormant})


def hash_of(declared: ClusterSpec) -> str:
    return fingerprint_of(STACK, PROJECT, REGION, declared)


def id_of(declared: ClusterSpec, n: int = 1) -> str:
    return cluster_id(declared.name, hash_of(declared), n)


def alive(of: ClusterSpec, state: str = "RUNNING", *, n: int = 1, **fields: Any) -> PersistentResource:
    """Return the cluster that this makes, as its n-th."""
    return replace(cluster(id_of(of, n), hash_of(of), state, of.name), **fields)


def catalog_with(*clusters: ClusterSpec, retiring: tuple[str, ...] = ()) -> PublishedCatalog:
    """Return the deployed part of these."""
    made = [CurrentCluster(cluster, id_of(cluster), hash_of(cluster), True) for cluster in clusters]
    whole = catalog(clusters={cluster.spec.name: published(cluster, REGION) for cluster in made}, retiring=retiring)
    return PublishedCatalog({cluster.name: id_of(cluster) for cluster in clusters}, retiring, whole=whole)


def published_by(decided: Plan) -> model.Catalog:
    removed = {cluster.id: cluster.removed for cluster in decided.retiring if cluster.removed}
    clusters = {cluster.spec.name: published(cluster, REGION) for cluster in decided.current}
    retiring = tuple(cluster.id for cluster in decided.retiring)
    return replace(remembering(*decided.dormant), clusters=clusters, retiring=retiring, removed=removed)


@dataclass
class World:
    """The cloud's resources, the engine's state, and the catalog."""

    clusters: dict[str, PersistentResource] = field(default_factory=dict)
    jobs: list[VertexJob] = field(default_factory=list)
    state: set[str] = field(default_factory=set)
    catalog: PublishedCatalog | None = None
    deleted_with_jobs: list[str] = field(default_factory=list)
    #: Without it no cluster has a season.
    now: datetime | None = None
    #: Names by id, of those in the state.
    protected: dict[str, str] = field(default_factory=dict)
    #: Of the last job on each cluster.
    ends: dict[str, datetime] = field(default_factory=dict)

    def live(self) -> Live:
        seen = live(*self.clusters.values(), jobs=tuple(self.jobs), catalog=self.catalog)
        return replace(seen, last_ends=self.ends)

    def plan(self, declared: tuple[ClusterSpec, ...]) -> Plan:
        known = {id_: name for id_, name in self.protected.items() if id_ in self.state}
        return planned(declared, self.live(), self.now, State(protected=known))

    @property
    def kept(self) -> frozenset[str]:
        """The resources that may not go: the protected ones, by the catalog, or the state where there is none."""
        whole = self.catalog.whole if self.catalog else None
        if whole is None:
            protected = {id_ for id_ in self.protected if id_ in self.state}
        else:
            protected = {cluster.id for cluster in whole.clusters.values() if cluster.replacement == PROTECT}
        return frozenset(id_ for id_ in protected if id_ in self.clusters and not self.clusters[id_].failed)

    def up(
        self, declared: tuple[ClusterSpec, ...], *, killed_after: int = 99, failing: bool = False, short: int = 0
    ) -> Plan:
        """Do one `pulumi up`: refresh, wait, plan, then create, publish, delete; killed after so many of these steps.

        There are no machines for so many (`short`) of a cluster's configurations; where none is left, it gives up.
        """
        self.state &= set(self.clusters)
        self.settle()
        decided = self.plan(declared)
        assert not decided.problems, decided.problems
        if decided.refusals:
            return decided
        steps = killed_after
        for gone in cleared(decided) if steps else ():
            assert self.clusters[gone.id].state == "ERROR", "only a failed one is cleared"
            if any(job.persistent_resource_id == gone.id and not job.ended for job in self.jobs):
                self.deleted_with_jobs.append(gone.id)
            del self.clusters[gone.id]
            self.state.discard(gone.id)
        early = {action.id for action in ahead(decided)}
        if not all(cluster.import_ for cluster in decided.current) and self.catalog is not None and self.catalog.whole:
            dormant = {cluster.spec.name: published_dormant(cluster, REGION) for cluster in decided.dormant}
            whole = with_dormant(self.catalog.whole, dormant)
            ids = {name: value.id for name, value in whole.clusters.items()}
            self.catalog = replace(self.catalog, clusters=ids, retiring=whole.retiring, whole=whole)
        instead = {action.id for action in replaced(decided)}
        going = early | instead
        if instead and self.catalog is not None:
            kept = {name: id_ for name, id_ in self.catalog.clusters.items() if id_ not in instead}
            withdrawn_from = self.catalog.whole and withdrawn(self.catalog.whole, instead, self.now or EPOCH)
            self.catalog = replace(self.catalog, clusters=kept, whole=withdrawn_from)
        for id_ in (*sorted(early), *sorted(instead)):
            assert not self.catalog or not self.catalog.offers(id_), "nobody is sent to what goes"
            if steps == 0:
                return decided
            steps -= 1
            if any(job.persistent_resource_id == id_ and not job.ended for job in self.jobs):
                self.deleted_with_jobs.append(id_)
            del self.clusters[id_]
        made: dict[str, str] = {}
        for first in decided.current:
            item = first
            if item.import_:
                assert item.id in self.clusters, "importing what is not there fails"
                self._knows(item)
                continue
            options = (first, *first.alternatives)
            if short >= len(options):
                return decided
            item = options[short]
            made[first.id] = item.id
            assert item.id not in self.clusters, "409: the id is taken"
            if steps == 0:
                return decided
            steps -= 1
            new = cluster(item.id, item.fingerprint, "ERROR" if failing else "RUNNING", item.spec.name)
            born = replace(new, create_time=self.now)
            self.clusters[item.id] = born
            if failing:
                return decided  # The provider drops a failed create from its state, and the engine stops.
            if steps == 0:
                # Killed during the creation: the state does not know it.
                self.clusters[item.id] = replace(born, state="PROVISIONING")
                return decided
            self._knows(item)
        decided = as_made(decided, made)
        self.state |= {item.id for item in decided.retiring}
        if steps == 0:
            return decided
        self.catalog = PublishedCatalog(
            {item.spec.name: item.id for item in decided.current},
            tuple(item.id for item in decided.retiring),
            whole=published_by(decided),
        )
        declared_ids = {item.id for item in decided.current} | {item.id for item in decided.retiring}
        for id_ in sorted(self.state - declared_ids):
            if id_ in going:
                self.state.discard(id_)  # It is gone: the provider takes that for deleted.
                continue
            steps -= 1
            if steps <= 0:
                return decided
            if any(job.persistent_resource_id == id_ and not job.ended for job in self.jobs):
                self.deleted_with_jobs.append(id_)
            del self.clusters[id_]
            self.state.discard(id_)
        return decided

    def _knows(self, item: CurrentCluster) -> None:
        self.state.add(item.id)
        self.protected.pop(item.id, None)
        if item.spec.replacement == PROTECT:
            self.protected[item.id] = item.spec.name

    def settle(self) -> None:
        """Complete the creations."""
        for id_, item in self.clusters.items():
            if item.state == "PROVISIONING":
                self.clusters[id_] = replace(item, state="RUNNING")

    def end_jobs(self) -> None:
        if self.now is not None:
            self.ends |= {job.persistent_resource_id: self.now for job in self.jobs if not job.ended}
        self.jobs = [replace(job, state="JOB_STATE_SUCCEEDED") for job in self.jobs]
