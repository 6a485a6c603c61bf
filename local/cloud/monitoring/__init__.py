"""Cloud Monitoring: what jobs use of their machines, and what of each quota is in use."""

from local.cloud.monitoring import samples
from local.cloud.monitoring.sampler import Sampler
from local.cloud.monitoring.time_series import TimeSeries
from local.cloud.services import World
from local.cloud.wire import Route

API = "monitoring.googleapis.com"


def routes(world: World) -> list[Route]:
    samples.open_table(world.store)
    return TimeSeries(world).routes()


def loop(world: World) -> Sampler:
    return Sampler(world)
