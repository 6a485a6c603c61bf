"""IAM: service accounts, their policies, and short-lived tokens for those who may impersonate them."""

from local.cloud.iam.accounts import Accounts
from local.cloud.iam.credentials import Credentials
from local.cloud.services import World
from local.cloud.wire import Route

API = "iam.googleapis.com"


def routes(world: World) -> list[Route]:
    accounts = Accounts(world)
    return [*accounts.routes(), *Credentials(world, accounts).routes()]
