"""Secret Manager: secrets, their versions, and who may read them."""

from local.cloud.secretmanager.secrets import Secrets
from local.cloud.secretmanager.versions import Versions
from local.cloud.services import World
from local.cloud.wire import Route

API = "secretmanager.googleapis.com"


def routes(world: World) -> list[Route]:
    secrets = Secrets(world)
    return [*secrets.routes(), *Versions(world, secrets).routes()]
