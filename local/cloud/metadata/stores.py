"""The methods of metadata stores. The store `default` is made by whoever uses it first."""

import re

from local.cloud.collection import Body, Collection
from local.cloud.metadata import links
from local.cloud.metadata.messages import ARTIFACT, CONTEXT, EXECUTION, MESSAGES, SCHEMA, STORE
from local.cloud.services import World
from local.cloud.vertex import operations
from local.cloud.vertex.names import location_name, region
from local.cloud.wire import Call, Reply, Route, already_exists, invalid_argument

DEFAULT = "default"
_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,127}")


class Stores:
    def __init__(self, world: World) -> None:
        self._world = world
        self._all = Collection(world, MESSAGES, STORE)
        self._below = tuple(Collection(world, MESSAGES, kind) for kind in (CONTEXT, EXECUTION, ARTIFACT, SCHEMA))

    def routes(self) -> list[Route]:
        return [
            Route("POST", STORE.base, self.create),
            Route("GET", STORE.base, self.list),
            Route("GET", STORE.each, self.get),
            Route("DELETE", STORE.each, self.delete),
        ]

    def create(self, call: Call) -> Reply:
        self._all.enter(call, "create", "submit")
        region(call)
        with self._world.store.transaction():
            store_id = call.query.get("metadataStoreId") or str(self._world.store.next_id("metadataStore"))
            if not _ID.fullmatch(store_id):
                raise invalid_argument(f'Invalid metadata store id "{store_id}".')
            name = self._all.name(self._all.parent(call), store_id)
            if self._all.get(name):
                raise already_exists(f"The MetadataStore {name} already exists.")
            self._all.add(name, self._all.parsed(call))
        return self._done(call, name, "CreateMetadataStoreOperationMetadata", STORE.message)

    def get(self, call: Call) -> Reply:
        self._all.enter(call, "get")
        return self._all.shown(call, self._all.find(self._all.named(call)))

    def list(self, call: Call) -> Reply:
        self._all.enter(call, "list")
        return self._all.listed(call, self._all.parent(call))

    def delete(self, call: Call) -> Reply:
        """Removes all that is in it as well."""
        self._all.enter(call, "delete", "submit")
        with self._world.store.transaction():
            name = self._all.find(self._all.named(call))["name"]
            for collection in self._below:
                for body in collection.below(name):
                    links.forget(self._world.store, body["name"])
                    collection.remove(body["name"])
            self._all.remove(name)
        return self._done(call, name, "DeleteMetadataStoreOperationMetadata", "Empty")

    def _done(self, call: Call, target: str, metadata: str, response: str) -> Reply:
        """The operation of what is done already."""
        parent = location_name(call.params["location"])
        operation = operations.start(self._world, call.params["version"], parent, target, metadata, response)
        operations.finish(self._world.store, operation.name, self._world.now())
        return Reply(body=operations.answer(operations.current(self._world.store, operation)))


def used(world: World, name: str) -> Body:
    """The store with this full name, for something that is to be made in it. Raises 404. Within a transaction."""
    stores = Collection(world, MESSAGES, STORE)
    if name.rpartition("/")[2] == DEFAULT and stores.get(name) is None:
        return stores.add(name, {})
    return stores.find(name)
