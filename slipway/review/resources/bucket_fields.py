"""What a change of a bucket's fields does to the objects in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from slipway.findings.finding import Grade
from slipway.formatting import counted, join, span
from slipway.review.inputs import Difference, said

_DAY = 86400
Telling = tuple[str, str, Grade | None]
"""Kind, what the bucket does from now on, and the grade where it is not the usual one."""


def _lifecycle(before: Any, after: Any) -> Iterator[Telling]:
    old, new = ([_rule(one) for one in some or () if isinstance(one, Mapping)] for some in (before, after))
    gone, added = [one for one in old if one not in new], [one for one in new if one not in old]
    if not (gone or added):
        return
    words = [*(f"no longer {one}" for one in gone), *(f"from now on {one}" for one in added)]
    worse = any(one.startswith("deletes") and not _milder(one, after, before) for one in added)
    yield "lifecycle-changed", join(words), None if worse else Grade.WARNING


def _milder(rule: str, after: Any, before: Any) -> bool:
    body = next(one for one in after if _rule(one) == rule)
    age = _condition(body).get("age")
    return any(
        {**_condition(one), "age": age} == dict(_condition(body)) and (_condition(one).get("age") or 0) < (age or 0)
        for one in before or ()
        if isinstance(one, Mapping) and one.get("action") == body.get("action")
    )


def _rule(body: Mapping[str, Any]) -> str:
    """deletes `claims/` after 30 days"""
    action, condition = _mapping(body.get("action")), dict(_condition(body))
    words = "deletes" if action.get("type") == "Delete" else f"moves to {said(action.get('storageClass'))}"
    if action.get("type") not in ("Delete", "SetStorageClass"):
        words = str(action.get("type"))
    ends = [*condition.pop("matchesPrefixes", ()), *(f"…{one}" for one in condition.pop("matchesSuffixes", ()))]
    words += f" {join(f'`{one}`' for one in ends)}" if ends else " objects"
    if (age := condition.pop("age", None)) is not None:
        words += f" after {counted(age, 'day')}"
    if (newer := condition.pop("numNewerVersions", None)) is not None:
        words += f" with {newer} newer versions"
    rest = [f"{key} {said(value)}" for key, value in condition.items() if value not in (None, "", 0, False, [], "ANY")]
    return f"{words} ({', '.join(rest)})" if rest else words


def _condition(body: Mapping[str, Any]) -> Mapping[str, Any]:
    return _mapping(body.get("condition"))


def _retention(before: Any, after: Any) -> Iterator[Telling]:
    old, new = (_seconds(one, "retentionPeriod") or 0 for one in (before, after))
    if _mapping(after).get("isLocked") and not _mapping(before).get("isLocked"):
        yield "retention-changed", f"has its retention of {_days(new)} locked for good", None
    elif old != new:
        words = f"keeps objects from being deleted for {_days(old)} → {_days(new)}"
        yield "retention-changed", words, None if new < old else Grade.WARNING


def _soft_delete(before: Any, after: Any) -> Iterator[Telling]:
    # Where nothing is said, the cloud keeps what is deleted for a week.
    old, new = (_seconds(one, "retentionDurationSeconds") for one in (before, after))
    old, new = (7 * _DAY if one is None else one for one in (old, new))
    if old != new:
        words = f"keeps deleted objects, to be restored, for {_days(old)} → {_days(new)}"
        yield "retention-changed", words, None if new < old else Grade.WARNING


def _versioning(before: Any, after: Any) -> Iterator[Telling]:
    old, new = (bool(_mapping(one).get("enabled")) for one in (before, after))
    if old != new:
        words = (
            "keeps what is overwritten or deleted, as an earlier version" if new else "keeps earlier versions no more"
        )
        yield "versioning-changed", words, Grade.WARNING if new else None


def _prevention(before: Any, after: Any) -> Iterator[Telling]:
    if after == "enforced":
        yield "bucket-changed", "can't be opened to the public any more", Grade.NOTE
    elif before == "enforced":
        yield "public-prevention-off", "may be opened to the public from now on", None


def _uniform(before: Any, after: Any) -> Iterator[Telling]:
    if bool(before) != bool(after):
        words = (
            "heeds access lists of single objects no more" if after else "lets single objects be opened on their own"
        )
        yield "bucket-changed", words, None if after else Grade.BLOCKING


def _encryption(before: Any, after: Any) -> Iterator[Telling]:
    old, new = (_mapping(one).get("defaultKmsKeyName") for one in (before, after))
    if old != new:
        yield (
            "bucket-changed",
            f"encrypts new objects otherwise: {Difference('encryption.defaultKmsKeyName', old, new)}",
            None,
        )


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _seconds(value: Any, key: str) -> float | None:
    """None where nothing is set, or what is set is not known yet."""
    try:
        return float(_mapping(value)[key])
    except (KeyError, TypeError, ValueError):
        return None


def _days(seconds: float) -> str:
    return span(seconds) if seconds else "no time"


FIELDS: Mapping[str, Callable[[Any, Any], Iterator[Telling]]] = {
    "lifecycleRules": _lifecycle,
    "retentionPolicy": _retention,
    "softDeletePolicy": _soft_delete,
    "versioning": _versioning,
    "publicAccessPrevention": _prevention,
    "uniformBucketLevelAccess": _uniform,
    "encryption": _encryption,
}
