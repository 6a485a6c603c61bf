"""Resources of the program apart from clusters and grants, and the identity of the deployment. Pure.

No other part of the product answers for these, so each has a rule here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from slipway.answers.comparison import Comparison, Side
from slipway.answers.removed import removed_workspaces
from slipway.answers.rights import resource_subject, subject_of
from slipway.base.formatting import counted, few, span
from slipway.deploying.engine.drift import hand_edits
from slipway.deploying.engine.fields import BUCKET_FIELDS
from slipway.deploying.engine.grants import form, grants, unreadable
from slipway.deploying.engine.preview import UNKNOWN, EngineStep, Resource
from slipway.deploying.engine.touched import (
    BUCKET,
    BY_ITSELF,
    CLUSTER_TYPE,
    OBJECT,
    OURS,
    Fate,
    InputDifference,
    Touched,
    differences,
    top,
)
from slipway.model.catalog.clusters import DormantCluster
from slipway.model.catalog.model import BOARD, HISTORY
from slipway.model.facts import CATALOG, TEMPLATE, WORKSPACE
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS

GUARD = "slipway-guard-v1"
"""The hook that reads jobs again before a deletion. Frozen: deployed stacks have it."""
_GUARDS: tuple[tuple[str, object, object], ...] = (
    ("deletionProtection", True, None),
    ("deletionPolicy", "PREVENT", None),
    ("forceDestroy", False, False),
    ("deleteContentsOnDestroy", False, False),
)
"""Inputs that prevent a deletion, each with its protecting value and its default."""
_QUOTA = "gcp:cloudquota/sQuotaPreference:"
_COMMITMENTS = ("gcp:compute/futureReservation:", "gcp:compute/regionCommitment:")
_MINOR = re.compile(rf"{BY_ITSELF}|(?i:\w*labels|tags|description|displayname)")
_RETENTION = ("lifecycleRules", "retentionPolicy", "softDeletePolicy", "versioning")
_MEANINGS = {
    "publicAccessPrevention": "the bucket can be opened to the public",
    "uniformBucketLevelAccess": "single objects can be opened to others",
    "ipFilter": "other addresses can or can't read it",
    "requesterPays": "jobs and users without a billed project are denied",
    "defaultEventBasedHold": "objects can or can't be overwritten and deleted",
}
"""By a bucket's setting, the effect of a blocking change."""
_WEEK = 7 * 86_400.0
_VERBS = {
    Fate.CREATED: "is created",
    Fate.ADOPTED: "is imported",
    Fate.REPLACED: "is replaced",
    Fate.DELETED: "is deleted",
    Fate.FORGOTTEN: "is no longer managed; it is kept and billed",
}


def findings(comparison: Comparison) -> Iterator[Finding]:
    for touched in comparison.touched:
        subject = resource_subject(touched)
        if unreadable(touched.new):
            yield _unknown(subject, "policyData")
        if not _is_reported_elsewhere(touched):
            yield from _resource(comparison, touched, subject)
        yield from _drift(comparison, touched, subject)
    yield from _region_buckets(comparison)
    yield from _workspaces(comparison)
    yield from _identity(comparison)
    yield from _inactive_clusters(comparison)
    yield from _program(comparison)


def _is_reported_elsewhere(touched: Touched) -> bool:
    """Return whether clusters, access, quota or submissions report the resource."""
    if touched.type.startswith(_QUOTA):
        return touched.parent.startswith(OURS)
    is_package = touched.type == OBJECT and touched.parent in (TEMPLATE, WORKSPACE)
    return is_package or touched.type.startswith(CLUSTER_TYPE) or form(touched.type) is not None


def _resource(comparison: Comparison, touched: Touched, subject: Subject) -> Iterator[Finding]:
    verb = _VERBS.get(touched.fate, "")
    # The deployed stack had given it up, and kept it only for jobs.
    grade = Grade.NOTE if subject.name in comparison.before.kept else Grade.WARNING
    if touched.fate is Fate.FORGOTTEN:
        yield KINDS["resource-deleted"].of(subject, verb, grade=grade)
    elif touched.parent == CATALOG and touched.type == OBJECT:
        if touched.fate is Fate.DELETED:
            sentence = "the published catalog is deleted: submitters can no longer submit"
            yield KINDS["resource-deleted"].of(subject, sentence)
    elif touched.goes:
        yield _deletion(touched, subject, grade)
    elif touched.type.startswith(_COMMITMENTS) and touched.old is None:
        sentence = f"{verb} and can't be cancelled: it is billed until its end, used or not"
        yield KINDS["resource-changed"].of(subject, sentence, grade=Grade.BLOCKING)
    elif touched.fate in (Fate.CREATED, Fate.ADOPTED):
        if not touched.parent.startswith(OURS) and not touched.by_hand:
            yield KINDS["resource-changed"].of(subject, verb)
    else:
        yield from _changed(touched, subject)


def _deletion(touched: Touched, subject: Subject, mild: Grade) -> Finding:
    """Return the finding of a deletion or a replacement, with the settings that cause it."""
    tops = {top(path) for path in touched.replaces}
    causes = [str(edit) for edit in differences(touched.was, touched.becomes) if top(edit.path) in tops]
    because = f" because of {few(causes)}" if causes else ""
    kind = "resource-replaced" if touched.fate is Fate.REPLACED else "resource-deleted"
    if touched.type == BUCKET:
        kind = "bucket-deleted"
    is_harmless = mild is Grade.NOTE or not touched.destroyed
    sentence = f"{_VERBS[touched.fate]}{because}{_contents(touched)}"
    fix = "" if is_harmless else "keep it, or create a second one and move to it first"
    return KINDS[kind].of(subject, sentence, fix, grade=mild if is_harmless else Grade.BLOCKING)


def _contents(touched: Touched) -> str:
    """Return what happens to the contents, as the end of a sentence."""
    is_protected = touched.old is not None and touched.old.protected
    if not touched.destroyed:
        return "; the old one is kept"
    if is_protected or touched.was.get("deletionProtection") or touched.was.get("deletionPolicy") == "PREVENT":
        return "; the deployment fails, because it is protected from deletion"
    if touched.type != BUCKET:
        return ""
    return (
        ", and its objects are deleted"
        if touched.was.get("forceDestroy")
        else "; the deployment fails if it has objects"
    )


def _changed(touched: Touched, subject: Subject) -> Iterator[Finding]:
    yield from _unprotected(touched, subject)
    guards = [key for key, *_ in _GUARDS]
    for key in touched.edited:
        if key in guards:
            continue
        edits = list(differences(touched.was.get(key), touched.becomes.get(key), key))
        if any(edit.after == UNKNOWN for edit in edits):
            yield _unknown(subject, key)
        elif touched.type == BUCKET and key in BUCKET_FIELDS:
            yield from _bucket_setting(subject, key, touched.was.get(key), touched.becomes.get(key))
        else:
            yield from (_edited(touched, subject, edit) for edit in edits)


def _edited(touched: Touched, subject: Subject, edit: InputDifference) -> Finding:
    kind = "bucket-changed" if touched.type == BUCKET else "resource-changed"
    sentence = f"is updated in place: {edit}"
    grade = Grade.NOTE if _MINOR.match(top(edit.path)) else KINDS[kind].usual
    if (edit.path, edit.after) in (("disabled", True), ("enabled", False)):
        grade = Grade.BLOCKING
        sentence = "is disabled: everything that uses it fails"
    if "attributeCondition" in edit.path:
        grade = Grade.BLOCKING
        sentence = f"trusts other identities: {edit}"
    return KINDS[kind].of(subject, sentence, grade=grade, field=edit.path)


def _unknown(subject: Subject, path: str) -> Finding:
    sentence = f"`{path}` is known only at deployment, so the effect of its change is not compared"
    return KINDS["value-unknown"].of(subject, sentence, field=path)


def _unprotected(touched: Touched, subject: Subject) -> Iterator[Finding]:
    """Find a protection from deletion that is removed."""
    kind = "bucket-changed" if touched.type == BUCKET else "resource-changed"
    old = touched.old or Resource()
    new = touched.new or Resource()
    removed = []
    if old.protected and not new.protected:
        removed.append("`protect` is removed")
    if old.retained and not new.retained:
        removed.append("`retain_on_delete` is removed")
    for key, protecting, default in _GUARDS:
        becomes = touched.becomes.get(key, default)
        if touched.was.get(key, default) == protecting != becomes:
            removed.append(f"`{key}` {protecting} → {becomes}")
    if removed:
        sentence = f"can be deleted with its contents from now on: {few(removed)}"
        yield KINDS[kind].of(subject, sentence, "keep the protection", grade=Grade.BLOCKING)


def _bucket_setting(subject: Subject, key: str, before: Any, after: Any) -> Iterator[Finding]:
    kind = "retention-changed" if key in _RETENTION else "bucket-changed"
    for effect in BUCKET_FIELDS[key](before, after):
        grade = effect.grade
        if key == "lifecycleRules" and _without_records(before) == _without_records(after):
            grade = Grade.NOTE
        fix = f"keep `{key}`" if grade is Grade.BLOCKING else ""
        edits = [str(edit) for edit in differences(before, after, key)]
        meaning = f": {_MEANINGS[key]}" if key in _MEANINGS and grade is Grade.BLOCKING else ""
        setting = effect.does if key == "lifecycleRules" else f"is updated in place: {few(edits)}{meaning}"
        sentence = _retention(key, before or {}, after or {}) or setting
        yield KINDS[kind].of(subject, sentence, fix, grade=grade, field=key)


def _without_records(rules: Any) -> list[Any]:
    """Return lifecycle rules without those for Slipway's own records."""
    return [rule for rule in rules or () if not {*_prefixes(rule)} & {HISTORY, BOARD}]


def _prefixes(rule: Mapping[str, Any]) -> list[str]:
    condition: Mapping[str, Any] = rule.get("condition") or {}
    return list(condition.get("matchesPrefixes") or ())


def _retention(key: str, before: Any, after: Any) -> str:
    """Return the retention before and after; empty if the setting means something else."""
    if key == "versioning":
        kept = "kept and billed from now on" if after.get("enabled") else "no longer kept"
        return f"previous versions of objects are {kept}"
    if key == "lifecycleRules" and _age(before) != _age(after):
        return f"retention of all objects {_age(before)} → {_age(after)}"
    if key == "softDeletePolicy":
        name = "retentionDurationSeconds"
        return f"deleted objects can be restored for {_days(before, name, _WEEK)} → {_days(after, name, _WEEK)}"
    if key == "retentionPolicy":
        name = "retentionPeriod"
        locked = ", locked: it can never be shortened" if after.get("isLocked") else ""
        return f"minimum retention of objects {_days(before, name, 0)} → {_days(after, name, 0)}{locked}"
    return ""


def _age(rules: Any) -> str:
    """Return the age at which lifecycle rules delete every object: 30 days, or forever."""
    conditions = [rule.get("condition") or {} for rule in rules if rule.get("action", {}).get("type") == "Delete"]
    ages = [int(condition["age"]) for condition in conditions if [*filter(condition.get, condition)] == ["age"]]
    return counted(min(ages), "day") if ages else "forever"


def _days(policy: Mapping[str, Any], key: str, default: float) -> str:
    try:
        seconds = float(policy.get(key, default))
    except (TypeError, ValueError):
        return "unknown"
    days = seconds / 86_400
    return counted(int(days), "day") if days.is_integer() else span(seconds)


def _drift(comparison: Comparison, touched: Touched, subject: Subject) -> Iterator[Finding]:
    """Find manual changes that the deployment reverts, removed grants included."""
    if form(touched.type) is not None and touched.by_hand:
        for grant in grants(touched, touched.new):
            sentence = f"`{grant.role}` of `{grant.member}` was removed by hand; the deployment grants it again"
            yield KINDS["drift"].of(subject_of(grant, comparison), sentence, "remove the grant from the program")
        return
    # An interrupted deployment writes the catalog's object itself.
    is_own = touched.type == OBJECT or touched.type.startswith(CLUSTER_TYPE) or form(touched.type) is not None
    if is_own or touched.fate is Fate.REPLACED or touched.goes:
        return
    step = EngineStep("refresh", "", touched.type, touched.name, touched.parent, touched.old, touched.now)
    fields = ("", *touched.put_back)
    edits = [edit for edit in hand_edits(step, again=True) if top(edit.field) in fields]
    if edits:
        texts = [str(edit.facts.get("short", edit.sentence)) for edit in edits]
        found = KINDS["drift"].of(subject, f"was changed by hand, and the deployment restores it: {texts[0]}")
        yield replace(found, details=tuple(texts[1:]))


def _region_buckets(comparison: Comparison) -> Iterator[Finding]:
    """Find work buckets of other regions that are no longer declared, without the plan of Pulumi."""
    if comparison.preview is not None:
        return
    old = comparison.old.work_elsewhere or {}
    new = comparison.new.work_elsewhere or {}
    for name in sorted({*old.values()} - {*new.values(), *comparison.after.kept}):
        yield KINDS["resource-deleted"].of(Subject("bucket", name), _VERBS[Fate.FORGOTTEN], grade=Grade.WARNING)


def _workspaces(comparison: Comparison) -> Iterator[Finding]:
    """Find workspaces that leave a program which keeps others."""
    removed = removed_workspaces(comparison.preview) if comparison.preview else {}
    for stack, components in removed.items():
        templates = sorted(name for type_, name, _ in components if type_ == TEMPLATE)
        catalogs = [inputs for type_, _, inputs in components if type_ == CATALOG]
        clusters = sorted(set[str]().union(*(inputs.get("clusters") or () for inputs in catalogs)))
        workspaces = [inputs for type_, _, inputs in components if type_ == WORKSPACE]
        members = sorted(set[str]().union(*(inputs.get("submitters") or () for inputs in workspaces)))
        lost = f"{counted(len(clusters), 'cluster')} and {counted(len(templates), 'template')}"
        sentence = f"is removed with {lost}; {few(members, 2) or 'its submitters'} can no longer submit"
        found = KINDS["resource-deleted"].of(Subject("workspace", stack), sentence, "keep it until it is unused")
        yield replace(found, details=(*map("cluster `{}`".format, clusters), *map("template `{}`".format, templates)))


def _identity(comparison: Comparison) -> Iterator[Finding]:
    if comparison.first or comparison.unknown:
        return
    for name in ("stack", "project", "region", "pulumi_project"):
        before = getattr(comparison.old, name)
        after = getattr(comparison.new, name)
        if before and after and before != after:
            words = name.replace("_", " ")
            sentence = f"{words} `{before}` → `{after}`: resources and jobs of `{before}` are left behind or deleted"
            fix = f"keep `{before}`, and create a second stack for `{after}`"
            yield KINDS["identity-changed"].of(Subject("stack", comparison.stack, words), sentence, fix, field=name)


def _inactive_clusters(comparison: Comparison) -> Iterator[Finding]:
    """Find edits of clusters that exist neither before nor after the deployment."""
    for name in sorted(comparison.old.dormant.keys() & comparison.new.dormant.keys()):
        after = comparison.new.dormant[name]
        if _sizes(comparison.old.dormant[name]) != _sizes(after):
            begins = after.season.begins
            when = f"on {begins:%Y-%m-%d}" if begins else "later"
            sentence = f"the cluster does not exist now: the edited pools take effect when it is created {when}"
            yield KINDS["takes-effect-later"].of(Subject("cluster", name), sentence)


def _sizes(cluster: DormantCluster) -> list[tuple[object, ...]]:
    """Return what a stack file says about pools, without prices."""
    return [(pool.name, pool.machine, pool.min, pool.max) for pool in cluster.pools]


def _program(comparison: Comparison) -> Iterator[Finding]:
    preview = comparison.preview
    if preview is None or not preview.complete:
        return
    if preview.hooks is not None and GUARD not in preview.hooks:
        sentence = "the deletion guard is not registered, so clusters and buckets are deleted without checking for jobs"
        yield KINDS["guard-missing"].of(Subject("program"), sentence, f"register Slipway's hook `{GUARD}`")
    if Side.AFTER in comparison.unknown:
        sentence = "the program publishes no facts, so submissions, access, quota and cost are not compared"
        yield KINDS["program-warning"].of(Subject("program"), sentence, "declare the stack with Slipway's components")
