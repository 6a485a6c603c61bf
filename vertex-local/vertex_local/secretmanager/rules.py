"""Rules for a secret, besides those of its discovery document."""

from collections.abc import Iterator, Mapping
from typing import Any

from .. import labels
from ..regions import REGIONS
from ..wire import invalid_argument


def check(secret: Mapping[str, Any]) -> None:
    """Raise 400 INVALID_ARGUMENT for a secret that can't be, in the form in which it is kept."""
    for why in (*_replication(secret.get("replication", {})), *labels.mistakes(secret.get("labels", {}))):
        raise invalid_argument(why)


def _replication(policy: Mapping[str, Any]) -> Iterator[str]:
    if len(policy) != 1:
        yield "The replication policy is required: either automatic or userManaged."
    replicas = policy.get("userManaged", {}).get("replicas", [])
    if "userManaged" in policy and not replicas:
        yield "A user-managed replication names at least one replica."
    places = [replica.get("location", "") for replica in replicas]
    for at, place in enumerate(places):
        if place not in REGIONS:
            yield f'"{place}" is not a location for a replica.'
        elif place in places[:at]:
            yield f'The location "{place}" is named more than once.'
