"""Short-lived tokens of a service account, for impersonation (the IAM Credentials API)."""

import re
from datetime import timedelta

from .. import bodies
from ..access import policies
from ..clock import timestamp
from ..wire import Call, Reply, Route, invalid_argument, permission_denied, unimplemented
from ..world import World
from .service_accounts import Accounts

_LIFETIME = re.compile(r"(\d+)s")
_HOUR = 3600


class Credentials:
    def __init__(self, world: World, accounts: Accounts) -> None:
        self._world, self._accounts = world, accounts

    def routes(self) -> list[Route]:
        path = "/v1/projects/{project}/serviceAccounts/{account}:generateAccessToken"
        return [Route("POST", path, self.access_token)]

    def access_token(self, call: Call) -> Reply:
        """Return a token of the account that ends after `lifetime` (3600s by default, an hour at most)."""
        account = self._accounts.find(call.params["project"], call.params["account"])
        resource = policies.account_name(self._world.project.id, account["email"])
        self._world.access.require(
            call.principal, "iam.serviceAccounts.getAccessToken", self._world.project.id, resource
        )
        if account.get("disabled"):
            raise permission_denied(f"Service account {account['email']} is disabled.")
        body = bodies.parsed("iamcredentials.v1", "GenerateAccessTokenRequest", call.object())
        if body.get("delegates"):
            raise unimplemented("A chain of delegates is not implemented by the local cloud.")
        match = _LIFETIME.fullmatch(str(body.get("lifetime", f"{_HOUR}s")))
        if not match or not 0 < int(match[1]) <= _HOUR or not body.get("scope"):
            raise invalid_argument("`scope` is required, and `lifetime` is at most 3600s.")
        until = self._world.clock.now() + timedelta(seconds=int(match[1]))
        principal = f"serviceAccount:{account['email']}"
        token = self._world.access.mint(principal, f"impersonated by {call.principal}", until)
        return Reply(body={"accessToken": token, "expireTime": timestamp(until)})
