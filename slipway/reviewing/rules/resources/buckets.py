"""Buckets: those that go, stay behind or come, and the effect of changed fields on the objects in them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from slipway.base.formatting import join
from slipway.deploying.deployment.workspace_plan import CATALOG, WORK
from slipway.deploying.engine.bucket_fields import RULES, BucketEffect
from slipway.deploying.engine.touched import BUCKET, Fate, InputDifference, Touched, differences
from slipway.model.catalog.model import BOARD, HISTORY
from slipway.model.facts import WORKSPACE
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.model.state import BUCKETS_ELSEWHERE
from slipway.reviewing.change.change import Change, let_go
from slipway.reviewing.rules.resources.fates import PURPOSES, fate, unguarded
from slipway.reviewing.rules.words import LONGEST

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
            announced = bool(kept) and one.fate is Fate.FORGOTTEN
            at_home = not one.name.startswith(BUCKETS_ELSEWHERE)
            key = f"slipway:workspace.{role}Bucket" if role and at_home and not announced else ""
            subject, follows = Subject("bucket", name), _follows(one, role, change)
            yield from fate(one, subject, f"Bucket `{name}`", _KINDS, follows, field=key, announced=announced)
            if one.fate in (Fate.CHANGED, Fate.ADOPTED) and one.old:
                yield from _changes(one)
    if change.old and change.new:
        yield from _elsewhere(change, change.old.work_elsewhere or {}, change.new.work_elsewhere or {})


def _elsewhere(change: Change, old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[Finding]:
    """Report work buckets of other regions where the engine was not asked."""
    if change.preview is not None:
        return
    kept = change.after.kept if change.after else ()
    for region, name in new.items():
        if name not in old.values():
            words = f"Bucket `{name}` is made, or taken over if it is there, {_purpose(region)}"
            yield KINDS["bucket-created"].of(Subject("bucket", name), words)
    for region, name in old.items():
        if name not in (*new.values(), *kept):
            words = f"Bucket `{name}`, for results of jobs in {region}, stays, paid as before"
            more = ", and no longer belongs to the stack: submitters can't read the results in it any more"
            yield KINDS["bucket-left"].of(Subject("bucket", name), words, more=more)


def _purpose(region: str) -> str:
    return f"for what jobs in {region} write"


def _follows(one: Touched, role: str, change: Change) -> str:
    if one.destroyed:
        filled = one.was.get("forceDestroy")
        return ", with everything in it" if filled else "; if there is anything in it, the deployment fails there"
    if one.fate is Fate.REPLACED and one.becomes.get("name") in (one.physical, None):
        return "; two of one name are refused, so the deployment would fail"
    if one.fate is Fate.FORGOTTEN and role == WORK and change.after:
        return ": submitters can't read the results in it any more"
    if not role or one.fate not in (Fate.CREATED, Fate.ADOPTED):
        return ""
    theirs = change.new.work_elsewhere or {} if change.new else {}
    region = next((region for region, name in theirs.items() if name == one.physical), "")
    return f" {_purpose(region) if region else PURPOSES[role]}"


def _role(one: Touched) -> str:
    role = re.split("[.@]", one.name)[0]
    return role if one.parent == WORKSPACE and role in (CATALOG, WORK) else ""


def _changes(one: Touched) -> Iterator[Finding]:
    found: dict[str, list[BucketEffect]] = {}
    for told in _told(one):
        found.setdefault(told.kind, []).append(told)
    edits = [str(each) for key in one.edited for each in differences(one.was.get(key), one.becomes.get(key), key)]
    for kind, tellings in found.items():
        # The worst comes first, so that a headline has it.
        first, *others = sorted(tellings, key=lambda each: -(each.grade or KINDS[kind].usual))
        bucket = f"Bucket `{one.physical}`"
        words = (
            f"{bucket} {first}{', results and checkpoints of jobs too' if first.of_all and _role(one) == WORK else ''}"
        )
        more = "".join(f"; it {other}" for other in others)
        whole = len((words + more).split()) <= LONGEST
        yield KINDS[kind].of(
            Subject("bucket", one.physical),
            words,
            details=(*edits, *(() if whole else map(str, others))),
            grade=first.grade,
            more=more if whole else "",
            clause=f"{bucket} {first.does}",
        )


def _told(one: Touched) -> Iterator[BucketEffect]:
    if why := unguarded(one):
        # The catalog's bucket may be deleted with its contents: an adopted bucket is declared so for the first time.
        usual = one.fate is Fate.ADOPTED and _role(one) == CATALOG
        why = "nothing asks whether it is empty" if isinstance(why, InputDifference) else why
        does, grade = "may be deleted with everything in it from now on", Grade.NOTE if usual else None
        yield BucketEffect("force-destroy", does, why, grade=grade)
    for key in one.edited:
        before, after = one.was.get(key), one.becomes.get(key)
        edits = join(map(str, differences(before, after, key)))
        if edits and key == "lifecycleRules" and _role(one) == CATALOG and _of_others(before) == _of_others(after):
            yield from (told._replace(grade=Grade.NOTE) for told in RULES[key](before, after))
        elif edits and key in RULES:
            yield from RULES[key](before, after)
        elif edits:
            yield BucketEffect("bucket-changed", "is edited, and nobody looked what follows", edits)


def _of_others(rules: Any) -> list[Any]:
    """Return the rules without those for Slipway's own records in the catalog's bucket."""
    return [
        one
        for one in (rules if isinstance(rules, list) else ())
        if not isinstance(one, Mapping) or not _is_ours((one.get("condition") or {}).get("matchesPrefixes"))
    ]


def _is_ours(prefixes: Any) -> bool:
    return isinstance(prefixes, list) and bool(prefixes) and all(one in (HISTORY, BOARD) for one in prefixes)
