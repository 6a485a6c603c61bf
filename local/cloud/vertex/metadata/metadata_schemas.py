"""The methods of metadata schemas, which are kept as they are sent, and never used for a check."""

import re

from ...wire import Call, Reply, already_exists, invalid_argument
from ...world import World
from ..collection import Documents
from .kinds import SCHEMA
from .metadata_stores import check, used

_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,127}")


class MetadataSchemas(Documents):
    def __init__(self, world: World) -> None:
        super().__init__(world, SCHEMA)

    def list(self, call: Call) -> Reply:
        self.enter(call, "list")
        check(self.world, self.parent(call))
        return self.listed_below(call, self.parent(call))

    def create(self, call: Call) -> Reply:
        self.enter(call, "create")
        body = self.parsed(call)
        if not body.get("schema"):
            raise invalid_argument("The schema is required: an OpenAPI schema object in YAML.")
        with self.world.store.transaction():
            parent = self.parent(call)
            used(self.world, parent)
            schema_id = call.query.get("metadataSchemaId") or str(self.world.store.next_id("metadataSchema"))
            if not _ID.fullmatch(schema_id):
                raise invalid_argument(f'Invalid metadata schema id "{schema_id}".')
            name = self.name(parent, schema_id)
            if self.look(name):
                raise already_exists(f"The MetadataSchema {name} already exists.")
            made = self.add(name, body)
        return self.shown(call, made)
