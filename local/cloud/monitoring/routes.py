"""What the server takes of Cloud Monitoring."""

from local.cloud.monitoring import records
from local.cloud.monitoring.time_series import TimeSeries
from local.cloud.monitoring.work import Sampler
from local.cloud.wire import Route
from local.cloud.world import World

API = "monitoring.googleapis.com"


def routes(world: World) -> list[Route]:
    records.open_table(world.store)
    return TimeSeries(world).routes()


def loop(world: World) -> Sampler:
    return Sampler(world)
