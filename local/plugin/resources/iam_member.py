"""The IAM members of a project, a bucket and a service account: one binding of one member to one role.

A policy is one document for all its bindings. So a change reads it with its etag, changes it, writes it, and begins
again when somebody else was first. Members of one policy in one program wait for each other instead.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any

from ..cloud import Cloud
from ..kind import Found, ImportIdError, Kind
from ..refusals import ACCOUNT_LINK, member, unless_matching
from ..schema import Field, Schema, output, record, text
from ..settings import Settings
from ..transport import CloudError, GoogleError, NoAnswerError
from ..values import Properties

_ATTEMPTS = 10
_VERSION = "3"
_CONDITION: Mapping[str, Field] = {
    "title": text(required=True, replace=True),
    "expression": text(required=True, replace=True),
    "description": text(replace=True),
}


@dataclass(frozen=True)
class Policy:
    """The place of a type's policies."""

    token: str
    #: The property that names the policy's owner.
    owner: str
    service: str
    prefix: str
    """The prefix of the owner's name in the state (`b/`)."""
    by_document: bool
    """Whether the policy is a document of its own (GET and PUT) rather than read and written by method calls."""

    def read(self, cloud: Cloud, owner: str) -> dict[str, Any]:
        """Return the policy with its etag."""
        if self.by_document:
            params = {"optionsRequestedPolicyVersion": _VERSION}
            return dict(cloud.send(self.service, "GET", f"{owner}/iam", params=params))
        if self.service == "iamBeta":
            params = {"options.requestedPolicyVersion": _VERSION}
            return dict(cloud.send(self.service, "POST", f"{owner}:getIamPolicy", params=params))
        body = {"options": {"requestedPolicyVersion": int(_VERSION)}}
        return dict(cloud.send(self.service, "POST", f"{owner}:getIamPolicy", body=body))

    def write(self, cloud: Cloud, owner: str, policy: Mapping[str, Any]) -> None:
        """Write the policy; its etag must still be the current one."""
        if self.by_document:
            cloud.send(self.service, "PUT", f"{owner}/iam", body=policy)
        else:
            cloud.send(self.service, "POST", f"{owner}:setIamPolicy", body={"policy": policy})


PROJECT = Policy("gcp:projects/iAMMember:IAMMember", "project", "resourceManager", "", False)
BUCKET = Policy("gcp:storage/bucketIAMMember:BucketIAMMember", "bucket", "storage", "b/", True)
SERVICE_ACCOUNT = Policy("gcp:serviceaccount/iAMMember:IAMMember", "serviceAccountId", "iamBeta", "", False)


class IamMember(Kind):
    """The binding of one member to one role, none of which can change."""

    def __init__(self, policy: Policy) -> None:
        def same(old: Any, new: Any) -> bool:
            return str(old).removeprefix(policy.prefix) == str(new).removeprefix(policy.prefix)

        account = unless_matching("service_account_id", ACCOUNT_LINK) if policy is SERVICE_ACCOUNT else None
        fields: Mapping[str, Field] = {
            policy.owner: text(required=True, replace=True, same=same, refusal=account),
            "role": text(required=True, replace=True),
            "member": text(required=True, replace=True, same=lambda a, b: _folded(a) == _folded(b), refusal=member),
            "condition": record(_CONDITION, replace=True),
            "etag": output(),
        }
        self._policy = policy
        self._locks: dict[str, Lock] = {}
        self._all = Lock()
        timeouts = {"create": 20 * 60.0} if policy is BUCKET else {}
        # Of the three the official provider has this for a project's alone.
        first = policy is PROJECT
        self.schema = Schema(policy.token, "IAM Member", fields, delete_first=first, timeouts=timeouts)

    def create(self, cloud: Cloud, planned: Properties) -> Found:
        """Add the member to the role's binding."""
        self._change(cloud, planned, _add)
        return self.reread(cloud, str(planned["member"]), planned)

    def read(self, cloud: Cloud, id: str, state: Properties) -> Found | None:
        """Look for the member in the role's binding."""
        path = self._path(state)
        try:
            policy = self._policy.read(cloud, path)
        except GoogleError as error:
            if error.code == 404:
                return None
            raise CloudError(f"Error retrieving IAM policy for {path}: {error}") from error
        member = next((entry for entry in _members(policy, state) if _folded(entry) == _folded(state["member"])), None)
        if member is None:
            return None
        owner = str(state[self._policy.owner]).removeprefix(self._policy.prefix)
        read = {name: state[name] for name in ("role", "condition") if state.get(name)}
        read |= {self._policy.owner: self._policy.prefix + owner, "member": member, "etag": policy.get("etag", "")}
        title = f"/{state['condition']['title']}" if state.get("condition") else ""
        return Found(f"{self._policy.prefix}{owner}/{state['role']}/{member}{title}", read)

    def update(self, cloud: Cloud, id: str, old: Properties, planned: Properties) -> Found:
        """Raise an error: nothing of a member can be changed in place."""
        raise CloudError(f"{self.schema.token}: a member can't be changed, only replaced")

    def delete(self, cloud: Cloud, id: str, state: Properties) -> None:
        """Take the member out of the role's binding."""
        self._change(cloud, state, _remove)

    def locate(self, id: str, settings: Settings) -> Found:
        """Parse `OWNER ROLE MEMBER`, with spaces between."""
        parts = id.split(" ")
        if len(parts) != 3:
            raise ImportIdError(self.schema.token, id, (f"{{{self._policy.owner}}} {{role}} {{member}}",))
        return Found(id, {self._policy.owner: parts[0], "role": parts[1], "member": parts[2]})

    def _change(self, cloud: Cloud, state: Properties, change: Any) -> None:
        path = self._path(state)
        with self._all:
            one_at_a_time = self._locks.setdefault(path, Lock())
        with one_at_a_time:
            try:
                self._change_policy(cloud, path, state, change)
            except NoAnswerError:
                # The official provider sends the members of a project as one, and after a failure each by itself.
                if self._policy is not PROJECT:
                    raise
                self._change_policy(cloud, path, state, change)

    def _change_policy(self, cloud: Cloud, path: str, state: Properties, change: Any) -> None:
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                policy = self._policy.read(cloud, path)
                if change(policy, state):
                    self._policy.write(cloud, path, policy)
                return
            except GoogleError as error:
                if error.code == 404 and change is _remove:
                    return
                if error.code not in (409, 412) or attempt == _ATTEMPTS:
                    raise CloudError(f"Error applying IAM policy for {path}: {error}") from error
                cloud.pace.pause(min(0.1 * 2**attempt, 5.0))

    def _path(self, state: Properties) -> str:
        owner = str(state[self._policy.owner])
        if self._policy is PROJECT:
            return f"projects/{owner.removeprefix('projects/')}"
        return self._policy.prefix + owner.removeprefix(self._policy.prefix)


def _folded(member: str) -> str:
    kind, colon, name = str(member).partition(":")
    return f"{kind}:{name.lower()}" if colon and kind in ("user", "group", "domain", "serviceAccount") else str(member)


def _binding(policy: Mapping[str, Any], state: Properties) -> Any:
    wanted = _condition(state)
    for binding in policy.get("bindings") or ():
        if binding.get("role") == state["role"] and (binding.get("condition") or None) == wanted:
            return binding
    return None


def _condition(state: Properties) -> dict[str, str] | None:
    given = state.get("condition") or {}
    return {name: given[name] for name in _CONDITION if given.get(name)} or None


def _members(policy: Mapping[str, Any], state: Properties) -> list[str]:
    binding = _binding(policy, state)
    return list(binding.get("members") or ()) if binding else []


def _add(policy: dict[str, Any], state: Properties) -> bool:
    if any(_folded(member) == _folded(state["member"]) for member in _members(policy, state)):
        return False
    binding = _binding(policy, state)
    if binding is None:
        condition = _condition(state)
        binding = {"role": state["role"], "members": []} | ({"condition": condition} if condition else {})
        policy["bindings"] = [*(policy.get("bindings") or ()), binding]
    binding["members"] = [*(binding.get("members") or ()), state["member"]]
    policy["version"] = int(_VERSION)
    return True


def _remove(policy: dict[str, Any], state: Properties) -> bool:
    binding = _binding(policy, state)
    if binding is None:
        return False
    left = [member for member in binding.get("members") or () if _folded(member) != _folded(state["member"])]
    if len(left) == len(binding.get("members") or ()):
        return False
    binding["members"] = left
    policy["bindings"] = [entry for entry in policy["bindings"] if entry.get("members")]
    policy["version"] = int(_VERSION)
    return True
