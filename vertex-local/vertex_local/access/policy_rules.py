"""Rules for an IAM policy: which roles and members each kind of resource takes, and who stays a project's owner.

Sources: the constraints in the discovery documents (Policy, Binding, projects.setIamPolicy) and the page on grantable
roles; the words of errors are those that people report.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from ..wire import ApiError, invalid_argument
from . import roles

PUBLIC = frozenset({"allUsers", "allAuthenticatedUsers"})
"""Members that are everybody."""
_HEADS = {"storage": "storage.", "iam": "iam.serviceAccounts.", "secretmanager": "secretmanager."}
"""Permissions on a kind of resource, by its service: a role is grantable where it has one of them."""
_OF_STORAGE = ("projectOwner", "projectEditor", "projectViewer")
_OWNER = "roles/owner"
_DELETED = "deleted:"
_MOST_PRINCIPALS, _MOST_GROUPS = 1500, 250

Bindings = Sequence[Mapping[str, Any]]


def check(resource: str, bindings: Bindings, before: Bindings, ours: Callable[[str], bool]) -> None:
    """Raise 400 for bindings that a resource with `before` can't have; `ours` tells its project's names."""
    service = _service(resource)
    members = [member for binding in bindings for member in binding.get("members", [])]
    if len(members) > _MOST_PRINCIPALS:
        raise invalid_argument(
            f"The number of members in the policy ({len(members):,}) is larger than the maximum allowed size "
            f"{_MOST_PRINCIPALS:,}."
        )
    # A group counts once, a domain as often as it is named (the page on quotas and limits).
    groups = {member for member in members if member.startswith("group:")}
    if len(groups) + sum(member.startswith("domain:") for member in members) > _MOST_GROUPS:
        raise invalid_argument(f"The bindings of a policy can refer to {_MOST_GROUPS} groups and domains.")
    for binding in bindings:
        _check_role(service, binding.get("role", ""), ours)
        # Cloud Storage drops a binding without members.
        if not binding.get("members") and service != "storage":
            raise invalid_argument(f"The binding of {binding['role']} must contain at least one principal.")
    for member in members:
        kind, _, name = member.partition(":")
        if service == "cloudresourcemanager" and member in PUBLIC:
            raise invalid_argument(f"Invalid member: {member}. A project does not support it.")
        if kind in _OF_STORAGE and service != "storage":
            raise invalid_argument(f"Invalid member: {member}. It is for policies of buckets alone.")
        if kind in _OF_STORAGE and not ours(name):
            raise invalid_argument(f"Project {name} does not exist.")
    for error in _owner_errors(bindings, before) if service == "cloudresourcemanager" else ():
        raise error


def members_of(bindings: Bindings) -> set[str]:
    """Return all members, each once."""
    return {member for binding in bindings for member in binding["members"]}


def check_deleted(members: Collection[str]) -> None:
    """Raise 400 for an account beside a deleted one of its name."""
    for gone in sorted(member for member in members if member.startswith(_DELETED)):
        live = gone.removeprefix(_DELETED).partition("?uid=")[0]
        if live in members:
            raise invalid_argument(f"Inconsistent representation of deleted member: '{gone}' and '{live}'.")


def check_permission(resource: str, permission: str) -> None:
    """Raise 400 INVALID_ARGUMENT for a permission that nobody can have on a kind of resource."""
    if not permission.startswith(_HEADS.get(_service(resource), "")):
        raise invalid_argument(f"Permission {permission} is not valid for this resource.")


def _service(resource: str) -> str:
    return resource.removeprefix("//").partition(".")[0]


def _check_role(service: str, name: str, ours: Callable[[str], bool]) -> None:
    role = roles.find(name)
    if role is None or (name.startswith("projects/") and not ours(name.split("/")[1])):
        raise invalid_argument(
            f"Role {name} is not supported for this resource. (The local cloud knows Google's predefined roles "
            "as far as its services use them: vertex_local/access/roles.toml.)"
        )
    foreign = (
        name.startswith("roles/") and not name.startswith("roles/storage.")
        if service == "storage"
        else role.only_on == "bucket"
    )
    if foreign or not role.concerns(_HEADS.get(service, "")):
        raise invalid_argument(f"Role {name} is not supported for this resource.")


def _owner_errors(bindings: Bindings, before: Bindings) -> Iterator[ApiError]:
    """Yield what is wrong with the owners of a project without an organisation: a person becomes one by accepting an
    invitation, and one person, who has accepted the terms of service, has to stay one."""
    had, have = _owners(before), _owners(bindings)
    for member in have:
        kind = member.partition(":")[0]
        if member not in had and kind in ("user", "group", "domain"):
            yield _owner_error("SOLO_MUST_INVITE_OWNERS" if kind == "user" else "SOLO_GROUP_OWNERS_DISALLOWED", member)
    if not any(member.startswith("user:") for member in have):
        yield _owner_error("SOLO_REQUIRE_TOS_ACCEPTOR", "")


def _owners(bindings: Bindings) -> list[str]:
    return [member for item in bindings if item.get("role") == _OWNER for member in item.get("members", [])]


def _owner_error(kind: str, member: str) -> ApiError:
    detail = {"@type": "type.googleapis.com/google.cloudresourcemanager.v1.ProjectIamPolicyError", "type": kind}
    named = {"member": member} if member else {}
    return invalid_argument("Request contains an invalid argument.", [{**detail, **named, "role": _OWNER}])
