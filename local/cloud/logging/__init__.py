"""Cloud Logging: entries written by jobs and clients, read with a filter, page by page."""

from local.cloud.logging.entries import Entries, write
from local.cloud.services import World
from local.cloud.wire import Route

__all__ = ["API", "routes", "write"]

API = "logging.googleapis.com"


def routes(world: World) -> list[Route]:
    return Entries(world).routes()
