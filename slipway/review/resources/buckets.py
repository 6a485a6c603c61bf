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
from slipway.review.resources.bucket_fields import FIELDS, Told
from slipway.review.resources.inputs import differences, top
from slipway.review.resources.resources import unguarded
from slipway.review.resources.touched import BUCKET, Fate, Touched
from slipway.review.words import named

_FOR = {CATALOG: "for the catalog and packages", WORK: "for what jobs write"}


def buckets(change: Change) -> Iterator[Finding]:
    seen = set()
    for one in change.touched:
        if one.type == BUCKET:
            seen.add(one.physical)
            yield from _fate(one, change)
            if one.fate in (Fate.CHANGED, Fate.ADOPTED) and one.old:
                yield from _changes(one)
    for role, before, after in _named(change):
        if before == after:
            continue
        if before not in seen and before:
            yield _renamed(role, before, after, change)
        if after not in seen and change.preview is None:
            words = f"Bucket `{after}` is made, or adopted, {_FOR[role]}"
            yield KINDS["bucket-created"].of(Subject("bucket", after), words, field=_key(role))


def _fate(one: Touched, change: Change) -> Iterator[Finding]:
    name, subject, role = one.physical, Subject("bucket", one.physical), _role(one)
    kept = let_go(change, name) if role else None
    if kept and kept.role == CATALOG and one.fate is Fate.DELETED:
        more = f", as was announced, since nothing needs it any more{_contents(one)}"
        yield KINDS["bucket-deleted"].of(subject, f"Bucket `{name}` is deleted", more=more, grade=Grade.NOTE)
    elif kept and one.fate is Fate.FORGOTTEN:
        more = ", as was announced, since nothing needs it any more, and stays with what is in it, still paid"
        more += _unread(role, change)
        yield KINDS["bucket-left"].of(subject, f"Bucket `{name}` leaves the stack", more=more, grade=Grade.NOTE)
    elif one.fate is Fate.DELETED:
        yield KINDS["bucket-deleted"].of(subject, f"Bucket `{name}` is deleted{_contents(one)}", field=_key(role))
    elif one.fate is Fate.REPLACED:
        yield _replaced(one)
    elif one.fate is Fate.FORGOTTEN:
        words = f"Bucket `{name}` stays with what is in it, still paid, and no longer belongs to the stack"
        yield KINDS["bucket-left"].of(subject, f"{words}{_unread(role, change)}", field=_key(role))
    elif one.fate in (Fate.CREATED, Fate.ADOPTED) and not one.by_hand:
        does = "is made" if one.fate is Fate.CREATED else "exists and is adopted, with what is in it"
        words = f"Bucket `{name}` {does}{f' {_FOR[role]}' if role in _FOR else ''}"
        yield KINDS["bucket-created"].of(subject, words, field=_key(role))


def _replaced(one: Touched) -> Finding:
    causes = [str(found) for found in differences(one.was, one.becomes) if top(found.path) in map(top, one.replaces)]
    because = f" because of {named(causes)}" if causes else ""
    name, new = one.physical, one.becomes.get("name")
    if one.old is not None and one.old.retained:
        same = new in (name, None)
        clash = "; the cloud refuses a second one of this name, so the deployment would fail" if same else ""
        words = f"Bucket `{name}` is made anew{because}; the old one stays with what is in it{clash}"
    else:
        words = f"Bucket `{name}` is deleted and made anew{because}{_contents(one)}"
    return KINDS["bucket-replaced"].of(Subject("bucket", name), words, field=_key(_role(one)))


def _contents(one: Touched) -> str:
    if one.old is not None and one.old.protected:
        return "; it is protected from that, so the deployment would fail"
    if one.was.get("forceDestroy"):
        return ", with everything in it"
    return "; if there is anything in it, the deployment fails there"


def _unread(role: str, change: Change) -> str:
    return ": submitters can't read the results in it any more" if role == WORK and change.after else ""


def _renamed(role: str, before: str, after: str, change: Change) -> Finding:
    """The engine does nothing to the old one: it retires, or nobody asked the engine."""
    if any(before in facts.adopted for facts in (change.before, change.after) if facts):
        words = f"Bucket `{before}` is followed by `{after}`, and kept as it is, as it was adopted"
        return KINDS["bucket-left"].of(Subject("bucket", before), words, field=_key(role))
    kept = change.after.kept.get(before) if change.after else None
    once = "once what needs it has ended" if kept else "with this deployment"
    if role == CATALOG:
        words = f"Bucket `{before}` is followed by `{after}`, and deleted with everything in it {once}"
        grade = Grade.WARNING if kept else None
        return KINDS["bucket-deleted"].of(Subject("bucket", before), words, grade=grade, field=_key(role))
    words = f"Jobs write to `{after}`; bucket `{before}` leaves the stack {once}, and stays with what is in it"
    return KINDS["bucket-left"].of(Subject("bucket", before), words, field=_key(role))


def _named(change: Change) -> Iterator[tuple[str, str, str]]:
    """By role, the names before and after."""
    if change.old and change.new:
        yield CATALOG, change.old.catalog_bucket, change.new.catalog_bucket
        yield WORK, change.old.work_bucket, change.new.work_bucket


def _role(one: Touched) -> str:
    role = re.split("[-.]", one.name)[0]
    return role if one.parent == WORKSPACE and role in (CATALOG, WORK) else ""


def _key(role: str) -> str:
    return f"slipway:workspace.{role}Bucket" if role else ""


def _changes(one: Touched) -> Iterator[Finding]:
    """One consequence of each kind, the worst grade of those that it is made of."""
    found: dict[str, list[Told]] = {}
    for told in _told(one):
        found.setdefault(told[0], []).append(told)
    for kind, all_told in found.items():
        grades = [grade or KINDS[kind].usual for _, _, grade in all_told]
        words = f"Bucket `{one.physical}` {join(words for _, words, _ in all_told)}"
        yield KINDS[kind].of(Subject("bucket", one.physical), words, grade=max(grades))


def _told(one: Touched) -> Iterator[Told]:
    if why := unguarded(one):
        # What holds the catalog may be deleted with what is in it: adopting a bucket says so for the first time.
        usual = one.fate is Fate.ADOPTED and _role(one) == CATALOG
        yield (
            "force-destroy",
            f"may be deleted with everything in it from now on: {why}",
            Grade.NOTE if usual else None,
        )
    for key in one.edited:
        before, after = one.was.get(key), one.becomes.get(key)
        if key in FIELDS:
            yield from FIELDS[key](before, after)
        elif key != "forceDestroy" or not after:
            grade = Grade.NOTE if key in ("labels", "forceDestroy") else None
            yield from (("bucket-changed", f"has {each}", grade) for each in differences(before, after, key))
