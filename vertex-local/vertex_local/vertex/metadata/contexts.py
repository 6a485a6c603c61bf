"""The methods of contexts, of their members and of their children."""

from collections.abc import Sequence

from ...wire import Call, Reply, Route, invalid_argument
from ...world import World
from ..collection import Documents, canonical
from . import links
from .kinds import ARTIFACT, CONTEXT, EXECUTION
from .nodes import Nodes

_MOST_PARENTS = 10


class Contexts(Nodes):
    def __init__(self, world: World) -> None:
        super().__init__(world, CONTEXT)
        self._members = {"artifacts": Documents(world, ARTIFACT), "executions": Documents(world, EXECUTION)}

    def routes(self) -> list[Route]:
        return [
            *super().routes(),
            Route("POST", f"{CONTEXT.each}:addContextArtifactsAndExecutions", self.add_members),
            Route("POST", f"{CONTEXT.each}:addContextChildren", self.add_children),
        ]

    def add_members(self, call: Call) -> Reply:
        body = self.entered(call, "AddContextArtifactsAndExecutionsRequest")
        with self.world.store.transaction():
            context = self.find(self.named(call))["name"]
            for field, nodes in self._members.items():
                for name in self._named(body.get(field, ())):
                    links.join(self.world.store, context, nodes.find(name)["name"])
        return Reply(body={})

    def add_children(self, call: Call) -> Reply:
        body = self.entered(call, "AddContextChildrenRequest")
        with self.world.store.transaction():
            parent = self.find(self.named(call))["name"]
            for name in self._named(body.get("childContexts", ())):
                child = self.find(name)
                parents = list(child.get("parentContexts", ()))
                if parent in parents:
                    continue
                if name == parent or name in self._ancestors(parent):
                    raise invalid_argument(f"{name} can't be a child of {parent}: that would make a cycle.")
                if len(parents) >= _MOST_PARENTS:
                    raise invalid_argument(f"{name} has {_MOST_PARENTS} parents, the most that a context may have.")
                self.keep({**child, "parentContexts": [*parents, parent]})
        return Reply(body={})

    def _named(self, names: Sequence[str]) -> list[str]:
        return [canonical(self.world.project, name) for name in names]

    def _ancestors(self, name: str) -> set[str]:
        ancestors: set[str] = set()
        ahead = [name]
        while ahead:
            context = self.look(ahead.pop()) or {}
            fresh = set(context.get("parentContexts", ())) - ancestors
            ancestors |= fresh
            ahead += fresh
        return ancestors
