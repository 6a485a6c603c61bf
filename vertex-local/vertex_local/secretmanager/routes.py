"""Routes of Secret Manager."""

from ..wire import Route
from ..world import World
from .secrets import Secrets
from .versions import Versions

API = "secretmanager.googleapis.com"


def routes(world: World) -> list[Route]:
    secrets = Secrets(world)
    return [*secrets.routes(), *Versions(world, secrets).routes()]
