"""The methods of persistent resources."""

from collections import Counter
from datetime import timedelta
from typing import Any

from local.cloud.clock import timestamp
from local.cloud.quotas.metrics import drawn
from local.cloud.services import World
from local.cloud.vertex import cluster as model
from local.cloud.vertex import (
    cluster_life,
    cluster_rules,
    clusters,
    job_life,
    jobs,
    keeping,
    operations,
    stock,
    usage,
)
from local.cloud.vertex.cluster import Cluster
from local.cloud.vertex.messages import MESSAGES
from local.cloud.vertex.mistakes import refuse
from local.cloud.vertex.names import cluster_name, location_name, region
from local.cloud.vertex.settling import settle
from local.cloud.wire import (
    ApiError,
    Call,
    Reply,
    Route,
    already_exists,
    failed_precondition,
    invalid_argument,
    not_found,
    unimplemented,
)

_KIND = "PersistentResource"
_BASE = "/{version:v1|v1beta1}/projects/{project}/locations/{location}/persistentResources"
_UPDATABLE = "resource_pools.replica_count"
_STOCK_OUT = 8
_MAX_PAGE = 1000


class PersistentResources:
    def __init__(self, world: World) -> None:
        self._world = world

    def routes(self) -> list[Route]:
        one = _BASE + "/{resource}"
        return [
            Route("POST", _BASE, self.create),
            Route("GET", _BASE, self.list),
            Route("GET", one, self.get),
            Route("DELETE", one, self.delete),
            Route("PATCH", one, self.patch),
            Route("POST", one + ":reboot", self.reboot),
        ]

    def create(self, call: Call) -> Reply:
        location = self._enter(call, "create", "submit")
        cluster_id = call.query.get("persistentResourceId") or call.query.get("persistent_resource_id") or ""
        body = MESSAGES.parse(call.params["version"], _KIND, call.object())
        refuse([*cluster_rules.id_mistakes(cluster_id), *cluster_rules.mistakes(body, location)])
        if "raySpec" in body.get("resourceRuntimeSpec", {}):
            raise unimplemented("Ray clusters (resource_runtime_spec.ray_spec) are not yet in the local cloud.")
        account = body.get("resourceRuntimeSpec", {}).get("serviceAccountSpec", {}).get("serviceAccount")
        if account:
            self._world.access.require_act_as(call.principal, account)
        settle(self._world)
        name = cluster_name(location, cluster_id)
        with self._world.store.transaction():
            if clusters.get(self._world.store, name):
                raise already_exists(f"The PersistentResource {name} already exists.")
            operation = self._start(call, name, name, "CreatePersistentResource", cluster_life.CREATING)
            declared = cluster_rules.defaulted(body, cluster_id)
            cluster = cluster_life.created(
                name, declared, operation.name, self._world.clock.now(), self._world.settings
            )
            clusters.put(self._world.store, self._fated(cluster, self._world.settings.create_error, fresh=True))
        self._world.changed.set()
        return Reply(body=operations.answer(operation))

    def get(self, call: Call) -> Reply:
        location = self._enter(call, "get", "call")
        settle(self._world)
        return Reply(body=self._answer(call, self._find(call, location)))

    def list(self, call: Call) -> Reply:
        location = self._enter(call, "list", "call")
        settle(self._world)
        size = max(1, min(call.integer("pageSize", 100) or 100, _MAX_PAGE))
        try:
            found, more = clusters.page(self._world.store, location, call.query.get("pageToken", ""), size)
        except ValueError as error:
            raise invalid_argument("Invalid page token.") from error
        lag = self._world.faults.take("lagging-list", call.method, call.path)
        if lag:
            newest = timestamp(self._world.clock.now() - timedelta(seconds=lag.seconds))
            found = [cluster for cluster in found if cluster.create_time < newest]
        answers = [self._answer(call, cluster) for cluster in found]
        return Reply(body={"persistentResources": answers} | ({"nextPageToken": more} if more else {}))

    def delete(self, call: Call) -> Reply:
        location = self._enter(call, "delete", "submit")
        settle(self._world)
        now = self._world.clock.now()
        with self._world.store.transaction():
            cluster = self._find(call, location)
            if cluster.state in ("PROVISIONING", "REBOOTING", "STOPPING"):
                raise failed_precondition(
                    f"The PersistentResource {cluster.name} is in state {cluster.state} and cannot be deleted."
                )
            for job in jobs.alive_on(self._world.store, location, cluster.id):
                if job.run:
                    why = f"The persistent resource {cluster.id} was deleted."
                    ended = job_life.cancelled(job, job.run, now, why)
                    keeping.keep(self._world, job.run, ended)
            operation = self._start(call, location_name(location), cluster.name, "Delete")
            clusters.put(self._world.store, cluster_life.deleted(cluster, operation.name, now, self._world.settings))
        # One that nothing holds back is gone at once, and the answer says so.
        settle(self._world)
        self._world.changed.set()
        return Reply(body=operations.answer(operations.current(self._world.store, operation)))

    def patch(self, call: Call) -> Reply:
        location = self._enter(call, "update", "submit")
        mask = call.query.get("updateMask") or call.query.get("update_mask") or ""
        paths = [path.strip() for path in mask.split(",") if path.strip()]
        MESSAGES.parse(call.params["version"], _KIND, call.object())
        settle(self._world)
        self._find(call, location)
        if not paths:
            raise invalid_argument("The update mask is required.")
        for path in paths:
            if path not in (_UPDATABLE, "resourcePools.replicaCount"):
                raise invalid_argument(f"Unrecognized path: {path}")
        raise ApiError(
            400, self._world.settings.patch_refusal, "Currently we only support the update function on Ray cluster"
        )

    def reboot(self, call: Call) -> Reply:
        location = self._enter(call, "update", "submit")
        call.object()
        settle(self._world)
        now = self._world.clock.now()
        with self._world.store.transaction():
            cluster = self._find(call, location)
            if cluster.state not in ("RUNNING", "ERROR"):
                raise failed_precondition(
                    f"The PersistentResource {cluster.name} is in state {cluster.state}; "
                    "only one in RUNNING or ERROR can be rebooted."
                )
            for job in jobs.started(self._world.store, location, cluster.id):
                if job.run:
                    lost = job_life.lost(job, job.run, now, self._world.settings)
                    keeping.keep(self._world, job.run, lost)
            operation = self._start(
                call, cluster.name, cluster.name, "RebootPersistentResource", cluster_life.REBOOTING
            )
            rebooted = cluster_life.rebooted(cluster, operation.name, now, self._world.settings)
            fresh = not cluster.holds_machines
            clusters.put(self._world.store, self._fated(rebooted, self._world.settings.reboot_error, fresh=fresh))
        self._world.changed.set()
        return Reply(body=operations.answer(operation))

    def _enter(self, call: Call, verb: str, rate: str) -> str:
        """Check who asks and how often; the call's region."""
        project, location = call.params["project"], region(call)
        resource = f"//aiplatform.googleapis.com/projects/{project}/locations/{location}"
        if "resource" in call.params:
            resource += f"/persistentResources/{call.params['resource']}"
        permission = f"aiplatform.persistentResources.{verb}"
        self._world.access.require(call.principal, permission, project, resource)
        self._world.limits.take(rate, location)
        return location

    def _find(self, call: Call, location: str) -> Cluster:
        cluster = clusters.get(self._world.store, cluster_name(location, call.params["resource"]))
        if cluster is None:
            raise not_found("The PersistentResource does not exist.")
        return cluster

    def _answer(self, call: Call, cluster: Cluster) -> dict[str, Any]:
        used: Counter[str] = usage.pool_use(self._world.store, cluster.region, cluster.id)
        return MESSAGES.render(call, call.params["version"], _KIND, model.answer(cluster, used))

    def _start(self, call: Call, parent: str, target: str, verb: str, progress: str = "") -> operations.Operation:
        metadata = f"{verb}OperationMetadata"
        response = "Empty" if verb == "Delete" else _KIND
        return operations.start(self._world, call.params["version"], parent, target, metadata, response, progress)

    def _fated(self, cluster: Cluster, doomed: str, *, fresh: bool) -> Cluster:
        """The cluster with the error it will end in: a setting's or, where it needs machines (`fresh`), for want of
        quota or of machines. Raises 429."""
        settings = self._world.settings
        if doomed and cluster.id.startswith(doomed):
            message = settings.create_error_message.format(region=cluster.region)
            return cluster_life.fated(cluster, {"code": _STOCK_OUT, "message": message})
        if not fresh:
            return cluster
        needs = drawn(cluster.machines())
        over = usage.beyond(self._world, cluster.region, needs, usage.in_use(self._world, cluster.region))
        if over:
            refusal = usage.refusal(over)
            if settings.cluster_quota == "reject":
                raise refusal
            return cluster_life.fated(cluster, {"code": _STOCK_OUT, "message": refusal.message})
        if not stock.suffices(self._world, cluster, self._world.clock.now()):
            message = settings.create_error_message.format(region=cluster.region)
            return cluster_life.fated(cluster, {"code": _STOCK_OUT, "message": message})
        return cluster
