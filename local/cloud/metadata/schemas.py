"""The methods of metadata schemas: kept as they are sent, and not used to check anything."""

import re

from local.cloud.collection import Collection
from local.cloud.metadata.messages import MESSAGES, SCHEMA
from local.cloud.metadata.stores import used
from local.cloud.services import World
from local.cloud.wire import Call, Reply, Route, already_exists, invalid_argument

_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,127}")


class Schemas:
    def __init__(self, world: World) -> None:
        self._world = world
        self._all = Collection(world, MESSAGES, SCHEMA)

    def routes(self) -> list[Route]:
        return [
            Route("POST", SCHEMA.base, self.create),
            Route("GET", SCHEMA.base, self.list),
            Route("GET", SCHEMA.each, self.get),
        ]

    def create(self, call: Call) -> Reply:
        self._all.enter(call, "create")
        body = self._all.parsed(call)
        if not body.get("schema"):
            raise invalid_argument("The schema is required: an OpenAPI schema object in YAML.")
        with self._world.store.transaction():
            parent = self._all.parent(call)
            used(self._world, parent)
            schema_id = call.query.get("metadataSchemaId") or str(self._world.store.next_id("metadataSchema"))
            if not _ID.fullmatch(schema_id):
                raise invalid_argument(f'Invalid metadata schema id "{schema_id}".')
            name = self._all.name(parent, schema_id)
            if self._all.get(name):
                raise already_exists(f"The MetadataSchema {name} already exists.")
            made = self._all.add(name, body)
        return self._all.shown(call, made)

    def get(self, call: Call) -> Reply:
        self._all.enter(call, "get")
        return self._all.shown(call, self._all.find(self._all.named(call)))

    def list(self, call: Call) -> Reply:
        self._all.enter(call, "list")
        return self._all.listed(call, self._all.parent(call))
