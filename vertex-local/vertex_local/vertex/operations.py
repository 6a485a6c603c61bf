"""Long-running operations: their documents, and the methods that read them."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from .. import document_filters, documents, filter_fields
from ..repository import Repository
from ..store import Store
from ..wire import Call, Reply, Route, not_found
from ..world import World
from . import messages
from .names import id_of, location_name, region

_VERSION = "{version:v1|v1beta1|ui}"
_AT = "/" + _VERSION + "/projects/{project}/locations/{location}"
_PARENTS = (
    "",
    "/persistentResources/{resource}",
    "/customJobs/{resource}",
    "/hyperparameterTuningJobs/{resource}",
    "/trainingPipelines/{resource}",
    "/pipelineJobs/{resource}",
    "/models/{resource}",
)
_FILTERED = filter_fields.of_tree({"name": "text", "done": "flag", "metadata": {}, "error": {}, "response": {}})
_LONGEST_WAIT_S, _LOOK_S = 20.0, 0.05


@dataclass(frozen=True)
class Operation:
    """A long-running operation."""

    name: str
    #: The API version it was started with.
    version: str
    #: The message type of its metadata.
    metadata: str
    #: The message type of its result ("Empty" for nothing).
    response: str
    #: The resource's full name.
    target: str
    create_time: str
    update_time: str
    progress: str = ""
    done: bool = False
    error: dict[str, Any] | None = None
    #: The response's body, where that is more than the target's name.
    result: dict[str, Any] | None = None


def start(world: World, version: str, parent: str, target: str, metadata: str, response: str, **more: Any) -> Operation:
    """Return a new operation under `parent`: a resource's or a location's full name. `more` are further fields."""
    number = 4_000_000_000_000_000_000 + world.store.next_id("vertexOperation")
    now = world.now()
    operation = Operation(
        f"{parent}/operations/{number}", version, metadata, response, target, create_time=now, update_time=now, **more
    )
    _OPERATIONS.put(world.store, operation)
    return operation


def finish(store: Store, name: str | None, now: str, progress: str = "", error: dict[str, Any] | None = None) -> None:
    """Mark an operation as done. A cluster that nobody changes has none."""
    operation = _OPERATIONS.get(store, _key(name)) if name else None
    if operation:
        over = replace(operation, done=True, update_time=now, progress=progress or operation.progress, error=error)
        _OPERATIONS.put(store, over)


def current(store: Store, operation: Operation) -> Operation:
    """Return the operation as it is now."""
    return _OPERATIONS.get(store, _key(operation.name)) or operation


def answer(operation: Operation) -> dict[str, Any]:
    """Return the body of a google.longrunning.Operation."""
    url = messages.type_url(operation.version, operation.metadata)
    generic = {"createTime": operation.create_time, "updateTime": operation.update_time}
    metadata: dict[str, Any] = {"@type": url, "genericMetadata": generic}
    if operation.progress:
        metadata["progressMessage"] = operation.progress
    body: dict[str, Any] = {"name": operation.name, "metadata": metadata}
    if not operation.done:
        return body
    if operation.error is not None:
        return {**body, "done": True, "error": operation.error}
    if operation.response == "Empty":
        response = {"@type": "type.googleapis.com/google.protobuf.Empty"}
    else:
        url = messages.type_url(operation.version, operation.response)
        response = {"@type": url, **(operation.result or {"name": operation.target})}
    return {**body, "done": True, "response": response}


class Operations:
    """The methods of operations. `refresh` applies every due change before an operation is read."""

    def __init__(self, world: World, refresh: Callable[[], None]) -> None:
        self._world, self._refresh = world, refresh

    def routes(self) -> list[Route]:
        listed = []
        for parent in _PARENTS:
            base = f"{_AT}{parent}/operations"
            each = base + "/{operation}"
            listed += [
                Route("GET", base, self._list),
                Route("GET", each, self._get),
                Route("POST", each + ":wait", self._wait),
            ]
        return listed

    def _get(self, call: Call) -> Reply:
        self._world.limits.take("call", region(call))
        self._refresh()
        return Reply(body=answer(self._find(call)))

    def _wait(self, call: Call) -> Reply:
        """Return the operation once it is done, and as it is when the time is over that the call may wait."""
        self._world.limits.take("call", region(call))
        call.nothing()
        sent = call.query.get("timeout")
        seconds = min(float(sent.removesuffix("s")), _LONGEST_WAIT_S) if sent else _LONGEST_WAIT_S
        until = self._world.clock.now() + timedelta(seconds=seconds)
        while True:
            self._refresh()
            operation = self._find(call)
            if operation.done or self._world.clock.now() >= until:
                return Reply(body=answer(operation))
            time.sleep(_LOOK_S)

    def _list(self, call: Call) -> Reply:
        location = region(call)
        self._world.access.require(call.principal, "aiplatform.operations.list", call.params["project"])
        self._world.limits.take("call", location)
        self._refresh()
        resource, every = call.params.get("resource"), _OPERATIONS.every(self._world.store, f"{location}/")
        test = document_filters.parsed(call.query.get("filter", ""), _FILTERED)
        operations = [
            item for item in every if (resource is None or id_of(item.target) == resource) and test(answer(item))
        ]
        return documents.listed(call, "operations", documents.sliced(operations), answer)

    def _find(self, call: Call) -> Operation:
        project, location = call.params["project"], region(call)
        self._world.access.require(call.principal, "aiplatform.operations.list", project)
        operation = _OPERATIONS.get(self._world.store, f"{location}/{call.params['operation']}")
        resource = call.params.get("resource")
        if operation is None or (resource is not None and id_of(operation.target) != resource):
            name = f"{location_name(self._world.project, location)}/operations/{call.params['operation']}"
            raise not_found(f"Operation {name} not found.")
        return operation


def _key(name: str) -> str:
    return f"{name.split('/')[3]}/{id_of(name)}"


_OPERATIONS = Repository(kind="vertexOperation", record=Operation, key=lambda operation: _key(operation.name))
