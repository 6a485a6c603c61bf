"""Routes of Secret Manager."""

from .. import locations
from ..regions import REGIONS
from ..wire import Route
from ..world import World
from .secrets import Secrets
from .versions import Versions

API = "secretmanager.googleapis.com"


def routes(world: World) -> list[Route]:
    secrets = Secrets(world)
    places = locations.routes(world, "v1", "secretmanager", REGIONS)
    return [*secrets.routes(), *Versions(world, secrets).routes(), *places]
