"""Who may do what: whoever asks (each service tells that of its own resources, and asking needs no role), and by a
resource's policy everybody."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote, urlencode

from slipway.cloud.answers import Json, shaped
from slipway.cloud.endpoints import Endpoints
from slipway.cloud.failures import Call
from slipway.cloud.session import Session


@dataclass(frozen=True)
class Bound:
    """A role that a member has on a resource. `condition` is its title, empty without one."""

    role: str
    member: str
    condition: str = ""


class Permissions:
    """`on_…` give those of `wanted` that whoever asks holds, `policy_of_…` what everybody has. All raise `CloudError`,
    NotFound for what is not there."""

    def __init__(self, session: Session, endpoints: Endpoints) -> None:
        self._session, self._endpoints = session, endpoints

    def on_project(self, project: str, wanted: Iterable[str]) -> frozenset[str]:
        return self._asked(f"{self._endpoints.projects}projects/{project}", f"project {project}", wanted)

    def on_account(self, project: str, address: str, wanted: Iterable[str]) -> frozenset[str]:
        url = f"{self._endpoints.iam}projects/{project}/serviceAccounts/{address}"
        return self._asked(url, f"account {address}", wanted)

    def on_bucket(self, bucket: str, wanted: Iterable[str]) -> frozenset[str]:
        query = urlencode([("permissions", one) for one in wanted])
        url = f"{self._endpoints.storage}b/{quote(bucket, safe='')}/iam/testPermissions?{query}"
        return _held(self._session.get(url, _call(f"gs://{bucket}")))

    def policy_of_project(self, project: str) -> frozenset[Bound]:
        permission = "resourcemanager.projects.getIamPolicy"
        return self._policy(f"{self._endpoints.projects}projects/{project}", f"project {project}", permission)

    def policy_of_account(self, project: str, address: str) -> frozenset[Bound]:
        url = f"{self._endpoints.iam}projects/{project}/serviceAccounts/{address}"
        return self._policy(url, f"account {address}", "iam.serviceAccounts.getIamPolicy")

    def policy_of_bucket(self, bucket: str) -> frozenset[Bound]:
        call = Call(f"read who may use gs://{bucket}", "storage.buckets.getIamPolicy", f"gs://{bucket}")
        url = f"{self._endpoints.storage}b/{quote(bucket, safe='')}/iam"
        return shaped(call, _bound, self._session.get(url, call, {"optionsRequestedPolicyVersion": 3}))

    def _policy(self, url: str, on: str, permission: str) -> frozenset[Bound]:
        call = Call(f"read who may use {on}", permission, on)
        body = {"options": {"requestedPolicyVersion": 3}}
        return shaped(call, _bound, self._session.post(f"{url}:getIamPolicy", call, body, idempotent=True))

    def _asked(self, url: str, on: str, wanted: Iterable[str]) -> frozenset[str]:
        body = {"permissions": list(wanted)}
        return _held(self._session.post(f"{url}:testIamPermissions", _call(on), body, idempotent=True))


def _call(on: str) -> Call:
    return Call(f"ask what may be done on {on}", "", on)


def _held(answer: Json) -> frozenset[str]:
    listed = answer.get("permissions", ())
    return frozenset(map(str, listed)) if isinstance(listed, list) else frozenset()


def _bound(policy: Json) -> frozenset[Bound]:
    return frozenset(
        Bound(str(one["role"]), str(member), str(one.get("condition", {}).get("title", "")))
        for one in policy.get("bindings", ())
        for member in one.get("members", ())
    )
