"""The methods of tensorboards."""

from typing import Any

from local.cloud.collection import Collection
from local.cloud.services import World
from local.cloud.tensorboard import job_logs, points
from local.cloud.tensorboard.messages import EXPERIMENT, MESSAGES, RUN, TENSORBOARD, TIME_SERIES
from local.cloud.vertex import labels, operations
from local.cloud.vertex.mistakes import refuse
from local.cloud.vertex.names import location_name, region
from local.cloud.wire import Call, Reply, Route

_FIRST_ID = 5_000_000_000_000_000_000


class Tensorboards:
    def __init__(self, world: World) -> None:
        self._world = world
        self._all = Collection(world, MESSAGES, TENSORBOARD)
        self._runs = Collection(world, MESSAGES, RUN)
        self._below = (Collection(world, MESSAGES, EXPERIMENT), self._runs, Collection(world, MESSAGES, TIME_SERIES))

    def routes(self) -> list[Route]:
        base, each = TENSORBOARD.base, TENSORBOARD.each
        return [
            Route("POST", base, self.create),
            Route("GET", base, self.list),
            Route("GET", each, self.get),
            Route("PATCH", each, self.patch),
            Route("DELETE", each, self.delete),
        ]

    def create(self, call: Call) -> Reply:
        self._all.enter(call, "create", "submit")
        region(call)
        body = self._all.parsed(call)
        _check(body)
        with self._world.store.transaction():
            number = _FIRST_ID + self._world.store.next_id("tensorboard")
            name = self._all.name(self._all.parent(call), str(number))
            self._unseat(call, body)
            made = self._all.add(name, body)
        return self._done(call, made["name"], "CreateTensorboardOperationMetadata", TENSORBOARD.message)

    def get(self, call: Call) -> Reply:
        self._all.enter(call, "get")
        job_logs.settle(self._world)
        return self._all.shown(call, self._counted(self._all.find(self._all.named(call))))

    def list(self, call: Call) -> Reply:
        self._all.enter(call, "list")
        return self._all.listed(call, self._all.parent(call))

    def patch(self, call: Call) -> Reply:
        self._all.enter(call, "update", "submit")
        with self._world.store.transaction():
            changed = self._all.patched(call, self._all.find(self._all.named(call)))
            _check(changed)
            self._unseat(call, changed)
            made = self._all.change(changed)
        return self._done(call, made["name"], "UpdateTensorboardOperationMetadata", TENSORBOARD.message)

    def delete(self, call: Call) -> Reply:
        """Removes all that is in it as well."""
        self._all.enter(call, "delete", "submit")
        with self._world.store.transaction():
            name = str(self._all.find(self._all.named(call))["name"])
            for collection in self._below:
                for body in collection.below(name):
                    collection.remove(body["name"])
            points.remove(self._world.store, name)
            self._all.remove(name)
        return self._done(call, name, "DeleteOperationMetadata", "Empty")

    def _unseat(self, call: Call, body: dict[str, Any]) -> None:
        """There is one default tensorboard in a region at most: a new one makes the old one ordinary."""
        if not body.get("isDefault"):
            return
        for other in self._all.below(self._all.parent(call)):
            if other.get("isDefault") and other["name"] != body.get("name"):
                self._all.change({key: value for key, value in other.items() if key != "isDefault"})

    def _counted(self, body: dict[str, Any]) -> dict[str, Any]:
        count = len(self._runs.below(body["name"]))
        return {**body, "runCount": count} if count else body

    def _done(self, call: Call, target: str, metadata: str, response: str) -> Reply:
        """The operation of what is done already."""
        parent = location_name(call.params["location"])
        operation = operations.start(self._world, call.params["version"], parent, target, metadata, response)
        operations.finish(self._world.store, operation.name, self._world.now())
        return Reply(body=operations.answer(operations.current(self._world.store, operation)))


def _check(body: dict[str, Any]) -> None:
    refuse(
        [
            *labels.display_name_mistakes("tensorboard.display_name", body.get("displayName", ""), required=True),
            *labels.label_mistakes("tensorboard.labels", body.get("labels", {})),
        ]
    )
