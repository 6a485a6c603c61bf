"""Permissions of the caller (reading them needs no role), and a resource's policy, which has everybody's."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote, urlencode

from slipway.google.answers import Json, shaped
from slipway.google.endpoints import Endpoints
from slipway.google.failures import Call
from slipway.google.session import Session

Holder = Literal["project", "account", "bucket"]
"""A kind of resource with a policy of its own."""

_SERVICES = {"project": "resourcemanager.projects", "account": "iam.serviceAccounts", "bucket": "storage.buckets"}


@dataclass(frozen=True, order=True)
class Bound:
    """A member's role on a resource."""

    role: str
    member: str
    #: The condition's title, empty without one.
    condition: str = ""

    @property
    def under(self) -> str:
        """The condition as text: ` under condition night`; empty without one."""
        return f" under condition {self.condition}" if self.condition else ""


class Permissions:
    """A client that asks each service about its own resources, by their kind and name. Raises CloudError."""

    def __init__(self, session: Session, endpoints: Endpoints, project: str) -> None:
        self._session = session
        self._bases = {
            "project": f"{endpoints.of('projects')}projects/",
            "account": f"{endpoints.of('iam')}projects/{project}/serviceAccounts/",
            "bucket": f"{endpoints.of('storage')}b/",
        }

    def held(self, what: Holder, name: str, wanted: Iterable[str]) -> frozenset[str]:
        """Return those of the permissions `wanted` that the caller has."""
        call = Call(f"ask what may be done on {what} {name}", "", _on(what, name))
        url = self._bases[what] + quote(name, safe="@:")
        if what == "bucket":
            query = urlencode([("permissions", permission) for permission in wanted])
            answer = self._session.get(f"{url}/iam/testPermissions?{query}", call)
        else:
            body = {"permissions": list(wanted)}
            answer = self._session.post(f"{url}:testIamPermissions", call, body, idempotent=True)
        listed = answer.get("permissions", ())
        return frozenset(map(str, listed)) if isinstance(listed, list) else frozenset()

    def policy(self, what: Holder, name: str) -> frozenset[Bound]:
        """Return the roles of all members."""
        call = Call(f"read who may use {what} {name}", f"{_SERVICES[what]}.getIamPolicy", _on(what, name))
        url = self._bases[what] + quote(name, safe="@:")
        if what == "bucket":
            answer = self._session.get(f"{url}/iam", call, {"optionsRequestedPolicyVersion": 3})
        else:
            body = {"options": {"requestedPolicyVersion": 3}}
            answer = self._session.post(f"{url}:getIamPolicy", call, body, idempotent=True)
        return shaped(call, _bound, answer)


def _on(what: str, name: str) -> str:
    return f"gs://{name}" if what == "bucket" else f"{what} {name}"


def _bound(policy: Json) -> frozenset[Bound]:
    return frozenset(
        Bound(
            role=str(binding["role"]),
            member=str(member),
            condition=str(binding.get("condition", {}).get("title", "")),
        )
        for binding in policy.get("bindings", ())
        for member in binding.get("members", ())
    )
