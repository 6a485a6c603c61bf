"""The common methods of contexts, executions and artifacts."""

import uuid
from collections.abc import Mapping, Sequence

from ...document_filters import Function, Test
from ...documents import Body
from ...wire import Call, Reply, already_exists, failed_precondition
from ..collection import Documents, canonical
from ..field_errors import display_name_mistakes, label_mistakes, refuse
from ..messages import MESSAGES
from . import links
from .metadata_stores import check, check_id, used

_IMMUTABLE = ("schemaTitle", "schemaVersion")


class Nodes(Documents):
    def create(self, call: Call) -> Reply:
        self.enter(call, "create")
        body = self.parsed(call)
        self._check(body)
        node_id = call.query.get(f"{self.kind.one}Id") or str(uuid.uuid4())
        check_id(self.world, self.kind.one, node_id)
        with self.world.store.transaction():
            parent = self.parent(call)
            used(self.world, parent)
            name = self.name(parent, node_id)
            if self.look(name):
                raise already_exists(f"The {self.kind.message} {name} already exists.")
            made = self.add(name, body)
        return self.shown(call, made)

    def list(self, call: Call) -> Reply:
        self.enter(call, "list")
        functions: Mapping[str, Function] = {
            "in_context": self._in_contexts,
            "parent_contexts": self._below,
            "child_contexts": self._above,
        }
        check(self.world, self.parent(call))
        return self.listed_below(call, self.parent(call), functions)

    def patch(self, call: Call) -> Reply:
        self.enter(call, "update")
        missing = call.flag("allowMissing")
        with self.world.store.transaction():
            name = self.named(call)
            old = self.look(name)
            if old is None and missing:
                used(self.world, self.parent(call))
                changed = self.add(name, self.parsed(call))
            else:
                old = old or self.find(name)
                kept = {key: old[key] for key in _IMMUTABLE if key in old}
                changed = self.change(self.patched(call, old) | kept)
            self._check(changed)
        return self.shown(call, changed)

    def delete(self, call: Call) -> Reply:
        self.enter(call, "delete", "submit")
        with self.world.store.transaction():
            node = self.find(self.named(call))
            if call.query.get("etag", node["etag"]) != node["etag"]:
                raise failed_precondition(f"The etag does not match that of {node['name']}: {node['etag']}.")
            links.forget(self.world.store, node["name"])
            self.remove(node["name"])
            return self.done(call, node["name"])

    def entered(self, call: Call, message: str) -> Body:
        """Check the caller of `…:VERB`, and return the message that was sent. Raises 400, 403, 429."""
        self.enter(call, call.path.rpartition(":")[2])
        return MESSAGES.parse(call.params["version"], message, call.object())

    def _check(self, body: Body) -> None:
        id_name = self.kind.one
        refuse(
            [
                *display_name_mistakes(f"{id_name}.display_name", body.get("displayName", "")),
                *label_mistakes(f"{id_name}.labels", body.get("labels", {})),
            ]
        )

    def _in_contexts(self, contexts: Sequence[str]) -> Test:
        members = [links.members(self.world.store, canonical(self.world.project, context)) for context in contexts]
        return lambda body: all(body["name"] in names for names in members)

    def _below(self, parents: Sequence[str]) -> Test:
        """Return a test for contexts with all the named parents."""
        wanted = {canonical(self.world.project, parent) for parent in parents}
        return lambda body: wanted <= set(body.get("parentContexts", ()))

    def _above(self, children: Sequence[str]) -> Test:
        """Return a test for contexts with all the named children."""
        found = [self.look(canonical(self.world.project, child)) or {} for child in children]
        return lambda body: all(body["name"] in child.get("parentContexts", ()) for child in found)
