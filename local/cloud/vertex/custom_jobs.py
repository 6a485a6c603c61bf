"""The methods of custom jobs."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from local.cloud import identities
from local.cloud.quotas.metrics import drawn
from local.cloud.services import World
from local.cloud.vertex import (
    clusters,
    job_filter,
    job_life,
    job_rules,
    jobs,
    operations,
    placement,
    queueing,
    usage,
)
from local.cloud.vertex.cluster import Cluster
from local.cloud.vertex.job import DEFAULT_TIMEOUT_S, ENDED, Run, demands_of
from local.cloud.vertex.jobs import Job
from local.cloud.vertex.messages import MESSAGES
from local.cloud.vertex.mistakes import Mistake, field_errors, refuse
from local.cloud.vertex.names import cluster_name, job_name, location_name, region
from local.cloud.vertex.settling import settle
from local.cloud.wire import (
    Call,
    Reply,
    Route,
    failed_precondition,
    invalid_argument,
    not_found,
    resource_exhausted,
)

_KIND = "CustomJob"
_BASE = "/{version:v1|v1beta1}/projects/{project}/locations/{location}/customJobs"
_FIRST_ID = 7_000_000_000_000_000_000
_MAX_PAGE = 1000


class CustomJobs:
    def __init__(self, world: World) -> None:
        self._world = world

    def routes(self) -> list[Route]:
        one = _BASE + "/{job}"
        return [
            Route("POST", _BASE, self.create),
            Route("GET", _BASE, self.list),
            Route("GET", one, self.get),
            Route("DELETE", one, self.delete),
            Route("POST", one + ":cancel", self.cancel),
        ]

    def create(self, call: Call) -> Reply:
        location = self._enter(call, "create", "submit")
        body = MESSAGES.parse(call.params["version"], _KIND, call.object())
        refuse(job_rules.mistakes(body, location))
        declared = job_rules.defaulted(body)
        spec = declared["jobSpec"]
        cluster_id = spec.get("persistentResourceId")
        if cluster_id:
            refuse(job_rules.strategy_mistakes(spec))
        missing = job_rules.not_here(declared)
        if missing:
            raise missing
        settle(self._world)
        with self._world.store.transaction():
            if cluster_id:
                email = self._admit_to_pool(call, location, cluster_id, declared)
            else:
                self._admit_beside(location, spec)
                email = spec.get("serviceAccount") or identities.CUSTOM_CODE_AGENT
            if spec.get("serviceAccount"):
                self._check_account(call, spec["serviceAccount"])
            job = self._made(location, declared, email)
        self._world.changed.set()
        return Reply(body=MESSAGES.render(call, call.params["version"], _KIND, job.body))

    def get(self, call: Call) -> Reply:
        location = self._enter(call, "get", "call")
        return Reply(body=MESSAGES.render(call, call.params["version"], _KIND, self._find(call, location).body))

    def list(self, call: Call) -> Reply:
        location = self._enter(call, "list", "call")
        condition = job_filter.condition(call.query.get("filter", ""))
        lag = self._world.faults.take("lagging-list", call.method, call.path)
        if lag:
            condition = condition.older_than(self._world.clock.now() - timedelta(seconds=lag.seconds))
        order, descending = _order(call.query.get("orderBy", ""))
        size = max(1, min(call.integer("pageSize", 100) or 100, _MAX_PAGE))
        token = call.query.get("pageToken", "")
        try:
            found, more = jobs.page(self._world.store, location, condition, order, descending, token, size)
        except ValueError as error:
            raise invalid_argument("Invalid page token.") from error
        mask = call.query.get("readMask") or call.query.get("read_mask") or ""
        answers = [MESSAGES.render(call, call.params["version"], _KIND, body, mask) for body in found]
        return Reply(body={"customJobs": answers} | ({"nextPageToken": more} if more else {}))

    def cancel(self, call: Call) -> Reply:
        location = self._enter(call, "cancel", "call")
        with self._world.store.transaction():
            job = self._find(call, location)
            if job.run is None:
                raise failed_precondition(
                    f"The CustomJob {job.body['name']} is in state {job.body['state']} and cannot be cancelled."
                )
            ended = job_life.cancelled(job, job.run, self._world.clock.now(), "The job was cancelled.")
            jobs.put(self._world.store, job.run.number, location, ended.body, ended.run)
        self._world.changed.set()
        return Reply(body={})

    def delete(self, call: Call) -> Reply:
        location = self._enter(call, "delete", "submit")
        with self._world.store.transaction():
            job = self._find(call, location)
            if job.body["state"] not in ENDED:
                raise failed_precondition(
                    f"The CustomJob {job.body['name']} is in state {job.body['state']}; "
                    "only one that has ended can be deleted."
                )
            jobs.remove(self._world.store, job.body["name"])
            operation = operations.start(
                self._world,
                call.params["version"],
                location_name(location),
                job.body["name"],
                "DeleteOperationMetadata",
                "Empty",
            )
            operations.finish(self._world.store, operation.name, self._world.now())
        return Reply(body=operations.answer(operations.current(self._world.store, operation)))

    def _enter(self, call: Call, verb: str, rate: str) -> str:
        """Check who asks and how often; the call's region."""
        project, location = call.params["project"], region(call)
        resource = f"//aiplatform.googleapis.com/projects/{project}/locations/{location}"
        if "job" in call.params:
            resource += f"/customJobs/{call.params['job']}"
        self._world.access.require(call.principal, f"aiplatform.customJobs.{verb}", project, resource)
        self._world.limits.take(rate, location)
        return location

    def _find(self, call: Call, location: str) -> Job:
        job_id = call.params["job"]
        if not job_id.isdigit():
            raise field_errors([Mistake("name", "Invalid CustomJob resource name.")])
        job = jobs.get(self._world.store, job_name(location, job_id))
        if job is None:
            raise not_found("The CustomJob does not exist.")
        return job

    def _admit_to_pool(self, call: Call, location: str, cluster_id: str, body: Mapping[str, Any]) -> str:
        """Check a job against the cluster it names; the service account it will run as. Raises 400, 404, 429."""
        spec = body["jobSpec"]
        cluster = clusters.get(self._world.store, cluster_name(location, cluster_id))
        if cluster is None:
            raise not_found("The PersistentResource does not exist.")
        if not cluster.takes_jobs:
            raise failed_precondition(
                f"The PersistentResource {cluster.name} is in state {cluster.state} and does not take jobs."
            )
        refuse(_disagreements(body, cluster, self._world.settings.job_service_account == "reject"))
        demands = demands_of(spec)
        refuse(placement.mistakes(demands, cluster))
        if self._world.settings.full_pool == "reject":
            used = usage.pool_use(self._world.store, location, cluster_id)
            if placement.place(demands, cluster.pools, used) is None:
                raise resource_exhausted(f"The PersistentResource {cluster.name} has too few free replicas.")
        return (
            spec.get("serviceAccount")
            or cluster.service_account_spec.get("serviceAccount")
            or identities.CUSTOM_CODE_AGENT
        )

    def _check_account(self, call: Call, email: str) -> None:
        """The caller may run jobs as the account, and it exists. Raises 403, 400."""
        self._world.access.require_act_as(call.principal, email)
        ours = email.endswith(f"@{identities.PROJECT_ID}.iam.gserviceaccount.com")
        if ours and self._world.store.get("serviceAccount", email) is None:
            raise failed_precondition(f"Service account {email} does not exist.")

    def _admit_beside(self, location: str, spec: Mapping[str, Any]) -> None:
        """Refuse what no amount of waiting would let run: more than the limit itself. Raises 429."""
        machines = [(demand.shape, demand.count) for demand in demands_of(spec)]
        over = usage.beyond(self._world, location, drawn(machines, preemptible=job_rules.spot(spec)), {})
        if over:
            raise usage.refusal(over)

    def _made(self, location: str, declared: Mapping[str, Any], email: str) -> Job:
        """Write a new job, and start it when nobody waits before it."""
        store, spec, now = self._world.store, declared["jobSpec"], self._world.now()
        number = store.next_id("customJob")
        name = job_name(location, str(_FIRST_ID + number))
        cluster_id = spec.get("persistentResourceId")
        run = Run(
            number=number,
            name=name,
            state="JOB_STATE_QUEUED",
            cluster=cluster_id,
            spot=job_rules.spot(spec),
            demands=demands_of(spec),
            timeout_s=job_rules.timeout_s(spec, DEFAULT_TIMEOUT_S),
            may_retry=not spec.get("scheduling", {}).get("disableRetries", False),
            email=email,
        )
        body = {**declared, "name": name, "state": run.state, "createTime": now, "updateTime": now}
        jobs.put(store, number, location, body, run)
        if len(jobs.queued(store, location, cluster_id, 2)) == 1:
            queueing.serve(self._world, location, cluster_id, self._world.clock.now())
        made = jobs.get(store, name)
        assert made is not None
        return made


def _disagreements(body: Mapping[str, Any], cluster: Cluster, strict: bool) -> list[Mistake]:
    """Where a job contradicts its cluster: service account, network, encryption (vertex-rules 2)."""
    spec, found = body["jobSpec"], []
    account = spec.get("serviceAccount")
    default = cluster.service_account_spec.get("serviceAccount")
    if cluster.custom_service_account and not account and not default:
        text = f"A service account is required: persistent resource {cluster.id} has custom service accounts enabled."
        found.append(Mistake("job_spec.service_account", text))
    if not cluster.custom_service_account and account and strict:
        text = f"Persistent resource {cluster.id} does not have custom service accounts enabled."
        found.append(Mistake("job_spec.service_account", text))
    if spec.get("network", "") != cluster.body.get("network", "") and "network" in spec:
        text = f'Network must be that of persistent resource {cluster.id}: "{cluster.body.get("network", "")}".'
        found.append(Mistake("job_spec.network", text))
    key = cluster.body.get("encryptionSpec", {}).get("kmsKeyName", "")
    if "encryptionSpec" in body and body["encryptionSpec"].get("kmsKeyName", "") != key:
        text = f'The key must be that of persistent resource {cluster.id}: "{key}".'
        found.append(Mistake("encryption_spec.kms_key_name", text))
    return found


def _order(text: str) -> tuple[str, bool]:
    """The column and whether it descends; the newest first when nothing is asked."""
    if not text.strip():
        return "create_time", True
    field, _, way = text.strip().partition(" ")
    column = {"createTime": "create_time", "displayName": "display_name"}.get(field, field)
    if column not in jobs.ORDERS or way.strip().lower() not in ("", "asc", "desc"):
        raise invalid_argument(f"Invalid order by: {text}; known are {', '.join(jobs.ORDERS)}.")
    return column, way.strip().lower() == "desc"
