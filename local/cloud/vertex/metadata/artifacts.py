"""The methods of artifacts, among them their lineage."""

from ... import document_filters
from ...wire import Call, Reply, Route, invalid_argument
from ...world import World
from . import links
from .kinds import ARTIFACT
from .nodes import Nodes

_MOST_HOPS = 100


class Artifacts(Nodes):
    def __init__(self, world: World) -> None:
        super().__init__(world, ARTIFACT)

    def routes(self) -> list[Route]:
        return [*super().routes(), Route("GET", f"{ARTIFACT.each}:queryArtifactLineageSubgraph", self.query_lineage)]

    def query_lineage(self, call: Call) -> Reply:
        """Return everything within `maxHops` events of an artifact; without it, as far as the connections go (100 at
        most)."""
        self.enter(call, "queryArtifactLineageSubgraph")
        test = document_filters.parsed(call.query.get("filter", ""), self.fields(call))
        hops = call.integer("maxHops", _MOST_HOPS)
        if not 0 <= hops <= _MOST_HOPS:
            raise invalid_argument(f"maxHops is from 0 to {_MOST_HOPS}.")
        reached = {self.find(self.named(call))["name"]}
        events = links.events(self.world.store)
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
        artifacts = [name for name in reached if (found := self.look(name)) and test(found)]
        kept = [item for item in events if item["artifact"] in artifacts and item["execution"] in reached]
        return self.graph(call, artifacts, reached, kept)
