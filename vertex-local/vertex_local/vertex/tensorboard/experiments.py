"""The methods of experiments."""

from ...wire import Call, Reply, Route, invalid_argument
from ...world import World
from ..collection import canonical
from ..messages import MESSAGES
from .contents import Contents
from .kinds import EXPERIMENT, RUN, TENSORBOARD, TIME_SERIES
from .time_series import TimeSeries


class Experiments(Contents):
    def __init__(self, world: World) -> None:
        super().__init__(world, EXPERIMENT, TENSORBOARD, (RUN, TIME_SERIES))

    def routes(self) -> list[Route]:
        return [
            *super().routes(),
            Route("POST", self.kind.each + ":batchCreate", self.batch_create),
            Route("POST", self.kind.each + ":write", self.write),
        ]

    def batch_create(self, call: Call) -> Reply:
        """Make time series in any of the experiment's runs."""
        return TimeSeries(self.world).created_at_once(call, "BatchCreateTensorboardTimeSeriesRequest")

    def write(self, call: Call) -> Reply:
        self.enter(call, "write")
        experiment = self.find(self.named(call))["name"]
        body = MESSAGES.parse(call.params["version"], "WriteTensorboardExperimentDataRequest", call.object())
        with self.world.store.transaction():
            for request in body.get("writeRunDataRequests", []):
                run = canonical(self.world.project, request.get("tensorboardRun", ""))
                if not run.startswith(f"{experiment}/runs/"):
                    raise invalid_argument(f'The run "{run}" is not in {experiment}.')
                TimeSeries(self.world).write(run, request.get("timeSeriesData", []))
        return Reply(body={})
