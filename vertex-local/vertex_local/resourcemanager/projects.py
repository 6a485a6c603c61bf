"""The methods of projects, read by id or number, on `v1` and `v3`."""

from typing import Any

from .. import policy_methods
from ..access import policies
from ..wire import Call, Reply, Route, permission_denied
from ..world import World

_TITLE = "Vertex AI on a laptop"


def routes(world: World) -> list[Route]:
    def known(call: Call) -> str:
        if not world.project.is_called(call.params["project"]):
            raise permission_denied("The caller does not have permission")
        return policies.project_name(world.project.id)

    def get(call: Call) -> Reply:
        known(call)
        world.access.require(call.principal, "resourcemanager.projects.get", world.project.id)
        return Reply(body=_shown(world, call))

    listed = [Route("GET", "/{version:v1|v3}/projects/{project}", get)]
    for version in ("v1", "v3"):
        base, api = f"/{version}/projects/{{project}}", f"cloudresourcemanager.{version}"
        listed += policy_methods.routes(world, base, api, "resourcemanager.projects", known)
    return listed


def _shown(world: World, call: Call) -> dict[str, Any]:
    project = world.store.get("project", world.project.id) or {}
    common = {"projectId": world.project.id, "createTime": project["createTime"]}
    if call.params["version"] == "v1":
        first = {"projectNumber": world.project.number, "lifecycleState": "ACTIVE", "name": _TITLE}
        return {**first, **common}
    name = f"projects/{world.project.number}"
    return {"name": name, "displayName": _TITLE, "state": "ACTIVE", **common, "etag": 'W/"local"'}
