"""Tokens and permissions: the sender of a request, and whether it is allowed."""

import hashlib
import re
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from types import MappingProxyType

from ..clock import Clock
from ..identities import Project
from ..repository import Repository
from ..settings import Settings
from ..store import Store
from ..wire import invalid_argument, permission_denied
from . import policies, policy_rules, roles
from .keys import Keys
from .policies import Policies

TOKEN_HEAD = "ya29."
JOB = "job "
"""Prefix of the purpose of a job's tokens."""
_SIGNED_HEAD = "eyJ"
"""Prefix of every JSON web token."""
_PERMISSION = re.compile(r"[a-z][A-Za-z0-9]*(\.[A-Za-z0-9-]+){2,}")
_CONVENIENCE = {"projectOwner": "roles/owner", "projectEditor": "roles/editor", "projectViewer": "roles/viewer"}
NOBODY: Mapping[str, Sequence[str]] = MappingProxyType({})


@dataclass(frozen=True)
class _Token:
    """A token by its digest, and its principal."""

    digest: str
    principal: str
    #: A job's name.
    purpose: str
    until: str | None = None


_TOKENS = Repository(kind="token", record=_Token, key=attrgetter("digest"))


class Access:
    """Principals by token and permissions by role. The store keeps digests of tokens, never tokens."""

    def __init__(
        self,
        store: Store,
        policies: Policies,
        clock: Clock,
        settings: Callable[[], Settings],
        keys: Keys,
        project: Project,
    ) -> None:
        self._store, self._policies, self._clock, self._settings = store, policies, clock, settings
        self.keys, self._project = keys, project

    def identify(self, token: str) -> str | None:
        """Return the token's principal (`user:…` or `serviceAccount:…`), or None for an unknown or revoked token.

        A text that a role's key signed is as good as a token: Google's clients save themselves the exchange.
        """
        if token.startswith(_SIGNED_HEAD):
            return self.keys.principal(token)
        token_record = _TOKENS.get(self._store, _digest(token))
        ended = token_record and token_record.until and datetime.fromisoformat(token_record.until) <= self._clock.now()
        return token_record.principal if token_record and not ended else None

    def mint(self, principal: str, purpose: str, until: datetime | None = None) -> str:
        """Return a new token of a principal, for a `purpose` (a job's name), valid `until` then or a revocation."""
        token = f"{TOKEN_HEAD}local-" + secrets.token_urlsafe(24)
        self.adopt(token, principal, purpose, until)
        return token

    def adopt(self, token: str, principal: str, purpose: str, until: datetime | None = None) -> None:
        """Accept a token that was made before, so that people's shells stay valid after a restart."""
        ends = until.isoformat() if until else None
        _TOKENS.put(self._store, _Token(_digest(token), principal, purpose, ends))

    def is_of_job(self, token: str) -> bool:
        """Return whether a token is that of a job's processes, which are within the project's perimeter."""
        token_record = _TOKENS.get(self._store, _digest(token))
        return token_record is not None and token_record.purpose.startswith(JOB)

    def revoke_purpose(self, purpose: str) -> None:
        """Revoke all tokens minted for a purpose."""
        with self._store.transaction():
            for token in _TOKENS.every(self._store):
                if token.purpose == purpose:
                    _TOKENS.remove(self._store, token.digest)

    def granted(
        self,
        principal: str,
        permission: str,
        resource: str | None = None,
        *,
        inherits: bool = True,
        more: Mapping[str, Sequence[str]] = NOBODY,
    ) -> bool:
        """Return whether a role on the project, or on the resource (full name), gives the principal the permission.

        A resource of another project `inherits` nothing: a role on the resource alone counts. `more` are further roles
        with their members that count.
        """
        return any(role.grants(permission) for role in self._roles(principal, resource, inherits, more))

    def require(self, principal: str, permission: str, project: str, resource: str | None = None) -> None:
        """Raise 403 PERMISSION_DENIED in Google's words unless granted.

        `project` is an id or a number; another project than this one is denied like one that does not exist. `resource`
        is a full resource name (`//service/…`); its own policy counts besides the project's.
        """
        known = self._project.is_called(project)
        if known and self.granted(principal, permission, resource):
            return
        service = permission.partition(".")[0]
        host = "cloudresourcemanager" if service == "resourcemanager" else service
        name = resource or f"//{host}.googleapis.com/projects/{project}"
        raise permission_denied(f"Permission '{permission}' denied on resource '{name}' (or it may not exist).")

    def require_act_as(self, principal: str, email: str) -> None:
        """Raise 403 PERMISSION_DENIED unless the principal may run things as the service account.

        A role on the project is one on its own accounts: that of another project, or what is no account at all,
        needs a grant of its own.
        """
        resource, inherits = policies.account_name(self._project.id, email), self._project.owns(email)
        if not self.granted(principal, "iam.serviceAccounts.actAs", resource, inherits=inherits):
            raise permission_denied(
                f"You do not have permission to act as service_account: {email}. "
                "(or the resource may not exist). Permission 'iam.serviceAccounts.actAs' is needed on it."
            )

    def tested(self, principal: str, permissions: list[str], resource: str | None = None) -> list[str]:
        """Return which of `permissions` the principal has. Raises 400 for one that is none on this resource."""
        for name in permissions:
            if not _PERMISSION.fullmatch(name):
                raise invalid_argument(f"Permission {name} is not valid for this resource.")
            policy_rules.check_permission(resource or "", name)
        return [name for name in permissions if self.granted(principal, name, resource)]

    def _roles(
        self, principal: str, resource: str | None, inherits: bool, more: Mapping[str, Sequence[str]]
    ) -> Iterator[roles.Role]:
        project = policies.project_name(self._project.id)
        on_project = self._policies.bindings(project)
        names = self._names(principal, on_project)
        bindings = on_project if inherits else []
        if resource is not None and resource != project:
            bindings = [*bindings, *self._policies.bindings(resource)]
        for name, members in (*bindings, *more.items()):
            if (role := roles.find(name)) and not names.isdisjoint(members):
                yield role

    def _names(self, principal: str, on_project: list[tuple[str, list[str]]]) -> set[str]:
        names = {principal, "allUsers", "allAuthenticatedUsers", "domain:" + principal.rpartition("@")[2]}
        groups: Mapping[str, tuple[str, ...]] = self._settings().groups
        names.update(group for group, members in groups.items() if principal in members)
        for word, role in _CONVENIENCE.items():
            if any(held == role and not names.isdisjoint(members) for held, members in on_project):
                names.add(f"{word}:{self._project.id}")
        return names


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
