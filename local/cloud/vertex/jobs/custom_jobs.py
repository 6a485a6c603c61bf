"""The methods of custom jobs."""

from local.cloud.vertex import conditions
from local.cloud.vertex.clusters.work import apply_due
from local.cloud.vertex.collection import Kind
from local.cloud.vertex.jobs import life, submission, table
from local.cloud.vertex.jobs.records import Job
from local.cloud.vertex.resources import Resources
from local.cloud.wire import Call, Reply, Route
from local.cloud.world import World

CUSTOM_JOB = Kind("CustomJob", "/customJobs", "resource", "customJobs", trains=True)


class CustomJobs(Resources[Job]):
    def __init__(self, world: World) -> None:
        super().__init__(world, CUSTOM_JOB, table.NAME, conditions.FIELDS)

    def routes(self) -> list[Route]:
        return [*super().routes(), Route("POST", self.kind.each + ":cancel", self.cancel)]

    def look(self, name: str) -> Job | None:
        return table.get(self.world.store, name)

    def remove(self, name: str) -> None:
        table.remove(self.world.store, name)

    def create(self, call: Call) -> Reply:
        location = self.enter(call, "create", "submit")
        declared = submission.checked(self.sent(call), location)
        apply_due(self.world)
        with self.world.store.transaction():
            email = submission.admit(self.world, call.principal, location, declared)
            job = submission.submit(self.world, location, declared, email)
        self.world.changed.set()
        return self.shown(call, job.body)

    def cancel(self, call: Call) -> Reply:
        self.enter(call, "cancel")
        with self.world.store.transaction():
            job = self.alive(call)
            assert job.run is not None
            ended = life.cancelled(job, job.run, self.world.clock.now(), "The job was cancelled.")
            table.keep(self.world, job.run, ended)
        self.world.changed.set()
        return Reply(body={})
