"""Pipeline jobs and schedules, which the local cloud does not have: a request to start one is refused in words."""

from ... import documents
from ...wire import Call, Reply, Route, unimplemented
from ...world import World
from ..collection import Collection, Kind


class Unserved(Collection):
    """A collection that is always empty. `title` names its resources in a refusal."""

    def __init__(self, world: World, kind: Kind, title: str) -> None:
        super().__init__(world, kind)
        self._title = title

    def create(self, call: Call) -> Reply:
        raise unimplemented(f"{self._title} are not yet in the local cloud.")

    def list(self, call: Call) -> Reply:
        self.enter(call, "list")
        return documents.without_empty(self.listed(call, documents.sliced(())))


def routes(world: World) -> list[Route]:
    pipeline_job = Kind("PipelineJob", "/pipelineJobs", "resource", "pipelineJobs", trains=True)
    schedule = Kind("Schedule", "/schedules", "resource", "schedules", trains=True)
    return [*Unserved(world, pipeline_job, "Pipeline jobs").routes(), *Unserved(world, schedule, "Schedules").routes()]
