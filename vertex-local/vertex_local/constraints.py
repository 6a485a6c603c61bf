"""Constraints of an organisation's policies: their names, the values that each takes, and what a value lets through."""

from collections.abc import Mapping, Sequence
from typing import Literal

from .regions import REGIONS

Kind = Literal["enforced", "allowed", "denied"]
"""What a policy of a constraint has: a switch, a list of what is allowed, or one of what is denied."""
CONSTRAINTS: Mapping[str, Kind] = {
    "gcp.resourceLocations": "allowed",
    "gcp.restrictCmekCryptoKeyProjects": "allowed",
    "gcp.restrictNonCmekServices": "denied",
    "iam.allowedPolicyMemberDomains": "allowed",
    "iam.disableServiceAccountCreation": "enforced",
    "iam.disableServiceAccountKeyCreation": "enforced",
    "iam.managed.disableServiceAccountCreation": "enforced",
    "iam.managed.disableServiceAccountKeyCreation": "enforced",
    "storage.publicAccessPrevention": "enforced",
    "storage.uniformBucketLevelAccess": "enforced",
}
"""Constraints that the local cloud holds to, by their names without `constraints/`."""
Policy = Mapping[str, tuple[str, ...]]
"""The policies in force: a constraint's name to its values, `("true",)` for a switch."""

_SWITCH = {"true": True, "false": False, "": False}
# Groups of locations (`in:eu-locations`): the multi-regions in each, and how its regions begin. By the page on resource
# locations; a country's groups are left out.
_GROUPS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "us": (("us", "nam4"), ("us-",)),
    "eu": (("eu", "eur4", "eur5", "eur7", "eur8"), ("europe-",)),
    "europe": (("eu", "eur4", "eur5", "eur7", "eur8"), ("europe-",)),
    "asia": (("asia", "asia1"), ("asia-",)),
    "africa": ((), ("africa-",)),
    "australia": ((), ("australia-",)),
    "northamerica": ((), ("northamerica-", "us-")),
    "southamerica": ((), ("southamerica-",)),
    "me": ((), ("me-",)),
}
_OUTSIDE_THE_UNION = ("europe-west2", "europe-west6")
"""London and Zurich, which are in Europe."""


def parsed(name: str, value: object) -> tuple[str, ...]:
    """Return the values of a constraint from a setting: a switch, a list, or a text with blanks between; () where no
    policy is in force. Raises ValueError."""
    kind = CONSTRAINTS.get(name)
    if kind is None:
        raise ValueError(f"there is no constraint '{name}'; known are {', '.join(CONSTRAINTS)}")
    words = [str(word) for word in value] if isinstance(value, list | tuple) else str(value).split()
    if kind != "enforced":
        if name == "gcp.resourceLocations":
            _check_locations(words)
        return tuple(words)
    text = " ".join(words).lower()
    if text not in _SWITCH:
        raise ValueError(f"'{name}' is true or false, not '{value}'")
    return ("true",) if _SWITCH[text] else ()


def rule(name: str, values: Sequence[str]) -> dict[str, object]:
    """Return the rule of a policy as the service shows it; without values that of a constraint nobody has set."""
    if CONSTRAINTS[name] == "enforced":
        return {"enforce": bool(values)}
    if not values:
        return {"allowAll": True}
    return {"values": {f"{CONSTRAINTS[name]}Values": list(values)}}


def allows_location(values: Sequence[str], location: str) -> bool:
    """Return whether a policy of locations, if any, lets through what is to be in a location."""
    return not values or any(_contains(value, location.lower()) for value in values)


def allows_key_project(values: Sequence[str], key: str) -> bool:
    """Return whether a policy of key projects, if any, lets a key through. Folders and organisations are not known."""
    project = "/".join(key.split("/")[:2])
    return not values or project in {value.removeprefix("is:").removeprefix("under:") for value in values}


def _check_locations(values: Sequence[str]) -> None:
    for value in values:
        name = value.removeprefix("in:").removesuffix("-locations")
        if value.startswith("in:") and name not in _GROUPS and name not in REGIONS:
            raise ValueError(
                f"'gcp.resourceLocations' has the group '{value}'; known are {', '.join(_GROUPS)}, regions"
            )


def _contains(value: str, location: str) -> bool:
    if not value.startswith("in:"):
        return value.removeprefix("is:").lower() == location
    group = value.removeprefix("in:").removesuffix("-locations")
    names, heads = _GROUPS.get(group, ((group,), ()))
    return location in names or (location.startswith(heads) and not (group == "eu" and location in _OUTSIDE_THE_UNION))
