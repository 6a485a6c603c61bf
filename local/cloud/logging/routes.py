"""What the server takes of Cloud Logging."""

from local.cloud.logging.entries import Entries
from local.cloud.wire import Route
from local.cloud.world import World

API = "logging.googleapis.com"


def routes(world: World) -> list[Route]:
    return Entries(world).routes()
