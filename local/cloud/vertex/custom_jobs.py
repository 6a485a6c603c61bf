"""The methods of custom jobs."""

from local.cloud.services import World
from local.cloud.vertex import job_filter, job_life, jobs, keeping, listing, operations, submission
from local.cloud.vertex.job import ENDED
from local.cloud.vertex.jobs import Job
from local.cloud.vertex.messages import MESSAGES
from local.cloud.vertex.mistakes import Mistake, field_errors
from local.cloud.vertex.names import job_name, location_name, region
from local.cloud.vertex.settling import settle
from local.cloud.wire import Call, Reply, Route, failed_precondition, not_found

_KIND = "CustomJob"
_BASE = "/{version:v1|v1beta1}/projects/{project}/locations/{location}/customJobs"


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
        declared = submission.checked(body, location)
        settle(self._world)
        with self._world.store.transaction():
            email = submission.admit(self._world, call.principal, location, declared)
            job = submission.submit(self._world, location, declared, email)
        self._world.changed.set()
        return Reply(body=MESSAGES.render(call, call.params["version"], _KIND, job.body))

    def get(self, call: Call) -> Reply:
        location = self._enter(call, "get", "call")
        return Reply(body=MESSAGES.render(call, call.params["version"], _KIND, self._find(call, location).body))

    def list(self, call: Call) -> Reply:
        location = self._enter(call, "list", "call")
        fields = job_filter.FIELDS
        return listing.listed(self._world, call, location, "custom_jobs", "customJobs", _KIND, fields)

    def cancel(self, call: Call) -> Reply:
        location = self._enter(call, "cancel", "call")
        with self._world.store.transaction():
            job = self._find(call, location)
            if job.run is None:
                raise failed_precondition(
                    f"The CustomJob {job.body['name']} is in state {job.body['state']} and cannot be cancelled."
                )
            ended = job_life.cancelled(job, job.run, self._world.clock.now(), "The job was cancelled.")
            keeping.keep(self._world, job.run, ended)
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
