"""Methods of training that the local cloud will have later: each says so."""

from local.cloud.services import World
from local.cloud.vertex.names import region
from local.cloud.wire import Call, Handler, Reply, Route, unimplemented

_LATER = {
    "pipelineJobs": "Pipeline jobs",
    "schedules": "Schedules",
}


def routes(world: World) -> list[Route]:
    """Routes that answer 501 to what would start work; their lists are empty, since there can be none."""
    found = []
    for collection, title in _LATER.items():
        base = "/{version:v1|v1beta1}/projects/{project}/locations/{location}/" + collection
        found += [Route("POST", base, _refusal(title)), Route("GET", base, _empty(world, collection))]
    return found


def _refusal(title: str) -> Handler:
    def refuse(_: Call) -> Reply:
        raise unimplemented(f"{title} are not yet in the local cloud.")

    return refuse


def _empty(world: World, collection: str) -> Handler:
    def listed(call: Call) -> Reply:
        project, location = call.params["project"], region(call)
        resource = f"//aiplatform.googleapis.com/projects/{project}/locations/{location}"
        world.access.require(call.principal, f"aiplatform.{collection}.list", project, resource)
        world.limits.take("call", location)
        return Reply(body={})

    return listed
