"""`projects.locations.list` and `.get`, the same for every service that has them."""

from collections.abc import Iterable
from typing import Any

from . import document_filters, documents, filter_fields
from .wire import Call, Reply, Route, not_found
from .world import World

_FIELDS = filter_fields.of_tree(
    dict.fromkeys(("name", "displayName", "display_name", "locationId", "location_id")) | {"labels": {}}
)


def routes(world: World, versions: str, service: str, locations: Iterable[str]) -> list[Route]:
    """Return the routes under the heads of the API's paths (`v1|v1beta1`). `service` is the head of the permissions
    (`aiplatform`)."""
    base = f"/{{version:{versions}}}/projects/{{project}}/locations"
    known = sorted(locations)

    def list_all(call: Call) -> Reply:
        world.access.require(call.principal, f"{service}.locations.list", call.params["project"])
        test = document_filters.parsed(call.query.get("filter", ""), _FIELDS)
        found = [place for place in map(shown, known) if test(place)]
        return documents.without_empty(documents.listed(call, "locations", documents.sliced(found), dict))

    def get(call: Call) -> Reply:
        world.access.require(call.principal, f"{service}.locations.get", call.params["project"])
        place = call.params["location"]
        if place not in known:
            raise not_found(f"Location {place} is not found or access is unauthorized.")
        return Reply(body=shown(place))

    def shown(place: str) -> dict[str, Any]:
        labels = {} if place == "global" else {"labels": {"cloud.googleapis.com/region": place}}
        return {"name": f"projects/{world.project.id}/locations/{place}", "locationId": place, **labels}

    return [Route("GET", base, list_all), Route("GET", base + "/{location}", get)]
