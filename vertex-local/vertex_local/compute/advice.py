"""Methods of advice: how likely Spot machines can be had, how long most stay, and how many were taken away.

Google tells what its fleet shows. There is none here: the figures are the setting `spot_advice`.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from .. import bodies
from ..clock import timestamp
from ..settings import SpotFigures
from ..supply.machines import table
from ..wire import ApiError, Call, Reply, Route, unimplemented
from ..world import World

_API = "compute.v1"
_DAYS, _MIDNIGHT = 30, ZoneInfo("America/Los_Angeles")
"""The days of a history, which begin at midnight there."""


def routes(world: World) -> list[Route]:
    def begin(call: Call, schema: str, permission: str) -> tuple[Mapping[str, Any], SpotFigures, str]:
        """Return the body, the region's figures, and the beginning of its resources' names. Raises 400, 403."""
        body, (project, region) = (
            bodies.parsed(_API, schema, call.object()),
            map(call.params.get, ("project", "region")),
        )
        if not (world.project.is_called(str(project)) and world.access.granted(call.principal, permission)):
            text = f"Required '{permission}' permission for 'projects/{project}'"
            raise ApiError(403, "PERMISSION_DENIED", text, reason="forbidden")
        if region not in table().all_regions:
            raise _invalid("region", region)
        model = body.get("instanceProperties", {}).get("scheduling", {}).get("provisioningModel")
        if model != "SPOT":
            raise _invalid("instanceProperties.scheduling.provisioningModel", model)
        named = f"https://www.googleapis.com/compute/v1/projects/{world.project.id}"
        return body, world.settings.spot_figures(str(region)), named

    def capacity(call: Call) -> Reply:
        body, figures, named = begin(call, "CapacityAdviceRequest", "compute.advice.capacity")
        size = int(body.get("size", 0))
        if size < 1:
            raise _invalid("size", size)
        selections = body.get("instanceFlexibilityPolicy", {}).get("instanceSelections", {})
        machines = [machine for selection in selections.values() for machine in _selected(selection)]
        if not machines:
            raise _invalid("instanceFlexibilityPolicy.instanceSelections", selections)
        shard = {
            "machineType": machines[0],
            "provisioningModel": "SPOT",
            "instanceCount": size,
            "zone": f"{named}/zones/{call.params['region']}-a",
        }
        scores = {"obtainability": figures.obtainability, "estimatedUptime": f"{figures.uptime_s:g}s"}
        return Reply(body={"recommendations": [{"scores": scores, "shards": [shard]}]})

    def history(call: Call) -> Reply:
        body, figures, named = begin(call, "CapacityHistoryRequest", "compute.advice.capacityHistory")
        machine = body["instanceProperties"].get("machineType")
        _check_machine(machine, body["instanceProperties"])
        types = body.get("types", [])
        if "PRICE" in types:
            raise unimplemented("The local cloud has no history of prices: ask for types ['PREEMPTION'].")
        if types != ["PREEMPTION"]:
            raise _invalid("types", types)
        days = [
            {"interval": {"startTime": timestamp(start), "endTime": timestamp(end)}, "preemptionRate": figures.rate}
            for start, end in _days(world.clock.now())
        ]
        location = f"{named}/regions/{call.params['region']}"
        return Reply(body={"machineType": machine, "location": location, "preemptionHistory": days})

    base = "/compute/v1/projects/{project}/regions/{region}/advice/"
    return [Route("POST", base + "capacity", capacity), Route("POST", base + "capacityHistory", history)]


def _selected(selection: Mapping[str, Any]) -> list[str]:
    """Return the machine types of a selection. Raises 400 as `_check_machine`."""
    machines = [str(machine) for machine in selection.get("machineTypes", ())]
    for machine in machines:
        _check_machine(machine, selection)
    return machines


def _check_machine(name: str | None, selection: Mapping[str, Any]) -> None:
    """Raise 400 for an unknown machine type, and for accelerators that it can't carry."""
    machine = table().types.get(str(name))
    if machine is None:
        raise _invalid("machineType", name)
    for item in selection.get("guestAccelerators", ()):
        kind = str(item.get("acceleratorType", "")).rpartition("/")[2].upper().replace("-", "_")
        if machine.accelerator or int(item.get("acceleratorCount", 0)) not in machine.attachable.get(kind, ()):
            raise _invalid("guestAccelerators", f"{item} of {name}")


def _days(now: datetime) -> Iterator[tuple[datetime, datetime]]:
    """Yield the beginning and the end of each day of a history, the oldest first."""
    midnight = now.astimezone(_MIDNIGHT).replace(hour=0, minute=0, second=0, microsecond=0)
    for ago in range(_DAYS - 1, -1, -1):
        yield midnight - timedelta(days=ago), midnight - timedelta(days=ago - 1)


def _invalid(field: str, value: object) -> ApiError:
    return ApiError(400, "INVALID_ARGUMENT", f"Invalid value for field '{field}': '{value}'.", reason="invalid")
