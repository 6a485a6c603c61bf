"""The methods of a project's policies, of which it has none of its own: all in force are its organisation's."""

from .. import constraints, documents
from ..wire import Call, Reply, Route, not_found, unimplemented
from ..world import World


def routes(world: World) -> list[Route]:
    def require(call: Call, permission: str) -> None:
        project = call.params["project"]
        world.access.require(call.principal, permission, project, f"//orgpolicy.googleapis.com/projects/{project}")

    def effective(call: Call) -> Reply:
        require(call, "orgpolicy.policy.get")
        name = _known(call.params["policy"])
        rules = [constraints.rule(name, world.settings.policy.get(name, ()))]
        return Reply(body={"name": f"projects/{world.project.number}/policies/{name}", "spec": {"rules": rules}})

    def get(call: Call) -> Reply:
        require(call, "orgpolicy.policy.get")
        _known(call.params["policy"])
        raise not_found("Requested entity was not found.")

    def list_all(call: Call) -> Reply:
        require(call, "orgpolicy.policies.list")
        return documents.without_empty(documents.listed(call, "policies", documents.sliced([]), dict))

    base = "/v2/projects/{project}/policies"
    return [
        Route("GET", base, list_all),
        Route("GET", base + "/{policy}", get),
        Route("GET", base + "/{policy}:getEffectivePolicy", effective),
    ]


def _known(name: str) -> str:
    if name not in constraints.CONSTRAINTS:
        raise unimplemented(
            f"The local cloud knows no constraint '{name}'; it has {', '.join(constraints.CONSTRAINTS)}."
        )
    return name
