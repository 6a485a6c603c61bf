"""The methods of persistent resources."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from ... import documents
from ...documents import Body
from ...quotas import limits
from ...quotas.metrics import drawn
from ...wire import ApiError, Call, Reply, Route, already_exists, failed_precondition, invalid_argument, unimplemented
from ...world import World
from .. import operations
from ..collection import Collection, Kind
from ..field_errors import machine_disk_mistakes, refuse
from ..jobs import life as job_life
from ..jobs import table as jobs
from ..names import cluster_name, location_name
from . import life, rules
from .records import CLUSTERS, Cluster, answer, below
from .work import apply_due

_KIND = Kind("PersistentResource", "/persistentResources", "resource", "persistentResources", trains=True)
_UPDATABLE = "resource_pools.replica_count"
_STOCK_OUT = 8


Suffices = Callable[[World, Cluster, datetime], bool]
"""A test of whether there are machines for a cluster that is to be made, at a moment."""


class PersistentResources(Collection):
    """The methods of persistent resources. `suffices` is the scheduling package's: who holds what."""

    def __init__(self, world: World, suffices: Suffices) -> None:
        super().__init__(world, _KIND)
        self._suffices = suffices

    def routes(self) -> list[Route]:
        return [*super().routes(), Route("POST", self.kind.each + ":reboot", self.reboot)]

    def create(self, call: Call) -> Reply:
        location = self.enter(call, "create", "submit")
        cluster_id = call.query.get("persistentResourceId", "")
        body = self.sent(call)
        disks = machine_disk_mistakes(
            "persistent_resource.resource_pools", body.get("resourcePools", []), self.world.settings
        )
        if "raySpec" in body.get("resourceRuntimeSpec", {}):
            raise unimplemented("Ray clusters (resource_runtime_spec.ray_spec) are not in the local cloud.")
        refuse([*rules.id_mistakes(cluster_id), *rules.mistakes(body, location), *disks])
        account = body.get("resourceRuntimeSpec", {}).get("serviceAccountSpec", {}).get("serviceAccount")
        if account:
            self.world.access.require_act_as(call.principal, account)
        apply_due(self.world)
        name = cluster_name(self.world.project, location, cluster_id)
        with self.world.store.transaction():
            if CLUSTERS.get(self.world.store, name):
                raise already_exists(f"The PersistentResource {name} already exists.")
            operation = self._start(call, name, name, "CreatePersistentResource", life.CREATING)
            declared = rules.defaulted(body, cluster_id)
            cluster = life.created(name, declared, operation.name, self.world.clock.now(), self.world.settings)
            CLUSTERS.put(self.world.store, self._fated(cluster, self.world.settings.create_error, fresh=True))
        self.world.changed.set()
        return Reply(body=operations.answer(operation))

    def get(self, call: Call) -> Reply:
        self.enter(call, "get")
        apply_due(self.world)
        return self.shown(call, self._answer(self._find(call)))

    def list(self, call: Call) -> Reply:
        location = self.enter(call, "list")
        apply_due(self.world)
        since = self.hidden_since(call) or "9"
        every = CLUSTERS.every(self.world.store, below(location_name(self.world.project, location)))
        clusters = [self._answer(cluster) for cluster in every if cluster.create_time < since]
        return self.listed(call, documents.sliced(clusters))

    def delete(self, call: Call) -> Reply:
        location = self.enter(call, "delete", "submit")
        apply_due(self.world)
        now = self.world.clock.now()
        with self.world.store.transaction():
            cluster = self._find(call)
            if cluster.state in ("PROVISIONING", "REBOOTING", "STOPPING"):
                raise failed_precondition(
                    f"The PersistentResource {cluster.name} is in state {cluster.state} and cannot be deleted."
                )
            for job in jobs.alive_on(self.world.store, location, cluster.id):
                if job.run:
                    why = f"The persistent resource {cluster.id} was deleted."
                    ended = job_life.cancelled(job, job.run, now, why)
                    jobs.keep(self.world, job.run, ended)
            operation = self._start(call, location_name(self.world.project, location), cluster.name, "Delete")
            CLUSTERS.put(self.world.store, life.deleted(cluster, operation.name, now, self.world.settings))
        # A cluster that nothing holds back is gone at once, and the answer says so.
        apply_due(self.world)
        self.world.changed.set()
        return Reply(body=operations.answer(operations.current(self.world.store, operation)))

    def patch(self, call: Call) -> Reply:
        self.enter(call, "update", "submit")
        paths = documents.mask(call)
        self.sent(call)
        apply_due(self.world)
        self._find(call)
        if not paths:
            raise invalid_argument("The update mask is required.")
        for path in paths:
            if path not in (_UPDATABLE, "resourcePools.replicaCount"):
                raise invalid_argument(f"Unrecognized path: {path}")
        raise ApiError(
            400, self.world.settings.patch_refusal, "Currently we only support the update function on Ray cluster"
        )

    def reboot(self, call: Call) -> Reply:
        location = self.enter(call, "update", "submit")
        call.nothing()
        apply_due(self.world)
        now = self.world.clock.now()
        with self.world.store.transaction():
            cluster = self._find(call)
            if cluster.state not in ("RUNNING", "ERROR"):
                raise failed_precondition(
                    f"The PersistentResource {cluster.name} is in state {cluster.state}; "
                    "only one in RUNNING or ERROR can be rebooted."
                )
            for job in jobs.started(self.world.store, location, cluster.id):
                if job.run:
                    lost = job_life.lost(job, job.run, now, self.world.settings)
                    jobs.keep(self.world, job.run, lost)
            operation = self._start(call, cluster.name, cluster.name, "RebootPersistentResource", life.REBOOTING)
            rebooted = life.rebooted(cluster, operation.name, now, self.world.settings)
            fresh = not cluster.holds_machines
            CLUSTERS.put(self.world.store, self._fated(rebooted, self.world.settings.reboot_error, fresh=fresh))
        self.world.changed.set()
        return Reply(body=operations.answer(operation))

    def _find(self, call: Call) -> Cluster:
        return CLUSTERS.find(self.world.store, self.named(call), "The PersistentResource does not exist.")

    def _answer(self, cluster: Cluster) -> Body:
        return answer(cluster, jobs.pool_use(self.world.store, cluster.region, cluster.id))

    def _start(self, call: Call, parent: str, target: str, verb: str, progress: str = "") -> operations.Operation:
        metadata = f"{verb}OperationMetadata"
        response = "Empty" if verb == "Delete" else _KIND.message
        return operations.start(
            self.world, call.params["version"], parent, target, metadata, response, progress=progress
        )

    def _fated(self, cluster: Cluster, doomed: str, *, fresh: bool) -> Cluster:
        """Return the cluster with the error it will end in: a setting's or for want of machines. Raises 429."""
        settings, why = self.world.settings, ""
        needs = drawn(cluster.machines()) if fresh else Counter[str]()
        over = limits.beyond(self.world, cluster.region, needs, self.world.quota_in_use(cluster.region))
        if doomed and cluster.id.startswith(doomed):
            why = settings.create_error_message.format(region=cluster.region)
        elif over:
            refusal = limits.refusal(over)
            if settings.cluster_quota == "reject":
                raise refusal
            why = refusal.message
        elif fresh and not self._suffices(self.world, cluster, self.world.clock.now()):
            why = settings.create_error_message.format(region=cluster.region)
        return replace(cluster, fate={"code": _STOCK_OUT, "message": why}) if why else cluster
