"""The methods of runs."""

from ...wire import Call, Reply, Route
from ...world import World
from ..messages import MESSAGES
from .contents import Contents
from .kinds import EXPERIMENT, RUN, TIME_SERIES
from .time_series import TimeSeries


class Runs(Contents):
    def __init__(self, world: World) -> None:
        super().__init__(world, RUN, EXPERIMENT, (TIME_SERIES,))

    def routes(self) -> list[Route]:
        return [
            *super().routes(),
            Route("POST", self.kind.base + ":batchCreate", self.batch_create),
            Route("POST", self.kind.each + ":write", self.write),
        ]

    def batch_create(self, call: Call) -> Reply:
        return self.created_at_once(call, "BatchCreateTensorboardRunsRequest")

    def write(self, call: Call) -> Reply:
        self.enter(call, "write")
        body = MESSAGES.parse(call.params["version"], "WriteTensorboardRunDataRequest", call.object())
        with self.world.store.transaction():
            TimeSeries(self.world).write(self.named(call), body.get("timeSeriesData", []))
        return Reply(body={})
