"""What the server takes of IAM."""

from local.cloud.iam.service_account_tokens import Credentials
from local.cloud.iam.service_accounts import Accounts
from local.cloud.wire import Route
from local.cloud.world import World

API = "iam.googleapis.com"


def routes(world: World) -> list[Route]:
    accounts = Accounts(world)
    return [*accounts.routes(), *Credentials(world, accounts).routes()]
