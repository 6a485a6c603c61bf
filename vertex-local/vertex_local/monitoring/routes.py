"""Routes of Cloud Monitoring."""

from ..wire import Route
from ..world import World
from . import records
from .time_series import TimeSeries
from .work import Sampler

API = "monitoring.googleapis.com"


def routes(world: World) -> list[Route]:
    records.open_table(world.store)
    return TimeSeries(world).routes()


def loops(world: World) -> list[Sampler]:
    return [Sampler(world)]
