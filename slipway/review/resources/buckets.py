"""Buckets: those that go, stay behind or come, and what a change of their fields does to the objects in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from slipway.deployment.workspace_plan import CATALOG, WORK
from slipway.facts import WORKSPACE
from slipway.findings.finding import Finding, Grade, Subject
from slipway.findings.kinds import KINDS
from slipway.formatting import counted, join, span
from slipway.review.change import Change, let_go
from slipway.review.resources.fates import ROLES, fate, followed, unguarded
from slipway.review.touched import BUCKET, Difference, Fate, Touched, differences, said

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
    else:
        yield from _kept_for("keeps objects from being deleted", old, new)


def _soft_delete(before: Any, after: Any) -> Iterator[Telling]:
    # Where nothing is said, the cloud keeps what is deleted for a week.
    old, new = (_seconds(one, "retentionDurationSeconds") for one in (before, after))
    old, new = (7 * _DAY if one is None else one for one in (old, new))
    yield from _kept_for("keeps deleted objects, to be restored,", old, new)


def _kept_for(does: str, old: float, new: float) -> Iterator[Telling]:
    if old != new:
        words = f"{does} for {_days(old)} → {_days(new)}"
        yield "retention-changed", words, None if new < old else Grade.WARNING


def _versioning(before: Any, after: Any) -> Iterator[Telling]:
    old, new = (bool(_mapping(one).get("enabled")) for one in (before, after))
    if new and not old:
        yield "versioning-changed", "keeps what is overwritten or deleted, as an earlier version", Grade.WARNING
    elif old and not new:
        yield "versioning-changed", "keeps earlier versions no more", None


def _prevention(before: Any, after: Any) -> Iterator[Telling]:
    if after == "enforced":
        yield "bucket-changed", "can't be opened to the public any more", Grade.NOTE
    elif before == "enforced":
        yield "public-prevention-off", "may be opened to the public from now on", None


def _uniform(before: Any, after: Any) -> Iterator[Telling]:
    if after and not before:
        yield "bucket-changed", "heeds access lists of single objects no more", None
    elif before and not after:
        yield "bucket-changed", "lets single objects be opened on their own", Grade.BLOCKING


def _encryption(before: Any, after: Any) -> Iterator[Telling]:
    old, new = (_mapping(one).get("defaultKmsKeyName") for one in (before, after))
    if old != new:
        words = f"encrypts new objects otherwise: {Difference('encryption.defaultKmsKeyName', old, new)}"
        yield "bucket-changed", words, None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _seconds(value: Any, key: str) -> float | None:
    """Return seconds; None where nothing is set, or what is set is not known yet."""
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


_KINDS = {
    Fate.CREATED: "bucket-created",
    Fate.ADOPTED: "bucket-created",
    Fate.REPLACED: "bucket-replaced",
    Fate.DELETED: "bucket-deleted",
    Fate.FORGOTTEN: "bucket-left",
}


def buckets(change: Change) -> Iterator[Finding]:
    for one in change.touched:
        if one.type == BUCKET:
            role, name = _role(one), one.physical
            kept = let_go(change, name) if role else None
            announced = bool(kept) and (one.fate is Fate.FORGOTTEN or (one.fate is Fate.DELETED and role == CATALOG))
            key = f"slipway:workspace.{ROLES[role].key}" if role and not announced else ""
            subject, follows = Subject("bucket", name), _follows(one, role, change)
            yield from fate(one, subject, f"Bucket `{name}`", _KINDS, follows, field=key, announced=announced)
            if one.fate in (Fate.CHANGED, Fate.ADOPTED) and one.old:
                yield from _changes(one)
    if change.old and change.new:
        yield from followed(CATALOG, change.old.catalog_bucket, change.new.catalog_bucket, change)
        yield from followed(WORK, change.old.work_bucket, change.new.work_bucket, change)


def _follows(one: Touched, role: str, change: Change) -> str:
    if one.destroyed:
        filled = one.was.get("forceDestroy")
        return ", with everything in it" if filled else "; if there is anything in it, the deployment fails there"
    if one.fate is Fate.REPLACED and one.becomes.get("name") in (one.physical, None):
        return "; the cloud refuses a second one of this name, so the deployment would fail"
    if one.fate is Fate.FORGOTTEN and role == WORK and change.after:
        return ": submitters can't read the results in it any more"
    return f" {ROLES[role].purpose}" if role and one.fate in (Fate.CREATED, Fate.ADOPTED) else ""


def _role(one: Touched) -> str:
    role = re.split("[-.]", one.name)[0]
    return role if one.parent == WORKSPACE and role in (CATALOG, WORK) else ""


def _changes(one: Touched) -> Iterator[Finding]:
    found: dict[str, list[Telling]] = {}
    for told in _told(one):
        found.setdefault(told[0], []).append(told)
    for kind, all_told in found.items():
        grades = [grade or KINDS[kind].usual for _, _, grade in all_told]
        words = f"Bucket `{one.physical}` {join(words for _, words, _ in all_told)}"
        yield KINDS[kind].of(Subject("bucket", one.physical), words, grade=max(grades))


def _told(one: Touched) -> Iterator[Telling]:
    if why := unguarded(one):
        # What holds the catalog may be deleted with what is in it: adopting a bucket says so for the first time.
        usual = one.fate is Fate.ADOPTED and _role(one) == CATALOG
        words = f"may be deleted with everything in it from now on: {why}"
        yield "force-destroy", words, Grade.NOTE if usual else None
    for key in one.edited:
        before, after = one.was.get(key), one.becomes.get(key)
        if key in FIELDS:
            yield from FIELDS[key](before, after)
        elif key != "forceDestroy" or not after:
            grade = Grade.NOTE if key in ("labels", "forceDestroy") else None
            yield from (("bucket-changed", f"has {each}", grade) for each in differences(before, after, key))
