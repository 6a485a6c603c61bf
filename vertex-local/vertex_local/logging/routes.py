"""Routes of Cloud Logging."""

from .. import locations
from ..regions import REGIONS
from ..wire import Route
from ..world import World
from .entries import Entries

API = "logging.googleapis.com"


def routes(world: World) -> list[Route]:
    return [
        *Entries(world).routes(),
        *locations.routes(world, "/v2/projects/{project}", "logging", {"global", *REGIONS}),
    ]
