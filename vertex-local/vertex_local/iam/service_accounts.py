"""Service accounts of the project."""

import base64
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from .. import bodies, documents, policy_methods
from ..access import policies
from ..store import Documents
from ..wire import Call, Reply, Route, already_exists, camel, failed_precondition, invalid_argument, not_found
from ..world import World

KIND = "serviceAccount"
_ID = re.compile(r"[a-z]([-a-z0-9]{4,28}[a-z0-9])")
_BASE = "/v1/projects/{project}/serviceAccounts"
_SETTABLE = {"displayName": 100, "description": 256}
"""The fields that a client may set, and the most bytes of each, by the discovery document."""


class Accounts:
    def __init__(self, world: World) -> None:
        self._world, self._store, self._access = world, world.store, world.access

    def routes(self) -> list[Route]:
        one = _BASE + "/{account}"
        return [
            Route("POST", _BASE, self.create),
            Route("GET", _BASE, self.list_all),
            Route("GET", one, self.get),
            Route("PATCH", one, self.patch),
            Route("DELETE", one, self.delete),
            Route("POST", one + ":disable", self.disable),
            Route("POST", one + ":enable", self.enable),
            *policy_methods.routes(self._world, one, "iam.v1", "iam.serviceAccounts", self._resource),
        ]

    def find(self, project: str, account: str) -> dict[str, Any]:
        """Return the account by email or unique id; the project may be `-`. Raises 404 in the service's words."""
        known = project == "-" or self._world.project.is_called(project)
        found = self._store.get(KIND, account) if known else None
        if found is None and known and account.isdigit():
            found = next((body for _, body in self._store.list(KIND) if body["uniqueId"] == account), None)
        if found is None:
            raise not_found(f"Unknown service account: projects/{project}/serviceAccounts/{account} does not exist.")
        return found

    def create(self, call: Call) -> Reply:
        body = bodies.parsed("iam.v1", "CreateServiceAccountRequest", call.object())
        self._access.require(call.principal, "iam.serviceAccounts.create", call.params["project"])
        identifier = body.get("accountId", "")
        if not _ID.fullmatch(identifier):
            raise invalid_argument(
                "Invalid value for accountId: it must be 6-30 characters long and match [a-z]([-a-z0-9]*[a-z0-9])."
            )
        email = self._world.project.address(identifier)
        declared = _settable(body.get("serviceAccount", {}))
        with self._store.transaction():
            if self._store.get(KIND, email) is not None:
                raise already_exists(
                    f"Service account {identifier} already exists within project projects/{self._world.project.id}."
                )
            make(self._world, email, declared)
        return Reply(body=self.find("-", email))

    def get(self, call: Call) -> Reply:
        account = self.find(call.params["project"], call.params["account"])
        self._require(call, "get", account)
        return Reply(body=account)

    def list_all(self, call: Call) -> Reply:
        self._access.require(call.principal, "iam.serviceAccounts.list", call.params["project"])

        def page(after: str, size: int) -> tuple[Documents, str]:
            return self._store.page(KIND, "", after, size)

        found = documents.listed(call, "accounts", page, lambda item: item[1], usual=20, most=100)
        return documents.without_empty(found)

    def patch(self, call: Call) -> Reply:
        body = bodies.parsed("iam.v1", "PatchServiceAccountRequest", call.object())
        mask = [part.strip() for part in body.get("updateMask", "").split(",") if part.strip()]
        names = [camel(part) for part in mask]
        unknown = [part for part, name in zip(mask, names, strict=True) if name not in _SETTABLE]
        if unknown or not mask:
            raise invalid_argument(f"updateMask must name fields among {', '.join(_SETTABLE)}; got {', '.join(mask)}")
        sent = body.get("serviceAccount", {})
        return self._change(call, dict.fromkeys(names, "") | _settable({name: sent.get(name) for name in names}))

    def delete(self, call: Call) -> Reply:
        with self._store.transaction():
            account = self.find(call.params["project"], call.params["account"])
            self._require(call, "delete", account)
            email = account["email"]
            if email in (self._world.project.deployer, self._world.project.previewer):
                raise failed_precondition(f"{email} belongs to the local cloud itself and can't be deleted.")
            self._store.delete(KIND, email)
            self._world.policies.delete(policies.account_name(self._world.project.id, email))
            gone = f"deleted:serviceAccount:{email}?uid={account['uniqueId']}"
            self._world.policies.rename_member(f"serviceAccount:{email}", gone)
        return Reply()

    def disable(self, call: Call) -> Reply:
        bodies.parsed("iam.v1", "DisableServiceAccountRequest", call.object())
        self._switch(call, "disable", True)
        return Reply()

    def enable(self, call: Call) -> Reply:
        bodies.parsed("iam.v1", "EnableServiceAccountRequest", call.object())
        self._switch(call, "enable", False)
        return Reply()

    def _change(self, call: Call, values: dict[str, Any]) -> Reply:
        with self._store.transaction():
            account = self.find(call.params["project"], call.params["account"])
            self._require(call, "update", account)
            self._store.put(KIND, account["email"], _tagged({**account, **values}))
        return Reply(body=self.find("-", account["email"]))

    def _switch(self, call: Call, verb: str, disabled: bool) -> None:
        with self._store.transaction():
            account = self.find(call.params["project"], call.params["account"])
            self._require(call, verb, account)
            rest = {name: value for name, value in account.items() if name != "disabled"}
            self._store.put(KIND, account["email"], _tagged({**rest, "disabled": True} if disabled else rest))

    def _require(self, call: Call, verb: str, account: dict[str, Any]) -> None:
        resource = policies.account_name(self._world.project.id, account["email"])
        self._access.require(call.principal, f"iam.serviceAccounts.{verb}", self._world.project.id, resource)

    def _resource(self, call: Call) -> str:
        return policies.account_name(
            self._world.project.id, self.find(call.params["project"], call.params["account"])["email"]
        )


def make(world: World, email: str, declared: Mapping[str, Any] = MappingProxyType({})) -> None:
    """Make an account of the project unless it exists. Within a transaction."""
    if world.store.get(KIND, email) is not None:
        return
    unique = f"1{100 + world.store.next_id('serviceAccount'):020d}"
    account = {
        "name": f"projects/{world.project.id}/serviceAccounts/{email}",
        "projectId": world.project.id,
        "uniqueId": unique,
        "email": email,
        "oauth2ClientId": unique,
        **declared,
    }
    world.store.put(KIND, email, _tagged(account))


def _settable(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that a client may set. Raises 400 for one that is too long."""
    found = {name: body[name] for name in _SETTABLE if body.get(name)}
    for name, text in found.items():
        if len(text.encode()) > _SETTABLE[name]:
            raise invalid_argument(f"The {name} of a service account has at most {_SETTABLE[name]} bytes.")
    return found


def _tagged(account: dict[str, Any]) -> dict[str, Any]:
    seen = "|".join(str(account.get(name, "")) for name in (*_SETTABLE, "disabled"))
    return {**account, "etag": base64.b64encode(seen.encode()[:12]).decode() or "ACAB"}
