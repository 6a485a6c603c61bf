"""The methods of time series, and the data in them."""

from collections.abc import Mapping, Sequence
from typing import Any

from ...documents import Body
from ...wire import Call, Reply, Route, invalid_argument, unimplemented
from ...world import World
from ..collection import Documents
from ..messages import MESSAGES
from . import points
from .contents import Contents
from .kinds import RUN, TIME_SERIES

USUAL_POINTS = 1000
_MOST_POINTS = 5000
_BLOBS = "BLOB_SEQUENCE"


class TimeSeries(Contents):
    def __init__(self, world: World) -> None:
        super().__init__(world, TIME_SERIES, RUN)

    def routes(self) -> list[Route]:
        return [*super().routes(), Route("GET", self.kind.each + ":read", self.read)]

    def id_of(self, sent: str) -> str:
        return sent or str(self.world.store.next_id("tensorboardTimeSeries"))

    def measured(self, body: Body) -> Body:
        extent = points.extent(self.world.store, body["name"])
        return {**body, "metadata": {"maxStep": str(extent[0]), "maxWallTime": extent[1]}} if extent else body

    def read(self, call: Call) -> Reply:
        self.enter(call, "read")
        if call.query.get("filter"):
            raise unimplemented("A filter on the data of a time series is not implemented by the local cloud.")
        most = call.integer("maxDataPoints") or USUAL_POINTS
        if most < -1:
            raise invalid_argument("maxDataPoints is -1 (all) or a number of points.")
        return Reply(body={"timeSeriesData": self.data(call, self.named(call), most)})

    def data(self, call: Call, name: str, most: int) -> Body:
        """Return up to `most` points of the time series with this full name. Raises 404."""
        body = {
            "tensorboardTimeSeriesId": name.rpartition("/")[2],
            "valueType": self.find(name)["valueType"],
            "values": points.read(self.world.store, name, most),
        }
        return MESSAGES.render(call.params["version"], "TimeSeriesData", body)

    def write(self, run: str, data: Sequence[Mapping[str, Any]]) -> None:
        """Write data of time series in the run with this full name. Raises 400, 404. Within a transaction."""
        Documents(self.world, RUN).find(run)
        if sum(len(item.get("values", [])) for item in data) > _MOST_POINTS:
            raise invalid_argument(f"At most {_MOST_POINTS} data points can be written at once.")
        for item in data:
            series = self.find(f"{run}/timeSeries/{item.get('tensorboardTimeSeriesId', '')}")
            if item.get("valueType") != series["valueType"]:
                raise invalid_argument(f"The time series {series['name']} has values of type {series['valueType']}.")
            if series["valueType"] == _BLOBS:
                raise unimplemented("Blobs in TensorBoard time series are not implemented by the local cloud.")
            if not item.get("values"):
                raise invalid_argument(f"There are no values for the time series {series['name']}.")
            points.write(self.world.store, series["name"], item["values"])
