"""The methods of roles: those that Google has made, and those of a project."""

from ..access import roles
from ..wire import Call, Reply, Route, not_found
from ..world import World


class Roles:
    def __init__(self, world: World) -> None:
        self._world = world

    def routes(self) -> list[Route]:
        return [
            Route("GET", "/v1/roles/{role}", self.get),
            Route("GET", "/v1/projects/{project}/roles/{role}", self.get_of_project),
        ]

    def get(self, call: Call) -> Reply:
        """Return a predefined role, which anybody may read."""
        return _answer(f"roles/{call.params['role']}")

    def get_of_project(self, call: Call) -> Reply:
        self._world.access.require(call.principal, "iam.roles.get", call.params["project"])
        return _answer(f"projects/{self._world.project.id}/roles/{call.params['role']}")


def _answer(name: str) -> Reply:
    role = roles.find(name)
    if role is None:
        raise not_found(f"The role named {name} was not found.")
    return Reply(body={"name": name, "includedPermissions": roles.permissions(role), "stage": "GA", "etag": "AA=="})
