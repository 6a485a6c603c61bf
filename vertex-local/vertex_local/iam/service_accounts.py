"""Service accounts of the project."""

import base64
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from .. import bodies, documents, organization, policy_methods
from ..access import policies
from ..access.policies import ACCOUNTS
from ..wire import (
    Call,
    Reply,
    Route,
    already_exists,
    camel,
    failed_precondition,
    invalid_argument,
    not_found,
    unimplemented,
)
from ..world import World

_ID = re.compile(r"[a-z]([-a-z0-9]{4,28}[a-z0-9])")
_BASE = "/v1/projects/{project}/serviceAccounts"
_SETTABLE = {"displayName": 100, "description": 256}
"""The fields that a client may set, and the most bytes of each, by the discovery document."""


class Accounts:
    def __init__(self, world: World) -> None:
        self._world, self._store, self._access = world, world.store, world.access

    def routes(self) -> list[Route]:
        path = _BASE + "/{account}"
        return [
            Route("POST", _BASE, self.create),
            Route("GET", _BASE, self.list_all),
            Route("GET", path, self.get),
            Route("PATCH", path, self.patch),
            Route("DELETE", path, self.delete),
            Route("POST", path + "/keys", self.create_key),
            Route("POST", path + ":disable", self.disable),
            Route("POST", path + ":enable", self.enable),
            *policy_methods.routes(self._world, path, "iam.v1", "iam.serviceAccounts", self._resource),
        ]

    def find(self, project: str, account: str) -> dict[str, Any]:
        """Return the account by email or unique id; the project may be `-`. Raises 404 in the service's words."""
        known = project == "-" or self._world.project.is_called(project)
        every = ACCOUNTS.every(self._store) if known else []
        account_body = next((body for body in every if account in (body["email"], body["uniqueId"])), None)
        if account_body is None:
            raise not_found(f"Unknown service account: projects/{project}/serviceAccounts/{account} does not exist.")
        return account_body

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
            if ACCOUNTS.get(self._store, email):
                raise already_exists(
                    f"Service account {identifier} already exists within project projects/{self._world.project.id}."
                )
            organization.check_account_creation(self._world.settings, self._world.project.id, email)
            return Reply(body=make(self._world, email, declared))

    def get(self, call: Call) -> Reply:
        return Reply(body=self._permitted(call, "get"))

    def list_all(self, call: Call) -> Reply:
        self._access.require(call.principal, "iam.serviceAccounts.list", call.params["project"])
        pages = documents.sliced(ACCOUNTS.every(self._store))
        return documents.without_empty(documents.listed(call, "accounts", pages, dict, usual=20, most=100))

    def patch(self, call: Call) -> Reply:
        body = bodies.parsed("iam.v1", "PatchServiceAccountRequest", call.object())
        mask = [part.strip() for part in body.get("updateMask", "").split(",") if part.strip()]
        names = [camel(part) for part in mask]
        unknown = [part for part, name in zip(mask, names, strict=True) if name not in _SETTABLE]
        if unknown or not mask:
            raise invalid_argument(f"updateMask must name fields among {', '.join(_SETTABLE)}; got {', '.join(mask)}")
        sent = body.get("serviceAccount", {})
        values = dict.fromkeys(names, "") | _settable({name: sent.get(name) for name in names})
        with self._store.transaction():
            changed = _tagged({**self._permitted(call, "update"), **values})
            ACCOUNTS.put(self._store, changed)
        return Reply(body=changed)

    def delete(self, call: Call) -> Reply:
        with self._store.transaction():
            account = self._permitted(call, "delete")
            email = account["email"]
            if email in (self._world.project.deployer, self._world.project.previewer):
                raise failed_precondition(f"{email} belongs to the local cloud itself and can't be deleted.")
            ACCOUNTS.remove(self._store, email)
            self._world.policies.delete(policies.account_name(self._world.project.id, email))
            gone = f"deleted:serviceAccount:{email}?uid={account['uniqueId']}"
            self._world.policies.rename_member(f"serviceAccount:{email}", gone)
        return Reply()

    def create_key(self, call: Call) -> Reply:
        """Refuse a key: by an organisation's policy in its words, else because a key is here a role's file alone."""
        account = self.find(call.params["project"], call.params["account"])
        resource = policies.account_name(self._world.project.id, account["email"])
        self._access.require(call.principal, "iam.serviceAccountKeys.create", self._world.project.id, resource)
        organization.check_key_creation(self._world.settings, self._world.project.id, account["email"])
        raise unimplemented("iam.projects.serviceAccounts.keys.create is not implemented by the local cloud.")

    def disable(self, call: Call) -> Reply:
        return self._switched(call, "disable")

    def enable(self, call: Call) -> Reply:
        return self._switched(call, "enable")

    def _switched(self, call: Call, verb: str) -> Reply:
        bodies.parsed("iam.v1", f"{verb.title()}ServiceAccountRequest", call.object())
        with self._store.transaction():
            rest = {name: value for name, value in self._permitted(call, verb).items() if name != "disabled"}
            ACCOUNTS.put(self._store, _tagged({**rest, "disabled": True} if verb == "disable" else rest))
        return Reply()

    def _permitted(self, call: Call, verb: str) -> dict[str, Any]:
        """Return the account of a path. Raises 404, and 403 for a caller who may not do that with it."""
        account = self.find(call.params["project"], call.params["account"])
        resource = policies.account_name(self._world.project.id, account["email"])
        self._access.require(call.principal, f"iam.serviceAccounts.{verb}", self._world.project.id, resource)
        return account

    def _resource(self, call: Call) -> str:
        return policies.account_name(
            self._world.project.id, self.find(call.params["project"], call.params["account"])["email"]
        )


def make(world: World, email: str, declared: Mapping[str, Any] = MappingProxyType({})) -> dict[str, Any]:
    """Return an account of the project, made unless it exists. Within a transaction."""
    account = ACCOUNTS.get(world.store, email)
    if account is None:
        unique = f"1{100 + world.store.next_id('serviceAccount'):020d}"
        account = _tagged(world.project.account(email, unique, **declared))
        ACCOUNTS.put(world.store, account)
    return account


def _settable(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that a client may set. Raises 400 for one that is too long."""
    settable = {name: body[name] for name in _SETTABLE if body.get(name)}
    for name, text in settable.items():
        if len(text.encode()) > _SETTABLE[name]:
            raise invalid_argument(f"The {name} of a service account has at most {_SETTABLE[name]} bytes.")
    return settable


def _tagged(account: dict[str, Any]) -> dict[str, Any]:
    seen = "|".join(str(account.get(name, "")) for name in (*_SETTABLE, "disabled"))
    return {**account, "etag": base64.b64encode(seen.encode()[:12]).decode() or "ACAB"}
