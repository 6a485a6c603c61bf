"""Routes of IAM."""

from ..wire import Route
from ..world import World
from .roles import Roles
from .service_account_tokens import Credentials
from .service_accounts import Accounts

API = "iam.googleapis.com"


def routes(world: World) -> list[Route]:
    accounts = Accounts(world)
    return [*accounts.routes(), *Credentials(world, accounts).routes(), *Roles(world).routes()]
