"""IAM policies: who has which role on a project, a bucket or a service account."""

import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter, itemgetter
from typing import Any

from .. import organization
from ..identities import Project
from ..repository import Repository
from ..settings import Settings
from ..store import Store
from ..wire import ApiError, aborted, invalid_argument, unimplemented
from . import policy_rules

_VERSIONS = (0, 1, 3)
_MEMBER = re.compile(
    r"(user|serviceAccount|group):[^\s@]+@[^\s@]+|domain:[^\s@]+\.[^\s@]+"
    r"|(projectOwner|projectEditor|projectViewer|principal|principalSet):[^\s]+"
    r"|deleted:(user|serviceAccount|group):[^\s?]+\?uid=[^\s]+|allUsers|allAuthenticatedUsers"
)


def project_name(project: str) -> str:
    return f"//cloudresourcemanager.googleapis.com/projects/{project}"


def bucket_name(bucket: str) -> str:
    return f"//storage.googleapis.com/projects/_/buckets/{bucket}"


def concurrent_change() -> ApiError:
    """Return the error of IAM and Resource Manager for a policy that changed since it was read."""
    return aborted(
        "There were concurrent policy changes. Please retry the whole read-modify-write with exponential backoff. "
        "The request's ETag did not match the current policy's ETag."
    )


def check_version(version: int) -> None:
    """Raise 400 INVALID_ARGUMENT for a version that no policy has, whether one is sent or asked for."""
    if version not in _VERSIONS:
        raise invalid_argument(f"Invalid policy version {version}: it is 0, 1 or 3.")


def account_name(project: str, email: str) -> str:
    return f"//iam.googleapis.com/projects/{project}/serviceAccounts/{email}"


@dataclass(frozen=True)
class _Policy:
    """The policy of a resource (full name), and how often it was changed."""

    resource: str
    bindings: Sequence[Mapping[str, Any]] = field(default_factory=list)
    changes: int = 0

    @property
    def etag(self) -> str:
        seen = json.dumps([self.resource, self.changes, self.bindings], sort_keys=True)
        return "BwY" + hashlib.sha256(seen.encode()).hexdigest()[:9]


_POLICIES = Repository(kind="policy", record=_Policy, key=attrgetter("resource"))
ACCOUNTS = Repository(kind="serviceAccount", record=dict, key=itemgetter("email"))


class Policies:
    """The policies by full resource name. Every change gets a new etag; a change with another's etag is a conflict."""

    def __init__(
        self,
        store: Store,
        project: Project,
        settings: Callable[[], Settings],
        projects: Callable[[], Collection[Project]],
    ) -> None:
        self._store, self._project, self._settings, self._projects = store, project, settings, projects

    def get(self, resource: str) -> dict[str, Any]:
        """Return `{version, etag, bindings}`; a resource without a policy has one without bindings."""
        policy = self._find(resource)
        answer: dict[str, Any] = {"version": 1, "etag": policy.etag}
        return {**answer, "bindings": policy.bindings} if policy.bindings else answer

    def set(self, resource: str, policy: Mapping[str, Any], conflict: Callable[[], ApiError]) -> dict[str, Any]:
        """Replace the policy. Raises the error of `conflict` when the etag sent is not the current one, 400
        INVALID_ARGUMENT for an invalid role, member or binding, and 501 for conditions, which would otherwise be
        ignored."""
        check_version(int(policy.get("version") or 0))
        if policy.get("auditConfigs"):
            raise unimplemented("Audit configurations in an IAM policy are not implemented by the local cloud.")
        bindings = self._checked(policy)
        with self._store.transaction():
            current = self._find(resource)
            if policy.get("etag") and policy["etag"] != current.etag:
                raise conflict()
            policy_rules.check(resource, policy.get("bindings", []), current.bindings, self._project.is_called)
            self._check_added(resource, bindings, current.bindings)
            _POLICIES.put(self._store, _Policy(resource, bindings, current.changes + 1))
        return self.get(resource)

    def seed(self, resource: str, bindings: Mapping[str, Iterable[str]]) -> None:
        """Set the first policy of a resource, unchecked."""
        rows = [{"role": role, "members": sorted(members)} for role, members in sorted(bindings.items())]
        _POLICIES.put(self._store, _Policy(resource, rows, changes=1))

    def delete(self, resource: str) -> None:
        _POLICIES.remove(self._store, resource)

    def bindings(self, resource: str) -> list[tuple[str, list[str]]]:
        """Return (role, members) of the resource."""
        return [(binding["role"], binding["members"]) for binding in self._find(resource).bindings]

    def rename_member(self, member: str, successor: str) -> None:
        """Rename a member: a deleted account stays as `deleted:`, so that a new one of its name inherits nothing."""
        with self._store.transaction():
            for policy in _POLICIES.every(self._store):
                if any(member in binding["members"] for binding in policy.bindings):
                    bindings = [
                        {**binding, "members": [successor if name == member else name for name in binding["members"]]}
                        for binding in policy.bindings
                    ]
                    _POLICIES.put(self._store, replace(policy, bindings=bindings, changes=policy.changes + 1))

    def _find(self, resource: str) -> _Policy:
        return _POLICIES.get(self._store, resource) or _Policy(resource)

    def _checked(self, policy: Mapping[str, Any]) -> list[dict[str, Any]]:
        merged: dict[str, set[str]] = {}
        for binding in policy.get("bindings", []):
            role = binding.get("role", "")
            if binding.get("condition"):
                raise unimplemented(
                    f"The binding of {role} has a condition. The local cloud does not evaluate IAM conditions and "
                    "refuses them rather than granting the role without its condition."
                )
            for member in binding.get("members", []):
                self._check_member(member)
                merged.setdefault(role, set()).add(member)
        return [{"role": role, "members": sorted(members)} for role, members in sorted(merged.items())]

    def _check_added(self, resource: str, bindings: policy_rules.Bindings, before: policy_rules.Bindings) -> None:
        """Refuse what an organisation's policy keeps out, of what is new, and live members beside deleted ones."""
        settings, members = self._settings(), policy_rules.members_of(bindings)
        subject = "orgpolicy:" + resource.removeprefix("//").partition("/")[2]
        organization.check_members(settings, self._projects(), subject, members - policy_rules.members_of(before))
        if settings.deleted_member == "reject":
            policy_rules.check_deleted(members)

    def _check_member(self, member: Any) -> None:
        if not isinstance(member, str) or not _MEMBER.fullmatch(member):
            raise invalid_argument(
                f"Invalid member: {member}. A member is user:, serviceAccount:, group: … with a name."
            )
        kind, _, email = member.partition(":")
        ours = kind == "serviceAccount" and email.endswith(self._project.address(""))
        if ours and ACCOUNTS.get(self._store, email) is None:
            raise invalid_argument(f"Service account {email} does not exist.")
