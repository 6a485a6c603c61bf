"""The methods of what is in a tensorboard: experiments, runs, time series."""

import re
from collections.abc import Mapping
from typing import Any

from local.cloud.collection import Collection, Kind, canonical
from local.cloud.services import World
from local.cloud.tensorboard import job_logs, points
from local.cloud.tensorboard.messages import EXPERIMENT, MESSAGES, RUN, TENSORBOARD, TIME_SERIES
from local.cloud.vertex import labels, operations
from local.cloud.vertex.mistakes import Mistake, refuse
from local.cloud.vertex.names import location_name
from local.cloud.wire import Call, Reply, Route, already_exists, invalid_argument

_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,127}")
_IMMUTABLE = ("valueType", "pluginName", "source")
_MOST_CREATED_AT_ONCE = 1000


class Children:
    """One level of a tensorboard. `above` is the kind they belong to, `below` the kinds that go with them."""

    def __init__(self, world: World, kind: Kind, above: Kind, below: tuple[Kind, ...]) -> None:
        self._world = world
        self.all = Collection(world, MESSAGES, kind)
        self._above = Collection(world, MESSAGES, above)
        self._below = tuple(Collection(world, MESSAGES, item) for item in below)
        self._id = kind.message[0].lower() + kind.message[1:] + "Id"

    def routes(self) -> list[Route]:
        base, each = self.all.kind.base, self.all.kind.each
        found = [
            Route("POST", base, self.create),
            Route("GET", base, self.list),
            Route("GET", each, self.get),
            Route("PATCH", each, self.patch),
            Route("DELETE", each, self.delete),
        ]
        if self.all.kind is RUN:
            found.append(Route("POST", base + ":batchCreate", self.create_runs))
        if self.all.kind is TIME_SERIES:
            found.append(Route("POST", EXPERIMENT.each + ":batchCreate", self.create_time_series))
        return found

    def create(self, call: Call) -> Reply:
        self.all.enter(call, "create")
        with self._world.store.transaction():
            made = self.made(self.all.parent(call), call.query.get(self._id, ""), self.all.parsed(call))
        return self.all.shown(call, made)

    def made(self, parent: str, resource_id: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """A new one below a resource that there is. Raises 400, 404, 409. Within a transaction."""
        self._above.find(parent)
        kind = self.all.kind
        if kind is TIME_SERIES:
            resource_id = resource_id or str(self._world.store.next_id("tensorboardTimeSeries"))
        elif not _ID.fullmatch(resource_id):
            raise invalid_argument(
                f'Invalid {self._id} "{resource_id}": 1 to 128 lowercase letters, digits and hyphens are needed.'
            )
        _check(kind, body)
        name = self.all.name(parent, resource_id)
        title = body.get("displayName")
        if self.all.get(name):
            raise already_exists(f"The {kind.message} {name} already exists.")
        if kind is not EXPERIMENT and any(other.get("displayName") == title for other in self.all.below(parent)):
            raise already_exists(f'A {kind.message} with the display name "{title}" already exists in {parent}.')
        return self.all.add(name, body)

    def get(self, call: Call) -> Reply:
        self.all.enter(call, "get")
        job_logs.settle(self._world)
        return self.all.shown(call, self._measured(self.all.find(self.all.named(call))))

    def list(self, call: Call) -> Reply:
        self.all.enter(call, "list")
        job_logs.settle(self._world)
        parent = self.all.parent(call)
        self._above.find(parent)
        return self.all.listed(call, parent)

    def patch(self, call: Call) -> Reply:
        self.all.enter(call, "update")
        with self._world.store.transaction():
            found = self.all.find(self.all.named(call))
            changed = self.all.patched(call, found) | {key: found[key] for key in _IMMUTABLE if key in found}
            _check(self.all.kind, changed)
            changed = self.all.change(changed)
        return self.all.shown(call, changed)

    def delete(self, call: Call) -> Reply:
        """Removes all that is in it as well."""
        self.all.enter(call, "delete", "submit")
        with self._world.store.transaction():
            name = self.all.find(self.all.named(call))["name"]
            for collection in self._below:
                for body in collection.below(name):
                    collection.remove(body["name"])
            points.remove(self._world.store, name)
            self.all.remove(name)
            parent = location_name(call.params["location"])
            operation = operations.start(
                self._world, call.params["version"], parent, name, "DeleteOperationMetadata", "Empty"
            )
            operations.finish(self._world.store, operation.name, self._world.now())
        return Reply(body=operations.answer(operations.current(self._world.store, operation)))

    def create_runs(self, call: Call) -> Reply:
        return self._batch(call, "BatchCreateTensorboardRunsRequest", "tensorboardRun")

    def create_time_series(self, call: Call) -> Reply:
        return self._batch(call, "BatchCreateTensorboardTimeSeriesRequest", "tensorboardTimeSeries")

    def _batch(self, call: Call, message: str, field: str) -> Reply:
        """Makes all or none."""
        self.all.enter(call, "batchCreate")
        requests = MESSAGES.parse(call.params["version"], message, call.object()).get("requests", [])
        if len(requests) > _MOST_CREATED_AT_ONCE:
            raise invalid_argument(f"At most {_MOST_CREATED_AT_ONCE} can be created at once.")
        experiment = Collection(self._world, MESSAGES, EXPERIMENT).named(call)
        made = []
        with self._world.store.transaction():
            for request in requests:
                parent = canonical(request.get("parent", "")) or experiment
                if parent != experiment and not parent.startswith(f"{experiment}/runs/"):
                    raise invalid_argument(f'The parent "{parent}" is not in {experiment}.')
                made.append(self.made(parent, request.get(self._id, ""), request.get(field, {})))
        shown = [self.all.shown(call, body).body for body in made]
        return Reply(body={self.all.kind.noun: shown} if shown else {})

    def _measured(self, body: dict[str, Any]) -> dict[str, Any]:
        if self.all.kind is not TIME_SERIES:
            return body
        extent = points.extent(self._world.store, body["name"])
        return {**body, "metadata": {"maxStep": extent[0], "maxWallTime": extent[1]}} if extent else body


def experiments(world: World) -> Children:
    return Children(world, EXPERIMENT, TENSORBOARD, (RUN, TIME_SERIES))


def runs(world: World) -> Children:
    return Children(world, RUN, EXPERIMENT, (TIME_SERIES,))


def time_series(world: World) -> Children:
    return Children(world, TIME_SERIES, RUN, ())


def _check(kind: Kind, body: Mapping[str, Any]) -> None:
    at = re.sub(r"(?<!^)([A-Z])", r"_\1", kind.message).lower()
    named = kind is not EXPERIMENT
    found = labels.display_name_mistakes(f"{at}.display_name", body.get("displayName", ""), required=named)
    found += labels.label_mistakes(f"{at}.labels", body.get("labels", {}))
    if kind is TIME_SERIES and "valueType" not in body:
        found.append(Mistake(f"{at}.value_type", "The value type is required: SCALAR, TENSOR or BLOB_SEQUENCE."))
    refuse(found)
