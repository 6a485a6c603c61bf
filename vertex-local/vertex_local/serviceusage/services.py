"""The methods of services: each an API that is on until it is disabled."""

from typing import Any

from .. import bodies, documents
from ..wire import Call, Reply, Route, failed_precondition, invalid_argument, permission_denied
from ..world import World, disabled_apis

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
    "orgpolicy.googleapis.com": "Organization Policy API",
    "secretmanager.googleapis.com": "Secret Manager API",
    "serviceusage.googleapis.com": "Service Usage API",
    "storage.googleapis.com": "Cloud Storage API",
}
_API = "serviceusage.v1"
_FILTERS = ("state:ENABLED", "state:DISABLED")


def routes(world: World) -> list[Route]:
    def get(call: Call) -> Reply:
        world.access.require(call.principal, "serviceusage.services.get", call.params["project"])
        return Reply(body=_shown(world, _known(call.params["service"])))

    def list_all(call: Call) -> Reply:
        world.access.require(call.principal, "serviceusage.services.list", call.params["project"])
        wanted = call.query.get("filter", "")
        if wanted and wanted not in _FILTERS:
            raise invalid_argument(f"Invalid filter: '{wanted}'; allowed are {' and '.join(_FILTERS)}.")
        shown = [_shown(world, name) for name in _TITLES]
        services_there = [
            service for service in shown if not wanted or service["state"] == wanted.removeprefix("state:")
        ]
        listed = documents.listed(call, "services", documents.sliced(services_there), dict, usual=50, most=200)
        return documents.without_empty(listed)

    def enable(call: Call) -> Reply:
        bodies.parsed(_API, "EnableServiceRequest", call.object())
        name = _known(call.params["service"])
        world.access.require(call.principal, "serviceusage.services.enable", call.params["project"])
        world.store.delete("disabledApi", name)
        return _done("EnableServiceResponse", {"service": _shown(world, name)})

    def disable(call: Call) -> Reply:
        bodies.parsed(_API, "DisableServiceRequest", call.object())
        name = _known(call.params["service"])
        world.access.require(call.principal, "serviceusage.services.disable", call.params["project"])
        with world.store.transaction():
            if name in disabled_apis(world):
                raise failed_precondition(f"The service {name} is not enabled for the project.")
            world.store.put("disabledApi", name, {})
        return _done("DisableServiceResponse", {"service": _shown(world, name)})

    base = "/{version:v1|v1beta1}/projects/{project}/services"
    return [
        Route("GET", base, list_all),
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
    parent = f"projects/{world.project.number}"
    return {
        "name": f"{parent}/services/{name}",
        "parent": parent,
        "config": {"name": name, "title": _TITLES[name]},
        "state": "DISABLED" if name in disabled_apis(world) else "ENABLED",
    }


def _done(kind: str, response: dict[str, Any]) -> Reply:
    kind = f"type.googleapis.com/google.api.serviceusage.v1.{kind}"
    return Reply(body={"name": "operations/noop.DONE_OPERATION", "done": True, "response": {"@type": kind, **response}})
