"""Roles of a job before and after: one that is called otherwise is the same, and of one that comes or goes is told what
no other role has."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeVar

from slipway.catalog.model import Offer

Leaf = TypeVar("Leaf")
_PATH = re.compile(r"pools/(?P<role>[^/]+)/(?P<rest>.+)")


def renamed_roles(old: Offer, new: Offer) -> Mapping[str, str]:
    """New names by old ones. By place, where there are as many as before."""
    if len(old.roles) != len(new.roles):
        return {}
    pairs = zip(old.roles, new.roles, strict=True)
    return {one: other for one, other in pairs if one not in new.roles and other not in old.roles}


def with_roles(leaves: Mapping[str, Leaf], renamed: Mapping[str, str]) -> Mapping[str, Leaf]:
    return {_under(path, renamed): leaf for path, leaf in leaves.items()}


def repeats(path: str, leaves: Mapping[str, Leaf], others: Mapping[str, Leaf]) -> bool:
    """Tell whether it is of a role that only `leaves` have, and another one there has the same. Machines are always
    told."""
    found = _PATH.fullmatch(path)
    if found is None or found["rest"] == "machines" or found["role"] in _roles(others):
        return False
    beside = (f"pools/{role}/{found['rest']}" for role in _roles(leaves) if role != found["role"])
    return any(leaves.get(one) == leaves.get(path) for one in beside)


def _under(path: str, renamed: Mapping[str, str]) -> str:
    found = _PATH.fullmatch(path)
    return f"pools/{renamed[found['role']]}/{found['rest']}" if found and found["role"] in renamed else path


def _roles(leaves: Mapping[str, Leaf]) -> frozenset[str]:
    return frozenset(found["role"] for path in leaves if (found := _PATH.fullmatch(path)))
