"""Writing and reading the data of time series."""

from collections.abc import Mapping, Sequence
from typing import Any

from local.cloud.collection import Collection, canonical
from local.cloud.services import World
from local.cloud.tensorboard import job_logs, points
from local.cloud.tensorboard.messages import EXPERIMENT, MESSAGES, RUN, TENSORBOARD, TIME_SERIES
from local.cloud.wire import Call, Reply, Route, invalid_argument, unimplemented

_MOST_POINTS = 5000
_USUAL_POINTS = 1000
_MOST_READ_AT_ONCE = 100
_BLOBS = "BLOB_SEQUENCE"


class Data:
    def __init__(self, world: World) -> None:
        self._world = world
        self._boards = Collection(world, MESSAGES, TENSORBOARD)
        self._experiments = Collection(world, MESSAGES, EXPERIMENT)
        self._runs = Collection(world, MESSAGES, RUN)
        self._series = Collection(world, MESSAGES, TIME_SERIES)

    def routes(self) -> list[Route]:
        return [
            Route("POST", EXPERIMENT.each + ":write", self.write_experiment),
            Route("POST", RUN.each + ":write", self.write_run),
            Route("GET", TIME_SERIES.each + ":read", self.read),
            Route("GET", TENSORBOARD.each + ":batchRead", self.read_many),
        ]

    def write_experiment(self, call: Call) -> Reply:
        self._experiments.enter(call, "write")
        experiment = self._experiments.find(self._experiments.named(call))["name"]
        message = "WriteTensorboardExperimentDataRequest"
        body = MESSAGES.parse(call.params["version"], message, call.object())
        with self._world.store.transaction():
            for request in body.get("writeRunDataRequests", []):
                run = canonical(request.get("tensorboardRun", ""))
                if not run.startswith(f"{experiment}/runs/"):
                    raise invalid_argument(f'The run "{run}" is not in {experiment}.')
                self._write(run, request.get("timeSeriesData", []))
        return Reply(body={})

    def write_run(self, call: Call) -> Reply:
        self._runs.enter(call, "write")
        body = MESSAGES.parse(call.params["version"], "WriteTensorboardRunDataRequest", call.object())
        with self._world.store.transaction():
            self._write(self._runs.named(call), body.get("timeSeriesData", []))
        return Reply(body={})

    def read(self, call: Call) -> Reply:
        self._series.enter(call, "read")
        job_logs.settle(self._world)
        _no_filter(call)
        most = call.integer("maxDataPoints", _USUAL_POINTS) or _USUAL_POINTS
        return Reply(body={"timeSeriesData": self._data(call, self._series.named(call), most)})

    def read_many(self, call: Call) -> Reply:
        """Of each of up to 100 time series up to 1,000 points, as far as is known without a limit of its own."""
        self._boards.enter(call, "batchRead", self._series.kind.rate, "tensorboardTimeSeries")
        job_logs.settle(self._world)
        board = self._boards.find(self._boards.named(call))["name"]
        names = [canonical(name) for name in call.values("timeSeries")]
        if len(names) > _MOST_READ_AT_ONCE:
            raise invalid_argument(f"At most {_MOST_READ_AT_ONCE} time series can be read at once.")
        for name in names:
            if not name.startswith(f"{board}/"):
                raise invalid_argument(f'The time series "{name}" is not in {board}.')
        shown = [self._data(call, name, _USUAL_POINTS) for name in names]
        return Reply(body={"timeSeriesData": shown} if shown else {})

    def _write(self, run: str, data: Sequence[Mapping[str, Any]]) -> None:
        """Raises 400, 404. Within a transaction."""
        self._runs.find(run)
        if sum(len(item.get("values", [])) for item in data) > _MOST_POINTS:
            raise invalid_argument(f"At most {_MOST_POINTS} data points can be written at once.")
        for item in data:
            series = self._series.find(f"{run}/timeSeries/{item.get('tensorboardTimeSeriesId', '')}")
            if item.get("valueType") != series["valueType"]:
                raise invalid_argument(f"The time series {series['name']} has values of type {series['valueType']}.")
            if series["valueType"] == _BLOBS:
                raise unimplemented("Blobs in TensorBoard time series are not implemented by the local cloud.")
            points.write(self._world.store, series["name"], item.get("values", []))

    def _data(self, call: Call, name: str, most: int) -> dict[str, Any]:
        series = self._series.find(name)
        body = {
            "tensorboardTimeSeriesId": name.rpartition("/")[2],
            "valueType": series["valueType"],
            "values": points.read(self._world.store, name, most),
        }
        return MESSAGES.render(call, call.params["version"], "TimeSeriesData", body)


def _no_filter(call: Call) -> None:
    if call.query.get("filter"):
        raise unimplemented("A filter on the data of a time series is not implemented by the local cloud.")
