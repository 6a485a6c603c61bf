"""Routes of Cloud Monitoring."""

import threading

from ..vertex.follower import Follower
from ..wire import Route
from ..world import World
from . import records
from .time_series import TimeSeries
from .work import Sampler

API = "monitoring.googleapis.com"


def routes(world: World) -> list[Route]:
    records.open_table(world.store)
    return TimeSeries(world).routes()


def loops(world: World) -> list[Follower]:
    step = {"monitoring": Sampler(world).look}
    return [Follower(world, step, threading.Event(), lambda: world.settings.monitoring_seconds or 1.0)]
