"""Rules for a bucket or an object, where its discovery document has a text instead of a choice."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from .. import labels
from ..clock import bound_of
from ..regions import REGIONS
from . import errors

LocationType = Literal["region", "dual-region", "multi-region"]
_MULTI_REGIONS = ("US", "EU", "ASIA")
_DUAL_REGIONS = ("NAM4", "EUR4", "EUR5", "EUR7", "EUR8", "ASIA1")
_PAIRED = ("US", "EU", "ASIA", "AU", "CA", "DE", "GB", "IN", "IT")
"""Location of a bucket in two regions of one's choice."""
_CLASSES = ("STANDARD", "NEARLINE", "COLDLINE", "ARCHIVE", "MULTI_REGIONAL", "REGIONAL", "DURABLE_REDUCED_AVAILABILITY")
_CHOICES: Mapping[tuple[str, ...], tuple[str, ...]] = {
    ("storageClass",): _CLASSES,
    ("rpo",): ("DEFAULT", "ASYNC_TURBO"),
    ("iamConfiguration", "publicAccessPrevention"): ("inherited", "enforced", "unspecified"),
    ("autoclass", "terminalStorageClass"): ("NEARLINE", "ARCHIVE"),
    ("retention", "mode"): ("Locked", "Unlocked"),
}
_ACTIONS = ("Delete", "SetStorageClass", "AbortIncompleteMultipartUpload")
_KEY = re.compile(r"projects/[^/]+/locations/([^/]+)/keyRings/[^/]+/cryptoKeys/[^/]+")
_DAY = 24 * 3600
_SOFT_DELETION_S, _LONGEST_RETENTION_S = (7 * _DAY, 90 * _DAY), 3_155_760_000
_BUCKET = re.compile(r"[a-z0-9][a-z0-9_.-]{1,220}[a-z0-9]")
_ADDRESS = re.compile(r"[0-9]+(\.[0-9]+){3}")
_GOOGLE = re.compile(r"goog|.*g[o0]{2}g[l1]e")
_PART = 63
_OBJECT_BYTES, _METADATA_BYTES = 1024, 8 * 1024
_RESERVED = ".well-known/acme-challenge/"


def location_type(location: str, pair: bool) -> LocationType:
    """Return the type of a location in capital letters; `pair`: two regions are named beside it. Raises 400."""
    if pair and location in _PAIRED:
        return "dual-region"
    if not pair and location in _MULTI_REGIONS:
        return "multi-region"
    if not pair and location in _DUAL_REGIONS:
        return "dual-region"
    if not pair and location.lower() in REGIONS:
        return "region"
    raise errors.invalid("The specified location constraint is not valid.")


def check_bucket_name(name: str) -> None:
    """Raise 400 for a name that no bucket can have (the page on naming buckets). Whose a domain is, nobody asks."""
    parts = name.split(".")
    if (
        not _BUCKET.fullmatch(name)
        or _ADDRESS.fullmatch(name)
        or _GOOGLE.match(name)
        or any(not part or len(part) > _PART or "-" in (part[0], part[-1]) for part in parts)
    ):
        raise errors.invalid(f"Invalid bucket name: '{name}'")


def check_object_name(name: str) -> None:
    """Raise 400 for a name that no object can have (the page on naming objects)."""
    if not name:
        raise errors.required("name")
    if len(name.encode()) > _OBJECT_BYTES or name in (".", "..") or "\r" in name or "\n" in name:
        raise errors.invalid(f"Invalid object name: '{name}'")
    if name.startswith(_RESERVED):
        raise errors.invalid(f"Invalid object name: '{name}'. Names that begin with {_RESERVED} are reserved.")


def check_bucket(bucket: Mapping[str, Any]) -> None:
    """Raise 400 for a bucket that can't be, 501 for one that the local cloud does not support."""
    if bucket.get("hierarchicalNamespace", {}).get("enabled"):
        raise errors.not_implemented("A hierarchical namespace")
    for why in _mistakes(bucket):
        raise errors.invalid(why)


def check_key(bucket: Mapping[str, Any], location: str, unusable: str) -> None:
    """Raise 400 for a bucket's key of another location, 403 for one that Cloud Storage's agent may not use."""
    key = bucket.get("encryption", {}).get("defaultKmsKeyName", "")
    match = _KEY.fullmatch(key)
    place = "europe" if location == "EU" else location.lower()
    if match and match[1] != place:
        raise errors.invalid(f"Cloud KMS region '{match[1]}' not available for use with GCS region '{location}'.")
    check_usable(key, unusable)


def check_usable(key: str, unusable: str) -> None:
    """Raise 403 for a key, or a version of it, that Cloud Storage's agent may not use."""
    if key.partition("/cryptoKeyVersions/")[0] in unusable.split():
        text = "Please ensure that your Cloud Storage service account has been authorized to use this key."
        raise errors.error(403, "forbidden", f"Permission denied on Cloud KMS key. {text}")


def check_object(metadata: Mapping[str, Any]) -> None:
    """Raise 400 for metadata that an object can't have."""
    for why in _choices(metadata):
        raise errors.invalid(why)
    own: Mapping[str, str] = metadata.get("metadata") or {}
    if sum(len(key.encode()) + len((value or "").encode()) for key, value in own.items()) > _METADATA_BYTES:
        raise errors.invalid(f"The custom metadata of an object may have {_METADATA_BYTES} bytes, keys and values.")


def check_free(resource: Mapping[str, Any]) -> None:
    """Raise 403 for an object under a hold, which is neither deleted nor replaced."""
    if resource.get("temporaryHold") or resource.get("eventBasedHold"):
        shown = f"{resource['bucket']}/{resource['name']}"
        raise errors.error(403, "objectUnderActiveHold", f"Object '{shown}' is under active hold.")


def check_custom_time(old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    """Raise 400 for a custom time that is taken away, or becomes an earlier one (the page on metadata)."""
    before, after = (bound_of(item["customTime"]) if item.get("customTime") else None for item in (old, new))
    if before and (after is None or after < before):
        raise errors.invalid("The customTime of an object can't be removed, and can't become an earlier one.")


def check_labels(changed: Mapping[str, Any]) -> None:
    """Raise 400 for labels that can't be, also where they are to be removed."""
    for why in labels.mistakes(changed):
        raise errors.invalid(why)


def _mistakes(bucket: Mapping[str, Any]) -> Iterator[str]:
    yield from _choices(bucket)
    pair = bucket.get("customPlacementConfig", {}).get("dataLocations", [])
    if pair and (len({place.lower() for place in pair} & REGIONS) != 2 or len(pair) != 2):
        yield "customPlacementConfig.dataLocations names two regions."
    for at, rule in enumerate(bucket.get("lifecycle", {}).get("rule", [])):
        yield from _rule(f"lifecycle.rule[{at}]", rule)
    period = int(bucket.get("retentionPolicy", {}).get("retentionPeriod", 1))
    if not 0 < period <= _LONGEST_RETENTION_S:
        yield f"retentionPolicy.retentionPeriod is from 1 to {_LONGEST_RETENTION_S} seconds."
    kept = int(bucket.get("softDeletePolicy", {}).get("retentionDurationSeconds", 0))
    if kept and not _SOFT_DELETION_S[0] <= kept <= _SOFT_DELETION_S[1]:
        yield f"softDeletePolicy.retentionDurationSeconds is 0, or from {_SOFT_DELETION_S[0]} to {_SOFT_DELETION_S[1]}."
    key = bucket.get("encryption", {}).get("defaultKmsKeyName", "")
    if key and not _KEY.fullmatch(key):
        yield f"'{key}' is not the name of a key."
    yield from labels.mistakes(bucket.get("labels", {}))


def _choices(resource: Mapping[str, Any]) -> Iterator[str]:
    for path, known in _CHOICES.items():
        value: Any = resource
        for name in path:
            value = value.get(name) if isinstance(value, Mapping) else None
        if value and value not in known and str(value).upper() not in known:
            yield f"Invalid value for {'.'.join(path)}: '{value}'; it is one of {', '.join(known)}."


def _rule(path: str, rule: Mapping[str, Any]) -> Iterator[str]:
    action, condition = rule.get("action", {}), rule.get("condition", {})
    kind, target = action.get("type", ""), action.get("storageClass", "")
    if kind not in _ACTIONS:
        yield f"Invalid value for {path}.action.type: '{kind}'; it is one of {', '.join(_ACTIONS)}."
    if kind == "SetStorageClass" and target.upper() not in _CLASSES:
        yield f"Invalid value for {path}.action.storageClass: '{target}'; it is one of {', '.join(_CLASSES)}."
    if kind != "SetStorageClass" and target:
        yield f"{path}.action.storageClass is for SetStorageClass only."
    if all(value in (None, []) for value in condition.values()):
        yield f"{path}.condition is required: what the action is to be taken on."
    for name in condition.get("matchesStorageClass", []):
        if name.upper() not in _CLASSES:
            yield f"Invalid value for {path}.condition.matchesStorageClass: '{name}'."
    for name, value in condition.items():
        if isinstance(value, int) and not isinstance(value, bool) and value < 0:
            yield f"{path}.condition.{name} must not be negative."
