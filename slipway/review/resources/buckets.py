"""Buckets: those that go, stay behind or come, and what changes about the objects in them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from slipway.deployment.workspace_plan import CATALOG, WORK
from slipway.facts import WORKSPACE
from slipway.findings.finding import Finding, Grade, Subject
from slipway.findings.kinds import KINDS
from slipway.formatting import join
from slipway.review.announced import let_go
from slipway.review.change import Change
from slipway.review.inputs import differences
from slipway.review.resources.bucket_fields import FIELDS, Telling
from slipway.review.resources.fates import ROLES, Told, fate, followed, unguarded
from slipway.review.touched import BUCKET, Fate, Touched

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
            told = Told(
                Subject("bucket", name), f"Bucket `{name}`", _KINDS, _follows(one, role, change), key, announced
            )
            yield from fate(one, told)
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
