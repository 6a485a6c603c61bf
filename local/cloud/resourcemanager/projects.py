"""The one project, read by id or number, on `v1` and `v3`."""

from typing import Any

from local.cloud import identities, policy_methods
from local.cloud.access import policies
from local.cloud.wire import Call, Reply, Route, permission_denied
from local.cloud.world import World


def routes(world: World) -> list[Route]:
    def known(call: Call) -> str:
        if call.params["project"] not in (identities.PROJECT_ID, identities.PROJECT_NUMBER):
            raise permission_denied("The caller does not have permission")
        return policies.project_name()

    def get(call: Call) -> Reply:
        known(call)
        world.access.require(call.principal, "resourcemanager.projects.get", identities.PROJECT_ID)
        return Reply(body=_shown(world, call))

    def list_all(call: Call) -> Reply:
        held = world.access.granted(call.principal, "resourcemanager.projects.get")
        return Reply(body={"projects": [_shown(world, call)]} if held else {})

    found = [
        Route("GET", "/{version:v1|v3}/projects/{project}", get),
        Route("GET", "/{version:v1}/projects", list_all),
        Route("GET", "/{version:v3}/projects:search", list_all),
    ]
    for version in ("v1", "v3"):
        base, api = f"/{version}/projects/{{project}}", f"cloudresourcemanager.{version}"
        found += policy_methods.routes(world, base, api, "resourcemanager.projects", known)
    return found


def _shown(world: World, call: Call) -> dict[str, Any]:
    project = world.store.get("project", identities.PROJECT_ID) or {}
    common = {"projectId": identities.PROJECT_ID, "createTime": project["createTime"]}
    if call.params["version"] == "v1":
        first = {"projectNumber": identities.PROJECT_NUMBER, "lifecycleState": "ACTIVE", "name": "Slipway on a laptop"}
        return {**first, **common}
    name = f"projects/{identities.PROJECT_NUMBER}"
    return {"name": name, "displayName": "Slipway on a laptop", "state": "ACTIVE", **common, "etag": 'W/"local"'}
