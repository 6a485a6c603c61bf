"""Connecting nodes, and asking what is connected."""

from collections.abc import Iterable, Sequence
from typing import Any

from local.cloud import filtering
from local.cloud.collection import Collection, canonical
from local.cloud.metadata import links
from local.cloud.metadata.messages import ARTIFACT, CONTEXT, EXECUTION, MESSAGES
from local.cloud.services import World
from local.cloud.wire import Call, Reply, Route, invalid_argument

_MOST_PARENTS = 10
_MOST_HOPS = 100


class Lineage:
    def __init__(self, world: World) -> None:
        self._world = world
        self._contexts = Collection(world, MESSAGES, CONTEXT)
        self._executions = Collection(world, MESSAGES, EXECUTION)
        self._artifacts = Collection(world, MESSAGES, ARTIFACT)

    def routes(self) -> list[Route]:
        verbs: Sequence[tuple[str, str, Any]] = (
            ("POST", f"{CONTEXT.each}:addContextArtifactsAndExecutions", self.add_members),
            ("POST", f"{CONTEXT.each}:addContextChildren", self.add_children),
            ("POST", f"{CONTEXT.each}:removeContextChildren", self.remove_children),
            ("GET", f"{CONTEXT.each}:queryContextLineageSubgraph", self.of_context),
            ("POST", f"{EXECUTION.each}:addExecutionEvents", self.add_events),
            ("GET", f"{EXECUTION.each}:queryExecutionInputsAndOutputs", self.of_execution),
            ("GET", f"{ARTIFACT.each}:queryArtifactLineageSubgraph", self.of_artifact),
        )
        return [Route(method, path, handler) for method, path, handler in verbs]

    def add_members(self, call: Call) -> Reply:
        body = self._entered(call, self._contexts, "AddContextArtifactsAndExecutionsRequest")
        with self._world.store.transaction():
            context = self._contexts.find(self._contexts.named(call))["name"]
            for name in map(canonical, body.get("artifacts", ())):
                links.join(self._world.store, context, self._artifacts.find(name)["name"])
            for name in map(canonical, body.get("executions", ())):
                links.join(self._world.store, context, self._executions.find(name)["name"])
        return Reply(body={})

    def add_children(self, call: Call) -> Reply:
        body = self._entered(call, self._contexts, "AddContextChildrenRequest")
        with self._world.store.transaction():
            parent = self._contexts.find(self._contexts.named(call))["name"]
            for name in map(canonical, body.get("childContexts", ())):
                child = self._contexts.find(name)
                parents = list(child.get("parentContexts", ()))
                if parent in parents:
                    continue
                if name == parent or name in self._ancestors(parent):
                    raise invalid_argument(f"{name} can't be a child of {parent}: that would make a cycle.")
                if len(parents) >= _MOST_PARENTS:
                    raise invalid_argument(f"{name} has {_MOST_PARENTS} parents, the most that a context may have.")
                self._contexts.keep({**child, "parentContexts": [*parents, parent]})
        return Reply(body={})

    def remove_children(self, call: Call) -> Reply:
        body = self._entered(call, self._contexts, "RemoveContextChildrenRequest")
        with self._world.store.transaction():
            parent = self._contexts.find(self._contexts.named(call))["name"]
            for name in map(canonical, body.get("childContexts", ())):
                child = self._contexts.find(name)
                parents = [other for other in child.get("parentContexts", ()) if other != parent]
                self._contexts.keep({**child, "parentContexts": parents})
        return Reply(body={})

    def add_events(self, call: Call) -> Reply:
        body = self._entered(call, self._executions, "AddExecutionEventsRequest")
        with self._world.store.transaction():
            execution = self._executions.find(self._executions.named(call))["name"]
            for event in body.get("events", ()):
                artifact = self._artifacts.find(canonical(event.get("artifact", "")))["name"]
                moment = event.get("eventTime", self._world.now())
                links.record(
                    self._world.store, {**event, "artifact": artifact, "execution": execution, "eventTime": moment}
                )
        return Reply(body={})

    def of_context(self, call: Call) -> Reply:
        self._contexts.enter(call, "queryContextLineageSubgraph")
        members = links.members(self._world.store, self._contexts.find(self._contexts.named(call))["name"])
        events = [item for item in links.events(self._world.store) if {item["artifact"], item["execution"]} <= members]
        return self._graph(call, members, members, events)

    def of_execution(self, call: Call) -> Reply:
        self._executions.enter(call, "queryExecutionInputsAndOutputs")
        execution = self._executions.find(self._executions.named(call))["name"]
        events = links.events(self._world.store, execution)
        return self._graph(call, [item["artifact"] for item in events], [execution], events)

    def of_artifact(self, call: Call) -> Reply:
        """All within `maxHops` events of an artifact; without it, as far as the connections go (100 at most)."""
        self._artifacts.enter(call, "queryArtifactLineageSubgraph")
        test = filtering.parsed(call.query.get("filter", ""))
        hops = call.integer("maxHops", _MOST_HOPS)
        if not 0 <= hops <= _MOST_HOPS:
            raise invalid_argument(f"maxHops is from 0 to {_MOST_HOPS}.")
        reached = {self._artifacts.find(self._artifacts.named(call))["name"]}
        events = links.events(self._world.store)
        for _ in range(hops):
            near = {
                end
                for item in events
                for end in (item["artifact"], item["execution"])
                if {item["artifact"], item["execution"]} & reached
            }
            if near <= reached:
                break
            reached |= near
        artifacts = [name for name in reached if (found := self._artifacts.get(name)) and test(found)]
        inside = {*artifacts, *reached}
        kept = [item for item in events if item["artifact"] in artifacts and item["execution"] in inside]
        return self._graph(call, artifacts, reached, kept)

    def _entered(self, call: Call, collection: Collection, message: str) -> dict[str, Any]:
        """Check who asks for `…:VERB`, and what is sent. Raises 400, 403, 429."""
        collection.enter(call, call.path.rpartition(":")[2])
        return MESSAGES.parse(call.params["version"], message, call.object())

    def _ancestors(self, name: str) -> set[str]:
        found: set[str] = set()
        ahead = [name]
        while ahead:
            context = self._contexts.get(ahead.pop()) or {}
            fresh = set(context.get("parentContexts", ())) - found
            found |= fresh
            ahead += fresh
        return found

    def _graph(
        self, call: Call, artifacts: Iterable[str], executions: Iterable[str], events: Iterable[links.Event]
    ) -> Reply:
        """A LineageSubgraph of what there is under these names."""
        body = {
            "artifacts": [found for name in sorted(set(artifacts)) if (found := self._artifacts.get(name))],
            "executions": [found for name in sorted(set(executions)) if (found := self._executions.get(name))],
            "events": list(events),
        }
        return Reply(body=MESSAGES.render(call, call.params["version"], "LineageSubgraph", body))
