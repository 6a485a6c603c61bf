"""`locations.list` and `locations.get`, the same for every service that has places."""

from collections.abc import Iterable
from typing import Any

from . import document_filters, documents, filter_fields
from .wire import Call, Reply, Route, not_found
from .world import World

_FIELDS = filter_fields.of_tree(
    {**dict.fromkeys(("name", "locationId", "displayName"), "text"), "labels": {}, "metadata": {}}
)


def routes(world: World, base: str, service: str, places: Iterable[str]) -> list[Route]:
    """Return the routes under the path template `base`, which ends with the project. `service` is the head of the
    permissions (`logging`), `places` are the service's own."""
    known = sorted(places)

    def shown(call: Call, place: str) -> dict[str, Any]:
        label = {"labels": {"cloud.googleapis.com/region": place}} if place != "global" else {}
        return {"name": f"projects/{call.params['project']}/locations/{place}", "locationId": place, **label}

    def list_all(call: Call) -> Reply:
        world.access.require(call.principal, f"{service}.locations.list", call.params["project"])
        test = document_filters.parsed(call.query.get("filter", ""), _FIELDS)
        found = [body for body in (shown(call, place) for place in known) if test(body)]
        return documents.without_empty(documents.listed(call, "locations", documents.sliced(found), dict))

    def get(call: Call) -> Reply:
        project, place = call.params["project"], call.params["location"]
        world.access.require(call.principal, f"{service}.locations.get", project)
        if place not in known:
            raise not_found(f"Location projects/{project}/locations/{place} not found.")
        return Reply(body=shown(call, place))

    return [Route("GET", f"{base}/locations", list_all), Route("GET", f"{base}/locations/{{location}}", get)]
