"""Google's predefined roles, those of a project, and the permissions in them, from `roles.toml`."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True)
class Role:
    """A role."""

    name: str
    permissions: frozenset[str]
    prefixes: tuple[str, ...]
    #: The one kind of resource that takes it (`bucket`), or "" for any.
    only_on: str

    def grants(self, permission: str) -> bool:
        return permission in self.permissions or permission.startswith(self.prefixes)

    def concerns(self, head: str) -> bool:
        """Return whether the role has any permission that begins so."""
        return any(name.startswith(head) for name in self.permissions) or any(
            name.startswith(head) or head.startswith(name) for name in self.prefixes
        )


def find(name: str) -> Role | None:
    """Return a role by its name, `roles/…` or `projects/ID/roles/…`; None for an unknown one."""
    return _table().get(re.sub("^projects/[^/]+/", "projects/*/", name))


def permissions(role: Role) -> list[str]:
    """Return the permissions in a role: of those that any role names, where it has all that begin alike."""
    every = {name for known in _table().values() for name in known.permissions}
    return sorted(name for name in every if role.grants(name))


@cache
def _table() -> Mapping[str, Role]:
    rows = tomllib.loads(Path(__file__).with_name("roles.toml").read_text(encoding="utf-8"))
    return {
        name: Role(
            name,
            frozenset(permission for permission in row["permissions"] if not permission.endswith("*")),
            tuple(permission.removesuffix("*") for permission in row["permissions"] if permission.endswith("*")),
            row.get("on", ""),
        )
        for name, row in rows.items()
    }
