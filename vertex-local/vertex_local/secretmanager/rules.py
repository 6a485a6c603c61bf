"""Rules for a secret, besides those of its discovery document."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..regions import REGIONS
from ..wire import invalid_argument

_LABEL_KEY, _LABEL_VALUE = re.compile(r"[^\W\d_][-\w]{0,62}"), re.compile(r"[-\w]{0,63}")
_MOST_LABELS, _LABEL_BYTES = 64, 128


def check(secret: Mapping[str, Any]) -> None:
    """Raise 400 INVALID_ARGUMENT for a secret that can't be, in the form in which it is kept."""
    for why in (*_replication(secret.get("replication", {})), *_labels(secret.get("labels", {}))):
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


def _labels(labels: Mapping[str, str]) -> Iterator[str]:
    if len(labels) > _MOST_LABELS:
        yield f"A secret has at most {_MOST_LABELS} labels."
    for key, value in labels.items():
        if any(len(text.encode()) > _LABEL_BYTES for text in (key, value)):
            yield f'The key and the value of label "{key}" have at most {_LABEL_BYTES} bytes.'
        if not _LABEL_KEY.fullmatch(key) or key != key.lower():
            yield f'Invalid label key "{key}": a lowercase letter, then at most 62 of these, digits, "_" and "-".'
        if not _LABEL_VALUE.fullmatch(value) or value != value.lower():
            yield f'Invalid value of label "{key}": at most 63 lowercase letters, digits, "_" and "-".'
