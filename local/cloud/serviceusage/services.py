"""The methods of services: each an API that is on until it is disabled."""

from typing import Any

from local.cloud import identities
from local.cloud.wire import Call, Reply, Route, permission_denied
from local.cloud.world import World, disabled_apis

_TITLES = {
    "aiplatform.googleapis.com": "Vertex AI API",
    "artifactregistry.googleapis.com": "Artifact Registry API",
    "cloudquotas.googleapis.com": "Cloud Quotas API",
    "cloudresourcemanager.googleapis.com": "Cloud Resource Manager API",
    "compute.googleapis.com": "Compute Engine API",
    "iam.googleapis.com": "Identity and Access Management (IAM) API",
    "iamcredentials.googleapis.com": "IAM Service Account Credentials API",
    "logging.googleapis.com": "Cloud Logging API",
    "monitoring.googleapis.com": "Cloud Monitoring API",
    "secretmanager.googleapis.com": "Secret Manager API",
    "serviceusage.googleapis.com": "Service Usage API",
    "storage.googleapis.com": "Cloud Storage API",
}


def routes(world: World) -> list[Route]:
    def get(call: Call) -> Reply:
        world.access.require(call.principal, "serviceusage.services.get", call.params["project"])
        return Reply(body=_shown(world, _known(call.params["service"])))

    def list_all(call: Call) -> Reply:
        world.access.require(call.principal, "serviceusage.services.list", call.params["project"])
        shown = [_shown(world, name) for name in _TITLES]
        wanted = call.query.get("filter", "").removeprefix("state:").upper()
        found = [service for service in shown if not wanted or service["state"] == wanted]
        return Reply(body={"services": found} if found else {})

    def batch_get(call: Call) -> Reply:
        world.access.require(call.principal, "serviceusage.services.get", call.params["project"])
        names = [_known(name.rpartition("/")[2]) for name in call.values("names")]
        return Reply(body={"services": [_shown(world, name) for name in names]})

    def enable(call: Call) -> Reply:
        name = _known(call.params["service"])
        world.access.require(call.principal, "serviceusage.services.enable", call.params["project"])
        world.store.delete("disabledApi", name)
        return _done("EnableServiceResponse", {"service": _shown(world, name)})

    def disable(call: Call) -> Reply:
        name = _known(call.params["service"])
        world.access.require(call.principal, "serviceusage.services.disable", call.params["project"])
        world.store.put("disabledApi", name, {})
        return _done("DisableServiceResponse", {"service": _shown(world, name)})

    base = "/{version:v1|v1beta1}/projects/{project}/services"
    return [
        Route("GET", base, list_all),
        Route("GET", base + ":batchGet", batch_get),
        Route("GET", base + "/{service}", get),
        Route("POST", base + "/{service}:enable", enable),
        Route("POST", base + "/{service}:disable", disable),
    ]


def _known(name: str) -> str:
    if name not in _TITLES:
        raise permission_denied(
            f"Not found or permission denied for service(s): {name}. (The local cloud has {', '.join(_TITLES)}.)"
        )
    return name


def _shown(world: World, name: str) -> dict[str, Any]:
    parent = f"projects/{identities.PROJECT_NUMBER}"
    return {
        "name": f"{parent}/services/{name}",
        "parent": parent,
        "config": {"name": name, "title": _TITLES[name]},
        "state": "DISABLED" if name in disabled_apis(world) else "ENABLED",
    }


def _done(kind: str, response: dict[str, Any]) -> Reply:
    kind = f"type.googleapis.com/google.api.serviceusage.v1.{kind}"
    return Reply(body={"name": "operations/noop.DONE_OPERATION", "done": True, "response": {"@type": kind, **response}})
