"""The methods of projects, read by id or number, on `v1` and `v3`."""

import fnmatch
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .. import documents, filters, policy_methods
from ..access import policies
from ..wire import Call, Reply, Route, permission_denied
from ..world import World

_TITLE = "Vertex AI on a laptop"
_ALIASES = {"displayname": "name", "projectid": "id", "lifecyclestate": "state"}
_FIELDS = ("name", "id", "state", "parent", "parent.type", "parent.id", "projectnumber", "labels")

Test = Callable[[Mapping[str, str]], bool]


class _Search(filters.Meaning[Test]):
    """Terms that find projects: any field may fit, and letter case does not matter."""

    def __init__(self) -> None:
        self.everything = lambda project: True

    def comparison(self, field: str, sign: str, value: str) -> Test:
        name = _ALIASES.get(field.lower(), field.lower())
        if name not in _FIELDS and not name.startswith("labels."):
            raise self.refusal(f"field '{field}' is not supported")
        if sign not in (":", "="):
            raise self.refusal(f"operator '{sign}' is not supported on '{field}'")
        return lambda project: name in project and fnmatch.fnmatchcase(project[name].lower(), value.lower())

    def joined(self, parts: Sequence[Test], word: str) -> Test:
        return lambda project: any(part(project) for part in parts)

    def inverted(self, part: Test) -> Test:
        return lambda project: not part(project)


def routes(world: World) -> list[Route]:
    def known(call: Call) -> str:
        if not world.project.is_called(call.params["project"]):
            raise permission_denied("The caller does not have permission")
        return policies.project_name(world.project.id)

    def get(call: Call) -> Reply:
        known(call)
        world.access.require(call.principal, "resourcemanager.projects.get", world.project.id)
        return Reply(body=_shown(world, call))

    def list_all(call: Call) -> Reply:
        """Return the projects that match. `v1` calls the words to look for a filter, `v3` a query; both mean the
        same."""
        test = filters.parsed(call.query.get("filter") or call.query.get("query") or "", _Search())
        found = [
            _shown(one, call)
            for one in world.all()
            if one.access.granted(call.principal, "resourcemanager.projects.get") and test(_searched(one))
        ]
        return documents.without_empty(documents.listed(call, "projects", documents.sliced(found), dict))

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
    project = world.store.get("project", world.project.id) or {}
    common = {"projectId": world.project.id, "createTime": project["createTime"]}
    if call.params["version"] == "v1":
        first = {"projectNumber": world.project.number, "lifecycleState": "ACTIVE", "name": _TITLE}
        return {**first, **common}
    name = f"projects/{world.project.number}"
    return {"name": name, "displayName": _TITLE, "state": "ACTIVE", **common, "etag": 'W/"local"'}


def _searched(world: World) -> dict[str, str]:
    return {
        "name": _TITLE,
        "id": world.project.id,
        "state": "ACTIVE",
        "projectnumber": world.project.number,
    }
