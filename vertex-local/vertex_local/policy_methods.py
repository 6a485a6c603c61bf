"""`:getIamPolicy`, `:setIamPolicy` and `:testIamPermissions`, the same for projects and service accounts."""

from collections.abc import Callable

from . import bodies, discovery
from .access import policies
from .wire import Call, Reply, Route
from .world import World


def routes(world: World, base: str, api: str, kind: str, resource_of: Callable[[Call], str]) -> list[Route]:
    """Return the routes under the path template `base`. `api` names the discovery document, `kind` is the permissions'
    head (`resourcemanager.projects`), `resource_of` returns the full resource name or raises."""
    schemas = discovery.document(api)["schemas"]

    def get_policy(call: Call) -> Reply:
        sent = bodies.parsed(api, "GetIamPolicyRequest", call.object()) if "GetIamPolicyRequest" in schemas else {}
        asked = sent.get("options", {}).get("requestedPolicyVersion")
        policies.check_version(int(asked or call.integer("options.requestedPolicyVersion")))
        resource = resource_of(call)
        world.access.require(call.principal, f"{kind}.getIamPolicy", world.project.id, resource)
        return Reply(body=world.policies.get(resource))

    def set_policy(call: Call) -> Reply:
        body = bodies.parsed(api, "SetIamPolicyRequest", call.object())
        resource = resource_of(call)
        world.access.require(call.principal, f"{kind}.setIamPolicy", world.project.id, resource)
        policy, mask = body.get("policy", {}), body.get("updateMask", "bindings")
        if "bindings" not in mask and "*" not in mask:
            policy = {**policy, "bindings": world.policies.get(resource).get("bindings", [])}
        return Reply(body=world.policies.set(resource, policy, policies.concurrent_change))

    def test(call: Call) -> Reply:
        body = bodies.parsed(api, "TestIamPermissionsRequest", call.object())
        held = world.access.tested(call.principal, list(body.get("permissions", [])), resource_of(call))
        return Reply(body={"permissions": held} if held else {})

    verbs = {"getIamPolicy": get_policy, "setIamPolicy": set_policy, "testIamPermissions": test}
    return [Route("POST", f"{base}:{verb}", handler) for verb, handler in verbs.items()]
