"""What the server takes of Secret Manager."""

from local.cloud.secretmanager.secrets import Secrets
from local.cloud.secretmanager.versions import Versions
from local.cloud.wire import Route
from local.cloud.world import World

API = "secretmanager.googleapis.com"


def routes(world: World) -> list[Route]:
    secrets = Secrets(world)
    return [*secrets.routes(), *Versions(world, secrets).routes()]
