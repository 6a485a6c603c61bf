"""Resources of the program apart from clusters and grants, and the identity of the deployment. Pure.

No other part of the product answers for these, so each has a rule here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from slipway.answers.comparison import Comparison, Side
from slipway.base.formatting import counted, few, span
from slipway.deploying.engine.drift import hand_edits
from slipway.deploying.engine.fields import ACCOUNT_FIELDS, BUCKET_FIELDS
from slipway.deploying.engine.grants import form, grants, unreadable
from slipway.deploying.engine.lifecycle import Effect
from slipway.deploying.engine.preview import UNKNOWN, EngineStep
from slipway.deploying.engine.touched import (
    ACCOUNT,
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
from slipway.model.catalog.model import BOARD, HISTORY
from slipway.model.catalog.withdrawal import unfinished
from slipway.model.facts import CATALOG, TEMPLATE, WORKSPACE
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.reviewing.change.removed import removed_workspaces

GUARD = "slipway-guard-v1"
"""The hook that reads jobs again before a deletion. Frozen: deployed stacks have it."""
_GUARDS: Mapping[str, object] = {
    "deletionProtection": True,
    "deletionPolicy": "PREVENT",
    "forceDestroy": False,
    "deleteContentsOnDestroy": False,
}
"""Inputs that prevent a deletion, with the protecting value."""
_QUOTA = "gcp:cloudquota/sQuotaPreference:"
_COMMITMENTS = ("gcp:compute/futureReservation:", "gcp:compute/regionCommitment:")
_MINOR = re.compile(rf"{BY_ITSELF}|(?i:\w*labels|tags|description|displayname)")
_RETENTION = ("lifecycleRules", "retentionPolicy", "softDeletePolicy", "versioning")
_DAY = 86_400.0
_CREATED = (Fate.CREATED, Fate.ADOPTED)


def findings(comparison: Comparison) -> Iterator[Finding]:
    for touched in comparison.touched:
        if touched.type == BUCKET:
            yield from _bucket(comparison, touched)
        elif not _is_reported_elsewhere(touched):
            yield from _resource(comparison, touched)
        yield from _drift(comparison, touched)
    yield from _workspaces(comparison)
    yield from _identity(comparison)
    yield from _inactive_clusters(comparison)
    yield from _program(comparison)


def _is_reported_elsewhere(touched: Touched) -> bool:
    """Return whether clusters, access, quota or submissions report the resource."""
    if touched.type.startswith(CLUSTER_TYPE) or form(touched.type):
        return True
    if touched.type.startswith(_QUOTA):
        return touched.parent.startswith(OURS)
    return touched.type == OBJECT and touched.parent in (TEMPLATE, WORKSPACE)


def _bucket(comparison: Comparison, touched: Touched) -> Iterator[Finding]:
    subject = Subject("bucket", touched.physical)
    announced = _is_announced(comparison, touched)
    if touched.fate is Fate.REPLACED or touched.fate is Fate.DELETED:
        verb = "is replaced" if touched.fate is Fate.REPLACED else "is deleted"
        yield _deletion("bucket-deleted", subject, touched, verb, announced=announced)
    elif touched.fate is Fate.FORGOTTEN:
        sentence = "is no longer managed: the bucket and its objects are kept and billed"
        grade = Grade.NOTE if announced else Grade.WARNING
        yield KINDS["resource-deleted"].of(subject, sentence, grade=grade)
    elif touched.fate is Fate.CHANGED or touched.old is not None:
        yield from _bucket_fields(touched, subject)
        yield from _unprotected("bucket-changed", touched, subject)


def _is_announced(comparison: Comparison, touched: Touched) -> bool:
    """Return whether the deployed stack had given the resource up and kept it only for jobs."""
    kept = comparison.before.kept
    return touched.parent == WORKSPACE and (touched.physical in kept or _account(touched) in kept)


def _account(touched: Touched) -> str:
    state = touched.old or touched.new
    return str(state.outputs.get("email", "")) if state else ""


def _deletion(kind: str, subject: Subject, touched: Touched, verb: str, *, announced: bool = False) -> Finding:
    """Return the finding of a deletion or a replacement, with the settings that cause it."""
    tops = {top(path) for path in touched.replaces}
    causes = [each for each in differences(touched.was, touched.becomes) if top(each.path) in tops]
    because = f" because of {few(str(each) for each in causes)}" if causes else ""
    sentence = f"{verb}{because}{_contents(touched)}"
    fix = "create a second one, move to it, then remove this one"
    grade = Grade.BLOCKING
    if touched.fate is Fate.DELETED:
        fix = "set `retain_on_delete` to keep it"
    if announced or not touched.destroyed:
        grade = Grade.NOTE if announced else Grade.WARNING
        fix = ""
    found = KINDS[kind].of(subject, sentence, fix, grade=grade, field=causes[0].path if causes else "")
    return replace(found, details=tuple(map(str, causes[2:])))


def _contents(touched: Touched) -> str:
    """Return what happens to the contents, as the end of a sentence."""
    if not touched.destroyed:
        return "; the old one is kept"
    if _protection(touched):
        return "; the deployment fails, because deletion protection is on"
    if touched.type != BUCKET:
        return ""
    if touched.was.get("forceDestroy"):
        return " with all its objects"
    return "; the deployment fails if it has objects"


def _protection(touched: Touched) -> bool:
    state = touched.old
    if state is not None and state.protected:
        return True
    return touched.was.get("deletionProtection") is True or touched.was.get("deletionPolicy") == "PREVENT"


def _bucket_fields(touched: Touched, subject: Subject) -> Iterator[Finding]:
    for key in touched.edited:
        before = touched.was.get(key)
        after = touched.becomes.get(key)
        if UNKNOWN in (before, after):
            yield _unknown(subject, key)
            continue
        rule = BUCKET_FIELDS.get(key)
        for effect in rule(before, after) if rule else ():
            kind = "retention-changed" if key in _RETENTION else "bucket-changed"
            sentence = _retention(key, before, after) or effect.does
            grade = Grade.NOTE if key == "lifecycleRules" and _only_records(before, after) else effect.grade
            yield KINDS[kind].of(subject, sentence, _bucket_fix(effect, key), grade=grade, field=key)
        if rule is None:
            for edit in differences(before, after, key):
                yield KINDS["bucket-changed"].of(subject, f"changes {edit}", field=edit.path)


def _bucket_fix(effect: Effect, key: str) -> str:
    return f"keep `{key}`" if effect.grade is Grade.BLOCKING else ""


def _retention(key: str, before: Any, after: Any) -> str:
    """Return the retention before and after, in days; empty if a setting has another meaning."""
    if key == "versioning":
        return "" if after and after.get("enabled") else "previous versions of objects are no longer kept"
    if key == "lifecycleRules":
        kept = [_age(before), _age(after)]
        return f"retention of all objects: {kept[0]} → {kept[1]}" if kept[0] != kept[1] else ""
    names = {"retentionPolicy": "retentionPeriod", "softDeletePolicy": "retentionDurationSeconds"}
    if key not in names:
        return ""
    default = 7 * _DAY if key == "softDeletePolicy" else 0.0
    spans = [_span(policy, names[key], default) for policy in (before, after)]
    what = "minimum retention of objects" if key == "retentionPolicy" else "deleted objects can be restored for"
    locked = ", locked for good" if after and after.get("isLocked") else ""
    return f"{what}: {spans[0]} → {spans[1]}{locked}"


def _age(rules: Any) -> str:
    """Return the age at which lifecycle rules delete every object: 30 days, or forever."""
    ages = []
    for rule in rules or ():
        condition = rule.get("condition") or {}
        limits = [name for name, value in condition.items() if name != "age" and value]
        if rule.get("action", {}).get("type") == "Delete" and not limits:
            ages.append(int(condition.get("age") or 0))
    return counted(min(ages), "day") if ages else "forever"


def _span(policy: Any, key: str, default: float) -> str:
    try:
        seconds = float((policy or {}).get(key, default))
    except (TypeError, ValueError):
        return "unknown"
    if seconds and seconds % _DAY == 0:
        return counted(int(seconds // _DAY), "day")
    return span(seconds) if seconds else "none"


def _only_records(before: Any, after: Any) -> bool:
    """Return whether only the rules for Slipway's own records in the catalog bucket change."""
    changed = [
        rule for rule in (*(before or ()), *(after or ())) if rule not in (before or ()) or rule not in (after or ())
    ]
    prefixes = [(rule.get("condition") or {}).get("matchesPrefixes") or [""] for rule in changed]
    return all({*names} <= {HISTORY, BOARD} for names in prefixes)


def _unprotected(kind: str, touched: Touched, subject: Subject) -> Iterator[Finding]:
    """Find a protection from deletion that is removed."""
    for key, value in _GUARDS.items():
        was = touched.was.get(key)
        becomes = touched.becomes.get(key)
        guarded = was == value or (value is False and was is None)
        if guarded and becomes not in (value, None if value in (False, "PREVENT") and was is None else value):
            sentence = f"can be deleted from now on with all it contains: `{key}` {was} → {becomes}"
            yield KINDS[kind].of(subject, sentence, f"keep `{key}`", grade=Grade.BLOCKING, field=key)
            return
    old = touched.old
    new = touched.new
    if old is not None and new is not None and old.protected and not new.protected:
        sentence = "can be deleted from now on: Pulumi's `protect` is removed"
        yield KINDS[kind].of(subject, sentence, "keep `protect`", grade=Grade.BLOCKING, field="protect")


def _resource(comparison: Comparison, touched: Touched) -> Iterator[Finding]:
    subject = _subject(touched)
    announced = _is_announced(comparison, touched)
    if touched.type == OBJECT and touched.parent == CATALOG:
        if touched.fate is Fate.DELETED:
            yield KINDS["resource-deleted"].of(subject, "the catalog is deleted: submitters can no longer submit")
    elif touched.fate is Fate.REPLACED:
        yield _deletion("resource-replaced", subject, touched, "is replaced", announced=announced)
    elif touched.fate is Fate.DELETED:
        yield _deletion("resource-deleted", subject, touched, "is deleted", announced=announced)
    elif touched.fate is Fate.FORGOTTEN:
        grade = Grade.NOTE if announced else Grade.WARNING
        yield KINDS["resource-deleted"].of(subject, "is no longer managed; it is kept and billed", grade=grade)
    elif touched.fate in _CREATED:
        yield from _created(touched, subject)
    else:
        yield from _changed(touched, subject)


def _subject(touched: Touched) -> Subject:
    """Return the resource by its type and name, such as `bigquery.Dataset runs`."""
    if touched.type == ACCOUNT:
        return Subject("service account", _account(touched) or touched.physical)
    provider, _, rest = touched.type.partition(":")
    module, _, name = rest.partition(":")
    title = f"{module.partition('/')[0]}.{name}"
    return Subject(title if provider == "gcp" else f"{provider} {title}", touched.name)


def _created(touched: Touched, subject: Subject) -> Iterator[Finding]:
    if touched.type.startswith(_COMMITMENTS):
        sentence = "is created and can't be cancelled: it is billed until its end, used or not"
        yield KINDS["resource-changed"].of(subject, sentence, grade=Grade.BLOCKING)
    elif not touched.parent.startswith(OURS) and not touched.by_hand:
        verb = "is imported" if touched.fate is Fate.ADOPTED else "is created"
        yield KINDS["resource-changed"].of(subject, verb)


def _changed(touched: Touched, subject: Subject) -> Iterator[Finding]:
    yield from _unprotected("resource-changed", touched, subject)
    edits = [each for each in differences(touched.was, touched.becomes) if top(each.path) in touched.edited]
    unknown = [each for each in edits if each.after == UNKNOWN]
    for edit in unknown[:1]:
        yield _unknown(subject, edit.path)
    known = [each for each in edits if each not in unknown]
    if known:
        worst = max(known, key=lambda edit: _edit_grade(touched, edit))
        grade = _edit_grade(touched, worst)
        sentence = f"is updated in place: {few(str(edit) for edit in known)}"
        if grade is Grade.BLOCKING and touched.type == ACCOUNT:
            sentence = "is disabled: jobs and users of this account are denied"
        elif grade is Grade.BLOCKING:
            sentence = f"trusts other identities: {worst}"
        found = KINDS["resource-changed"].of(subject, sentence, grade=grade, field=worst.path)
        yield replace(found, details=tuple(map(str, known)) if len(known) > 1 else ())


def _edit_grade(touched: Touched, edit: InputDifference) -> Grade:
    if touched.type == ACCOUNT:
        rule = ACCOUNT_FIELDS.get(top(edit.path))
        effects = list(rule(edit.before, edit.after)) if rule else []
        return max((effect.grade for effect in effects), default=Grade.NOTE)
    if "attributeCondition" in edit.path:
        return Grade.BLOCKING
    return Grade.NOTE if _MINOR.match(top(edit.path)) else Grade.WARNING


def _unknown(subject: Subject, path: str) -> Finding:
    sentence = f"`{path}` is known only at deployment, so the effect of this change is not compared"
    return KINDS["value-unknown"].of(subject, sentence, field=path)


def _drift(comparison: Comparison, touched: Touched) -> Iterator[Finding]:
    """Find what somebody changed by hand and the deployment restores, grants included."""
    if touched.type.startswith(CLUSTER_TYPE) or touched.fate is Fate.REPLACED:
        return
    if unreadable(touched.new):
        yield _unknown(_subject(touched), "policyData")
    if touched.type == OBJECT and (touched.parent != CATALOG or _is_interrupted(comparison)):
        return
    if form(touched.type):
        if touched.by_hand:
            for grant in grants(touched, touched.new):
                sentence = f"`{grant.role}` of `{grant.member}` was removed by hand; the deployment grants it again"
                yield KINDS["drift"].of(_subject(touched), sentence, "remove the grant from the program")
        return
    if touched.now is None and not touched.by_hand:
        return
    step = EngineStep("refresh", "", touched.type, touched.name, touched.parent, touched.old, touched.now)
    fields = ("", "content", *touched.put_back)
    edits = [edit for edit in hand_edits(step, again=True) if top(edit.field) in fields]
    if edits:
        texts = [str(edit.facts.get("short", edit.sentence)) for edit in edits]
        sentence = f"was changed by hand, and the deployment restores it: {texts[0]}"
        found = KINDS["drift"].of(_subject(touched), sentence, field=edits[0].field)
        yield replace(found, details=tuple(texts[1:]))


def _is_interrupted(comparison: Comparison) -> bool:
    """Return whether an interrupted deployment itself wrote the published catalog."""
    published = comparison.published
    return published is not None and unfinished(published)


def _workspaces(comparison: Comparison) -> Iterator[Finding]:
    """Find workspaces that leave a program which keeps others."""
    removed = removed_workspaces(comparison.preview) if comparison.preview else {}
    for stack, components in removed.items():
        templates = sorted(name for type_, name, _ in components if type_ == TEMPLATE)
        clusters = [
            name for type_, _, inputs in components if type_ == CATALOG for name in inputs.get("clusters") or ()
        ]
        lost = f"its {counted(len(clusters), 'cluster')} and {counted(len(templates), 'template')}"
        sentence = f"is removed with {lost}; its submitters can no longer submit"
        found = KINDS["resource-deleted"].of(
            Subject("workspace", stack), sentence, "keep the workspace until it is unused"
        )
        yield replace(
            found,
            details=(
                *(f"cluster `{name}`" for name in sorted(clusters)),
                *(f"template `{name}`" for name in templates),
            ),
        )


def _identity(comparison: Comparison) -> Iterator[Finding]:
    if comparison.first or comparison.unknown:
        return
    for name in ("stack", "project", "region", "pulumi_project"):
        before = getattr(comparison.old, name)
        after = getattr(comparison.new, name)
        if before and after and before != after:
            words = name.replace("_", " ")
            sentence = (
                f"{words} `{before}` → `{after}`: clusters, buckets and jobs of the deployed stack are left behind"
            )
            fix = f"keep `{before}`, and create a second stack for `{after}`"
            yield KINDS["identity-changed"].of(Subject("stack", comparison.stack, words), sentence, fix, field=name)


def _inactive_clusters(comparison: Comparison) -> Iterator[Finding]:
    """Find edits of clusters that exist neither before nor after the deployment."""
    for name, after in comparison.new.dormant.items():
        before = comparison.old.dormant.get(name)
        if before is None or before.pools == after.pools:
            continue
        when = (
            f"it is created again on {after.season.begins:%Y-%m-%d}" if after.season.begins else "it is created again"
        )
        sentence = f"the edited pools take effect when {when}; the cluster does not exist now"
        yield KINDS["takes-effect-later"].of(
            Subject("cluster", name), sentence, field=f"slipway:persistentResources.{name}"
        )


def _program(comparison: Comparison) -> Iterator[Finding]:
    preview = comparison.preview
    if preview is None or not preview.complete:
        return
    if preview.hooks is not None and GUARD not in preview.hooks:
        sentence = f"the deletion guard `{GUARD}` is not registered: clusters are deleted without checking for new jobs"
        yield KINDS["guard-missing"].of(Subject("deletion guard"), sentence, "register Slipway's hooks in the program")
    if Side.AFTER in comparison.unknown:
        sentence = "the program publishes no facts, so submissions, access, quota and cost are not compared"
        yield KINDS["program-warning"].of(Subject("program"), sentence, "declare the stack with Slipway's components")
