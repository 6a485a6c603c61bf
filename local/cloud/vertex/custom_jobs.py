"""The methods of custom jobs."""

from datetime import timedelta

from local.cloud.services import World
from local.cloud.vertex import job_filter, job_life, jobs, operations, submission
from local.cloud.vertex.job import ENDED
from local.cloud.vertex.jobs import Job
from local.cloud.vertex.messages import MESSAGES
from local.cloud.vertex.mistakes import Mistake, field_errors
from local.cloud.vertex.names import job_name, location_name, region
from local.cloud.vertex.settling import settle
from local.cloud.wire import Call, Reply, Route, failed_precondition, invalid_argument, not_found

_KIND = "CustomJob"
_BASE = "/{version:v1|v1beta1}/projects/{project}/locations/{location}/customJobs"
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


def _order(text: str) -> tuple[str, bool]:
    """The column and whether it descends; the newest first when nothing is asked."""
    if not text.strip():
        return "create_time", True
    field, _, way = text.strip().partition(" ")
    column = {"createTime": "create_time", "displayName": "display_name"}.get(field, field)
    if column not in jobs.ORDERS or way.strip().lower() not in ("", "asc", "desc"):
        raise invalid_argument(f"Invalid order by: {text}; known are {', '.join(jobs.ORDERS)}.")
    return column, way.strip().lower() == "desc"
