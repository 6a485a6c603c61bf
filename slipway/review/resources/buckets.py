"""Buckets: those that go, stay behind or come, and what a change of their fields does to the objects in them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from slipway.catalog.model import BOARD, HISTORY
from slipway.deployment.workspace_plan import CATALOG, WORK
from slipway.facts import WORKSPACE
from slipway.findings.finding import Finding, Grade, Subject
from slipway.findings.kinds import KINDS
from slipway.formatting import join
from slipway.review.change import Change, let_go
from slipway.review.resources.bucket_fields import RULES, Telling
from slipway.review.resources.fates import ROLES, fate, followed, unguarded
from slipway.review.touched import BUCKET, Fate, Touched, differences
from slipway.review.words import LONGEST

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
            if not (name == _left(change) and one.fate in (Fate.DELETED, Fate.FORGOTTEN)):
                yield from fate(one, subject, f"Bucket `{name}`", _KINDS, follows, field=key, announced=announced)
            if one.fate in (Fate.CHANGED, Fate.ADOPTED) and one.old:
                yield from _changes(one)
    if change.old and change.new:
        yield from followed(CATALOG, change.old.catalog_bucket, change.new.catalog_bucket, change)
        yield from followed(WORK, change.old.work_bucket, change.new.work_bucket, change)


def _left(change: Change) -> str:
    """The bucket that the catalog leaves, which is told with where it goes."""
    old, new = (one.catalog_bucket if one else "" for one in (change.old, change.new))
    return old if new and old != new else ""


def _follows(one: Touched, role: str, change: Change) -> str:
    if one.destroyed:
        filled = one.was.get("forceDestroy")
        return ", with everything in it" if filled else "; if there is anything in it, the deployment fails there"
    if one.fate is Fate.REPLACED and one.becomes.get("name") in (one.physical, None):
        return "; two of one name are refused, so the deployment would fail"
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
    edits = [str(each) for key in one.edited for each in differences(one.was.get(key), one.becomes.get(key), key)]
    for kind, tellings in found.items():
        graded = [(grade or KINDS[kind].usual, words) for _, words, grade in tellings]
        # The worst begins, so that a headline has it.
        (worst, first), *others = sorted(graded, key=lambda each: -each[0])
        subject, words = Subject("bucket", one.physical), f"Bucket `{one.physical}` {first}"
        if kind == "lifecycle-changed" and worst is Grade.BLOCKING and "every object" in first and _role(one) == WORK:
            words += ", results and checkpoints of jobs too"
        short = words.partition(": ")[0].partition(", until now")[0]
        more = "".join(f"; it {words}" for _, words in others)
        whole = len((words + more).split()) <= LONGEST
        details = (*edits, *(() if whole else (words for _, words in others)))
        yield KINDS[kind].of(subject, words, details=details, grade=worst, more=more if whole else "", clause=short)


def _told(one: Touched) -> Iterator[Telling]:
    if why := unguarded(one):
        # What holds the catalog may be deleted with what is in it: adopting a bucket says so for the first time.
        usual = one.fate is Fate.ADOPTED and _role(one) == CATALOG
        why = "nothing asks whether it is empty" if why.startswith("`") else why
        words = f"may be deleted with everything in it from now on: {why}"
        yield "force-destroy", words, Grade.NOTE if usual else None
    for key in one.edited:
        before, after = one.was.get(key), one.becomes.get(key)
        edits = join(map(str, differences(before, after, key)))
        if edits and key == "lifecycleRules" and _role(one) == CATALOG and _of_others(before) == _of_others(after):
            yield from ((kind, words, Grade.NOTE) for kind, words, _ in RULES[key](before, after))
        elif edits and key in RULES:
            yield from RULES[key](before, after)
        elif edits:
            yield "bucket-changed", f"is edited, and nobody looked what follows: {edits}", None


def _of_others(rules: Any) -> list[Any]:
    """Leave out rules for what Slipway records itself, in the catalog's bucket."""
    return [
        one
        for one in (rules if isinstance(rules, list) else ())
        if not isinstance(one, Mapping) or not _is_ours((one.get("condition") or {}).get("matchesPrefixes"))
    ]


def _is_ours(prefixes: Any) -> bool:
    return isinstance(prefixes, list) and bool(prefixes) and all(one in (HISTORY, BOARD) for one in prefixes)
