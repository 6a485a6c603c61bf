"""The methods of executions, of their inputs and of their outputs."""

from ...wire import Call, Reply, Route, invalid_argument
from ...world import World
from ..collection import Documents, canonical
from ..messages import MESSAGES
from . import links
from .kinds import ARTIFACT, EXECUTION
from .nodes import Nodes


class Executions(Nodes):
    def __init__(self, world: World) -> None:
        super().__init__(world, EXECUTION)

    def routes(self) -> list[Route]:
        return [
            *super().routes(),
            Route("POST", f"{EXECUTION.each}:addExecutionEvents", self.add_events),
            Route("GET", f"{EXECUTION.each}:queryExecutionInputsAndOutputs", self.query_inputs_and_outputs),
        ]

    def add_events(self, call: Call) -> Reply:
        body = self.entered(call, "AddExecutionEventsRequest")
        with self.world.store.transaction():
            execution = self.find(self.named(call))["name"]
            for event in body.get("events", ()):
                if "type" not in event:
                    raise invalid_argument("The type of an event is required: INPUT or OUTPUT.")
                artifact = Documents(self.world, ARTIFACT).find(
                    canonical(self.world.project, event.get("artifact", ""))
                )["name"]
                moment = event.get("eventTime", self.world.now())
                known = {"artifact": artifact, "execution": execution, "eventTime": moment}
                links.record(self.world.store, {**event, **known})
        return Reply(body={})

    def query_inputs_and_outputs(self, call: Call) -> Reply:
        self.enter(call, "queryExecutionInputsAndOutputs")
        execution = self.find(self.named(call))
        events = links.events(self.world.store, execution["name"])
        artifacts = Documents(self.world, ARTIFACT)
        subgraph = {
            "artifacts": [artifacts.find(name) for name in sorted({event["artifact"] for event in events})],
            "executions": [execution],
            "events": events,
        }
        return Reply(body=MESSAGES.render(call.params["version"], "LineageSubgraph", subgraph))
