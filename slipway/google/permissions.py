"""Permissions of the caller (reading them needs no role), and a resource's policy, which has everybody's."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Literal
from urllib.parse import quote, urlencode

from slipway.google.answers import Json, shaped
from slipway.google.endpoints import Endpoints
from slipway.google.failures import Call, Conflict, NoAnswer
from slipway.google.session import Session

Holder = Literal["project", "account", "bucket"]
"""A kind of resource with a policy of its own."""

_SERVICES = {"project": "resourcemanager.projects", "account": "iam.serviceAccounts", "bucket": "storage.buckets"}
MOST_PRINCIPALS = 1500
"""The most principals in a policy, each as often as it has a role (docs.cloud.google.com/iam/quotas)."""
MOST_GROUPS = 250
"""The most groups and domains among them: a group counts once, a domain as often as it has a role."""
_DELETED = "deleted:"
DOMAINS = "constraints/iam.allowedPolicyMemberDomains"
_ATTEMPTS = 10
"""So often may somebody else write the same policy first."""


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


def living(member: str) -> str:
    """Return the name of a member without what marks a deleted one, `deleted:user:ada@acme.example?uid=1`: IAM keeps
    those apart, so that nobody made again under that name has their roles."""
    return member.removeprefix(_DELETED).partition("?uid=")[0] if member.startswith(_DELETED) else member


def groups_and_domains(members: Iterable[str]) -> int:
    """Count groups and domains as `MOST_GROUPS` does, of members that are named once for each role."""
    listed = [member.lower() for member in members]
    groups = {member for member in listed if member.startswith("group:")}
    return len(groups) + sum(member.startswith("domain:") for member in listed)


class Permissions:
    """A client that asks each service about its own resources, by their kind and name. Raises CloudError."""

    def __init__(self, session: Session, endpoints: Endpoints, project: str) -> None:
        self._session = session
        self._bases = {
            "project": f"{endpoints.of('projects')}projects/",
            "account": f"{endpoints.of('iam')}projects/{project}/serviceAccounts/",
            "bucket": f"{endpoints.of('storage')}b/",
        }
        self._policies = f"{endpoints.of('policies')}projects/{project}/policies"

    def number(self, project: str) -> str:
        """Return the number of a project, by its id."""
        call = Call(f"look up the number of project {project}", "resourcemanager.projects.get", f"project {project}")
        return str(
            self._session.get(f"{self._bases['project']}{quote(project, safe=':')}", call).get("projectNumber", "")
        )

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
        return shaped(call, _bound, self._read(what, name, call))

    def permitted(self) -> tuple[str, ...]:
        """Return the customers of Google's whose domains members of policies must be of; none where all may be."""
        call = Call("read the organisation's policy on members", "orgpolicy.policy.get")
        url = f"{self._policies}/{DOMAINS.rpartition('/')[2]}:getEffectivePolicy"
        return shaped(call, _allowed, self._session.get(url, call))

    def revoke(self, what: Holder, name: str, grant: Bound, stays: Callable[[], bool]) -> None:
        """Take a role without a condition from its member, unless `stays` tells otherwise: it is asked between the
        reading and the writing, which fails where anybody has written the policy meanwhile. Then all begins again."""
        doing = f"take {grant.role} on {_on(what, name)} from {grant.member}"
        reads, writes = (Call(doing, f"{_SERVICES[what]}.{verb}IamPolicy", _on(what, name)) for verb in ("get", "set"))
        for attempt in range(1, _ATTEMPTS + 1):
            policy = self._read(what, name, reads)
            rest = shaped(reads, partial(without, grant=grant), policy)
            if rest == policy or stays():
                return
            try:
                self._write(what, name, writes, rest)
            except (Conflict, NoAnswer):
                if attempt == _ATTEMPTS:
                    raise
            else:
                return

    def _read(self, what: Holder, name: str, call: Call) -> Json:
        url = self._bases[what] + quote(name, safe="@:")
        if what == "bucket":
            return self._session.get(f"{url}/iam", call, {"optionsRequestedPolicyVersion": 3})
        body = {"options": {"requestedPolicyVersion": 3}}
        return self._session.post(f"{url}:getIamPolicy", call, body, idempotent=True)

    def _write(self, what: Holder, name: str, call: Call, policy: Json) -> None:
        url = self._bases[what] + quote(name, safe="@:")
        if what == "bucket":
            self._session.write("PUT", f"{url}/iam", call, policy)
        else:
            # Its etag permits sending it again: what was done already is a conflict.
            self._session.post(f"{url}:setIamPolicy", call, {"policy": policy}, idempotent=True)


def _on(what: str, name: str) -> str:
    return f"gs://{name}" if what == "bucket" else f"{what} {name}"


def without(policy: Json, *, grant: Bound) -> Json:
    """Return the policy without a member's role; the same where the member does not have it."""
    bindings = []
    for binding in policy.get("bindings", ()):
        members = [str(member) for member in binding.get("members", ())]
        if binding["role"] == grant.role and not binding.get("condition"):
            members = [member for member in members if member.lower() != grant.member.lower()]
        if members:
            bindings.append({**binding, "members": members})
    return policy if bindings == list(policy.get("bindings", ())) else {**policy, "bindings": bindings}


def _allowed(policy: Json) -> tuple[str, ...]:
    rules = policy.get("spec", {}).get("rules", ())
    values = (str(value) for rule in rules for value in rule.get("values", {}).get("allowedValues", ()))
    return tuple(value.removeprefix("is:") for value in values)


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
