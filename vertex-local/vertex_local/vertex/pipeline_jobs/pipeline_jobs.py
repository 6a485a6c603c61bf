"""The methods of pipeline jobs."""

from collections.abc import Callable, Sequence

from ... import filter_fields
from ...documents import Body
from ...filter_fields import FilterFields
from ...storage.records import BUCKETS
from ...wire import Call, Reply, Route, already_exists, failed_precondition
from ...world import World
from .. import accounts
from ..clusters.records import CLUSTERS
from ..clusters.work import apply_due
from ..collection import canonical
from ..field_errors import refuse
from ..messages import MESSAGES
from ..names import id_of, location_name
from ..resources import FollowedResources
from . import definition, lineage, records, rules, work
from .records import BILLING_LABEL, JOBS, KIND, PipelineJob, TaskRun

_FIRST_ID = 4_000_000_000_000_000_000
_IDS_APART = 1_000_000
_NAMES = filter_fields.of_tree({"pipelineName": "text", "pipelineJobUserId": "text"})
"""What filters name of a job beside its fields: the compiled pipeline, and the id that its client gave it."""
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
        return [
            *super().routes(),
            Route("POST", self.kind.each + ":cancel", self.cancel),
            Route("POST", self.kind.base + ":batchCancel", self.batch_cancel),
            Route("POST", self.kind.base + ":batchDelete", self.batch_delete),
        ]

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
            made = lineage.begun(self.world, PipelineJob(shown, tasks))
            JOBS.put(self.world.store, made)
        self.world.changed.set()
        return self.shown(call, self._whole(made))

    def get(self, call: Call) -> Reply:
        self.enter(call, "get")
        return self.shown(call, self._whole(self.find(call)))

    def cancel(self, call: Call) -> Reply:
        return self.cancelled(call, lambda job: work.cancel(self.world, job))

    def batch_cancel(self, call: Call) -> Reply:
        """Cancel jobs, or none of them, by an operation that is done at once."""
        self.enter(call, "cancel")
        with self.world.store.transaction():
            jobs = self._several(call, "BatchCancelPipelineJobs", self.check_alive)
            for job in jobs:
                work.cancel(self.world, job)
            reply = self._done(call, "BatchCancelPipelineJobs", [self._kept(job.name) for job in jobs])
        self.world.changed.set()
        return reply

    def batch_delete(self, call: Call) -> Reply:
        """Delete jobs that are over, or none of them, by an operation that is done at once."""
        self.enter(call, "delete", "submit")
        with self.world.store.transaction():
            jobs = self._several(call, "BatchDeletePipelineJobs", self.check_over)
            for job in jobs:
                self.remove(job.name)
            return self._done(call, "BatchDeletePipelineJobs", jobs)

    def _several(self, call: Call, method: str, check: Callable[[PipelineJob], None]) -> list[PipelineJob]:
        """Return the jobs that a batch names, each of which passes a check. Raises 400, 404."""
        names = MESSAGES.parse(call.params["version"], f"{method}Request", call.object()).get("names", [])
        refuse(rules.batch_mistakes(names, call.params["location"]))
        jobs = [self._kept(name) for name in dict.fromkeys(canonical(self.world.project, name) for name in names)]
        for job in jobs:
            check(job)
        return jobs

    def _done(self, call: Call, method: str, jobs: Sequence[PipelineJob]) -> Reply:
        shown = [MESSAGES.render(call.params["version"], self.kind.message, job.body) for job in jobs]
        location = location_name(self.world.project, call.params["location"])
        metadata, response = f"{method}OperationMetadata", f"{method}Response"
        return self.done(call, location, metadata, response, result={"pipelineJobs": shown})

    def fields(self, call: Call) -> FilterFields:
        return filter_fields.beside(super().fields(call), _NAMES)

    def filtered(self, body: Body) -> Body:
        name = body["pipelineSpec"].get("pipelineInfo", {}).get("name", "")
        return {**body, "pipelineName": name, "pipelineJobUserId": id_of(body["name"])}

    def find(self, call: Call) -> PipelineJob:
        return self._kept(self.named(call))

    def _kept(self, name: str) -> PipelineJob:
        return JOBS.find(self.world.store, name, f"The PipelineJob {name} does not exist.")

    def _admit(self, call: Call, body: Body) -> None:
        """Check what the job needs beside itself: bucket, account, persistent resource. Raises 400, 403, 404."""
        directory = body["runtimeConfig"]["gcsOutputDirectory"]
        if BUCKETS.get(self.world.store, directory.removeprefix("gs://").partition("/")[0]) is None:
            raise failed_precondition(f"The Cloud Storage bucket of `{directory}` does not exist.")
        email = body.get("serviceAccount", "")
        if email:
            accounts.check(self.world, call.principal, email)
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

    def _whole(self, job: PipelineJob) -> Body:
        """Return the body with its tasks and contexts, which lists do not have."""
        details = records.details(job, lambda path: lineage.execution(self.world, job, path))
        return {**job.body, "jobDetail": {**lineage.contexts(self.world, job), "taskDetails": details}}
