"""Routes of Cloud Logging."""

from ..wire import Route
from ..world import World
from .entries import Entries

API = "logging.googleapis.com"


def routes(world: World) -> list[Route]:
    return Entries(world).routes()
