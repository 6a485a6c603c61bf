"""The methods of metadata stores. The store `default` is made at its first use."""

import re
import uuid

from ...documents import Body
from ...wire import Call, Reply, already_exists, invalid_argument
from ...world import World
from ..collection import Documents
from ..field_errors import key_mistakes, refuse
from . import links
from .kinds import ARTIFACT, CONTEXT, EXECUTION, STORE

DEFAULT = "default"
_LEAST = 4
_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,127}")


class MetadataStores(Documents):
    def __init__(self, world: World) -> None:
        super().__init__(world, STORE)
        self._content = tuple(Documents(world, kind) for kind in (CONTEXT, EXECUTION, ARTIFACT))

    def create(self, call: Call) -> Reply:
        self.enter(call, "create", "submit")
        with self.world.store.transaction():
            store_id = call.query.get("metadataStoreId") or str(uuid.uuid4())
            check_id(self.world, "metadata store", store_id)
            name = self.name(self.parent(call), store_id)
            if self.look(name):
                raise already_exists(f"The MetadataStore {name} already exists.")
            body = self.parsed(call)
            refuse([*key_mistakes("metadata_store", body, call.params["location"])])
            self.add(name, body)
            return self.done(call, name, "CreateMetadataStoreOperationMetadata", STORE.message)

    def delete(self, call: Call) -> Reply:
        """Delete a store with everything in it."""
        self.enter(call, "delete", "submit")
        with self.world.store.transaction():
            name = str(self.find(self.named(call))["name"])
            for collection in self._content:
                for body in collection.below(name):
                    links.forget(self.world.store, body["name"])
                    collection.remove(body["name"])
            self.remove(name)
            return self.done(call, name, "DeleteMetadataStoreOperationMetadata")


def check_id(world: World, what: str, text: str) -> None:
    """Raise 400 for an id that its documents do not allow. Google's pages on experiments say that one character is
    enough; the reference of the API wants four."""
    if not _ID.fullmatch(text):
        wanted = "lowercase letters, digits and hyphens are needed, the first of them no hyphen"
        raise invalid_argument(f'Invalid {what} id "{text}": {_LEAST} to 128 {wanted}.')
    if len(text) < _LEAST and world.settings.metadata_short_id == "reject":
        raise invalid_argument(f'Invalid {what} id "{text}": it must have {_LEAST} to 128 characters.')


def check(world: World, name: str) -> None:
    """Raise 404 unless there is a store with this full name; `default` is there, empty, before it is made."""
    if name.rpartition("/")[2] != DEFAULT:
        Documents(world, STORE).find(name)


def used(world: World, name: str) -> Body:
    """Return the store in which a resource is to be made. Raises 404. Within a transaction."""
    stores = Documents(world, STORE)
    if name.rpartition("/")[2] == DEFAULT and stores.look(name) is None:
        return stores.add(name, {})
    return stores.find(name)
