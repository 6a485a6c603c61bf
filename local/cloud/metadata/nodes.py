"""The methods that contexts, executions and artifacts have in common."""

import re
import uuid
from collections.abc import Mapping, Sequence

from local.cloud.collection import Body, Collection, Kind, canonical
from local.cloud.filtering import Function, Test
from local.cloud.metadata import links
from local.cloud.metadata.messages import CONTEXT, MESSAGES
from local.cloud.metadata.stores import used
from local.cloud.services import World
from local.cloud.vertex import labels, operations
from local.cloud.vertex.mistakes import refuse
from local.cloud.vertex.names import location_name
from local.cloud.wire import Call, Reply, Route, already_exists, invalid_argument, not_found

_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,127}")
_IMMUTABLE = ("schemaTitle", "schemaVersion")


class Nodes:
    def __init__(self, world: World, kind: Kind) -> None:
        self._world = world
        self._all = Collection(world, MESSAGES, kind)

    def routes(self) -> list[Route]:
        base, each = self._all.kind.base, self._all.kind.each
        return [
            Route("POST", base, self.create),
            Route("GET", base, self.list),
            Route("GET", each, self.get),
            Route("PATCH", each, self.patch),
            Route("DELETE", each, self.delete),
        ]

    def create(self, call: Call) -> Reply:
        self._all.enter(call, "create")
        body = self._all.parsed(call)
        self._check(body)
        node_id = call.query.get(f"{self._all.kind.one}Id") or str(uuid.uuid4())
        if not _ID.fullmatch(node_id):
            raise invalid_argument(
                f'Invalid {self._all.kind.one} id "{node_id}": 1 to 128 lowercase letters, digits and hyphens are '
                "needed, the first of them no hyphen."
            )
        with self._world.store.transaction():
            parent = self._all.parent(call)
            used(self._world, parent)
            name = self._all.name(parent, node_id)
            if self._all.get(name):
                raise already_exists(f"The {self._all.kind.message} {name} already exists.")
            made = self._all.add(name, body)
        return self._all.shown(call, made)

    def get(self, call: Call) -> Reply:
        self._all.enter(call, "get")
        return self._all.shown(call, self._all.find(self._all.named(call)))

    def list(self, call: Call) -> Reply:
        self._all.enter(call, "list")
        functions: Mapping[str, Function] = {
            "in_context": self._in_contexts,
            "parent_contexts": _below,
            "child_contexts": self._above,
        }
        return self._all.listed(call, self._all.parent(call), functions)

    def patch(self, call: Call) -> Reply:
        self._all.enter(call, "update")
        with self._world.store.transaction():
            name = self._all.named(call)
            found = self._all.get(name)
            if found is None and call.flag("allowMissing"):
                used(self._world, self._all.parent(call))
                changed = self._all.add(name, self._all.parsed(call))
            else:
                found = found or self._all.find(name)
                kept = {key: found[key] for key in _IMMUTABLE if key in found}
                changed = self._all.change(self._all.patched(call, found) | kept)
            self._check(changed)
        return self._all.shown(call, changed)

    def delete(self, call: Call) -> Reply:
        self._all.enter(call, "delete", "submit")
        with self._world.store.transaction():
            found = self._all.find(self._all.named(call))
            if call.query.get("etag", found["etag"]) != found["etag"]:
                raise invalid_argument(f"The etag does not match that of {found['name']}: {found['etag']}.")
            links.forget(self._world.store, found["name"])
            self._all.remove(found["name"])
            parent = location_name(call.params["location"])
            operation = operations.start(
                self._world, call.params["version"], parent, found["name"], "DeleteOperationMetadata", "Empty"
            )
            operations.finish(self._world.store, operation.name, self._world.now())
        return Reply(body=operations.answer(operations.current(self._world.store, operation)))

    def _check(self, body: Body) -> None:
        one = self._all.kind.one
        refuse(
            [
                *labels.display_name_mistakes(f"{one}.display_name", body.get("displayName", "")),
                *labels.label_mistakes(f"{one}.labels", body.get("labels", {})),
            ]
        )

    def _in_contexts(self, contexts: Sequence[str]) -> Test:
        found = [links.members(self._world.store, canonical(context)) for context in contexts]
        return lambda body: all(body["name"] in names for names in found)

    def _above(self, children: Sequence[str]) -> Test:
        """Contexts that all the named ones have for a parent."""
        contexts = Collection(self._world, MESSAGES, CONTEXT)
        parents = []
        for child in children:
            found = contexts.get(canonical(child))
            if found is None:
                raise not_found(f"The Context {child} does not exist.")
            parents.append(set(found.get("parentContexts", ())))
        return lambda body: all(body["name"] in names for names in parents)


def _below(parents: Sequence[str]) -> Test:
    """Contexts with all the named parents."""
    wanted = {canonical(parent) for parent in parents}
    return lambda body: wanted <= set(body.get("parentContexts", ()))
