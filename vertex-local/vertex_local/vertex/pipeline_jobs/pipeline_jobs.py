"""The methods of pipeline jobs."""

from ...access.policies import ACCOUNTS
from ...documents import Body
from ...storage.records import BUCKETS
from ...wire import Call, Reply, Route, already_exists, failed_precondition, not_found
from ...world import World
from ..clusters.records import CLUSTERS
from ..clusters.work import apply_due
from ..collection import canonical
from ..field_errors import refuse
from ..names import location_name
from ..resources import FollowedResources
from . import definition, records, rules, work
from .records import BILLING_LABEL, JOBS, KIND, PipelineJob, TaskRun

_FIRST_ID = 4_000_000_000_000_000_000
_IDS_APART = 1_000_000
_SENT = (
    "displayName",
    "pipelineSpec",
    "labels",
    "runtimeConfig",
    "encryptionSpec",
    "serviceAccount",
    "network",
    "reservedIpRanges",
    "pscInterfaceConfig",
)


class PipelineJobs(FollowedResources[PipelineJob]):
    def __init__(self, world: World) -> None:
        super().__init__(world, KIND, JOBS)

    def routes(self) -> list[Route]:
        return [*super().routes(), Route("POST", self.kind.each + ":cancel", self.cancel)]

    def create(self, call: Call) -> Reply:
        """Make the job under the id that is given, or one of its own; its tasks then begin by themselves."""
        location, sent = self.enter(call, "create", "submit"), self.sent(call)
        body = {key: sent[key] for key in _SENT if key in sent}
        job_id = call.query.get("pipelineJobId", "")
        refuse(rules.mistakes(body, job_id, location))
        missing = rules.not_here(sent)
        if missing:
            raise missing
        apply_due(self.world)
        with self.world.store.transaction():
            self._admit(call, body)
            number, now = _FIRST_ID + self.world.store.next_id("pipelineJob") * _IDS_APART, self.world.now()
            name = self.name(location_name(self.world.project, location), job_id or f"pipeline-{number}")
            if JOBS.get(self.world.store, name):
                raise already_exists(f"The PipelineJob {name} already exists.")
            shown = {
                **body,
                "name": name,
                "labels": {**body.get("labels", {}), BILLING_LABEL: str(number)},
                "serviceAccount": body.get("serviceAccount") or self.world.project.custom_code_agent,
                "state": "PIPELINE_STATE_PENDING",
                "createTime": now,
                "updateTime": now,
            }
            tasks = {task.path: TaskRun() for task in definition.tasks(body["pipelineSpec"])}
            made = PipelineJob(shown, tasks)
            JOBS.put(self.world.store, made)
        self.world.changed.set()
        return self.shown(call, _whole(made))

    def get(self, call: Call) -> Reply:
        self.enter(call, "get")
        return self.shown(call, _whole(self.find(call)))

    def cancel(self, call: Call) -> Reply:
        return self.cancelled(call, lambda job: work.cancel(self.world, job))

    def find(self, call: Call) -> PipelineJob:
        job = self.look(self.named(call))
        if job is None:
            raise not_found("The PipelineJob does not exist.")
        return job

    def _admit(self, call: Call, body: Body) -> None:
        """Check what the job needs beside itself: bucket, account, persistent resource. Raises 400, 403, 404."""
        directory = body["runtimeConfig"]["gcsOutputDirectory"]
        if BUCKETS.get(self.world.store, directory.removeprefix("gs://").partition("/")[0]) is None:
            raise failed_precondition(f"The Cloud Storage bucket of `{directory}` does not exist.")
        email = body.get("serviceAccount", "")
        if email:
            self.world.access.require_act_as(call.principal, email)
            if self.world.project.owns(email) and ACCOUNTS.get(self.world.store, email) is None:
                raise failed_precondition(f"Service account {email} does not exist.")
        named = rules.cluster_of(body)
        if not named:
            return
        cluster = CLUSTERS.find(
            self.world.store, canonical(self.world.project, named), "The PersistentResource does not exist."
        )
        if not cluster.takes_jobs:
            raise failed_precondition(f"The PersistentResource {named} is in state {cluster.state}.")
        if not cluster.custom_service_account:
            raise failed_precondition(
                f"The PersistentResource {named} does not have custom service accounts enabled, which pipelines need."
            )


def _whole(job: PipelineJob) -> Body:
    """Return the body with its tasks, which lists do not have."""
    declared = {task.path: task for task in definition.tasks(job.body["pipelineSpec"])}
    return {**job.body, "jobDetail": {"taskDetails": records.details(job, declared)}}
