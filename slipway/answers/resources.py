"""Resources of the program apart from clusters and grants, and the identity of the deployment. Pure.

No other part of the product answers for these, so each has a rule here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from slipway.answers.comparison import Comparison
from slipway.answers.removed import removed_workspaces
from slipway.answers.rights import VERBS, fate_text, resource_subject
from slipway.base.formatting import few
from slipway.deploying.engine.fields import BUCKET_FIELDS
from slipway.deploying.engine.grants import form, unreadable
from slipway.deploying.engine.lifecycle import Effect
from slipway.deploying.engine.preview import UNKNOWN, Preview, Resource
from slipway.deploying.engine.touched import BUCKET, CLUSTER_TYPE, OBJECT, OURS, Fate, Touched, top
from slipway.deploying.engine.touched import differences as input_differences
from slipway.model.catalog.clusters import DormantCluster
from slipway.model.catalog.model import BOARD, HISTORY
from slipway.model.facts import CATALOG, TEMPLATE, WORKSPACE
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS

GUARD = "slipway-guard-v1"
"""The hook that reads jobs again before a deletion. Frozen: deployed stacks have it."""
_SAFE: Mapping[str, tuple[object, ...]] = {
    "protect": (True,),
    "retainOnDelete": (True,),
    "deletionProtection": (True,),
    "deletionPolicy": ("PREVENT",),
    "forceDestroy": (False, None),
    "deleteContentsOnDestroy": (False, None),
    "disabled": (False, None),
    "enabled": (True, None),
}
"""By an input, the values that keep a resource from deletion or in service; None is its default."""
_RETENTION = {
    f"{BUCKET} {key}": "retention-changed"
    for key in ("lifecycleRules", "retentionPolicy", "softDeletePolicy", "versioning")
}
_TRUST = "attributeCondition"
"""The input by which an identity pool restricts who it trusts."""
_KINDS: Mapping[tuple[Fate, str], str] = {
    (Fate.DELETED, BUCKET): "bucket-deleted",
    (Fate.REPLACED, BUCKET): "bucket-deleted",
    (Fate.DELETED, ""): "resource-deleted",
    (Fate.REPLACED, ""): "resource-replaced",
    (Fate.FORGOTTEN, ""): "resource-deleted",
}
_QUOTA = "gcp:cloudquota/sQuotaPreference:"
_COMMITMENTS = ("gcp:compute/futureReservation:", "gcp:compute/regionCommitment:")
_IN_PLACE = "is updated in place"


def findings(comparison: Comparison) -> Iterator[Finding]:
    for touched in comparison.touched:
        subject = resource_subject(touched)
        if unreadable(touched.new):
            yield _unknown(subject, "policyData")
        if not _is_reported_elsewhere(touched):
            yield from _resource(comparison, touched, subject)
        yield from _drift(touched, subject)
    yield from _workspaces(comparison)
    yield from _identity(comparison)
    yield from _inactive_clusters(comparison)
    yield from _guard(comparison)


def _is_reported_elsewhere(touched: Touched) -> bool:
    """Return whether clusters, access, quota or submissions report the resource."""
    if touched.type.startswith(_QUOTA) or touched.type == OBJECT:
        is_catalog = touched.parent == CATALOG and touched.fate is Fate.DELETED
        return touched.parent.startswith(OURS) and not is_catalog
    return touched.type.startswith(CLUSTER_TYPE) or form(touched.type) is not None


def _resource(comparison: Comparison, touched: Touched, subject: Subject) -> Iterator[Finding]:
    if touched.goes or touched.fate is Fate.FORGOTTEN:
        yield _deletion(comparison, touched, subject)
    elif touched.type.startswith(_COMMITMENTS) and touched.old is None:
        sentence = f"{VERBS[touched.fate]} and can't be cancelled: it is billed until its end, used or not"
        yield KINDS["resource-changed"].of(subject, sentence, grade=Grade.BLOCKING)
    elif touched.fate is Fate.CHANGED:
        yield from _changed(touched, subject)
    elif not touched.parent.startswith(OURS) and not touched.by_hand:
        yield KINDS["resource-changed"].of(subject, VERBS[touched.fate])


def _deletion(comparison: Comparison, touched: Touched, subject: Subject) -> Finding:
    """Return the finding of a deletion or a replacement, with the settings that cause it."""
    kind = _KINDS.get((touched.fate, touched.type), _KINDS[touched.fate, ""])
    tops = {top(path) for path in touched.replaces}
    edits = input_differences(touched.was, touched.becomes)
    sentence = _with(fate_text(touched), [edit for edit in edits if top(edit.path) in tops])
    if subject.name in comparison.before.kept:
        # The deployed stack had given it up, and kept it only for jobs.
        return KINDS[kind].of(subject, sentence, grade=Grade.NOTE)
    if not touched.destroyed:
        return KINDS[kind].of(subject, sentence, grade=Grade.WARNING)
    return KINDS[kind].of(subject, sentence, "keep it, or create a second one and move to it first")


def _with(sentence: str, edits: Iterable[object]) -> str:
    """Return a sentence with the edited inputs, if any."""
    listed = few(map(str, edits))
    return f"{sentence}: {listed}" if listed else sentence


def _changed(touched: Touched, subject: Subject) -> Iterator[Finding]:
    """Compare the inputs of a resource that remains, and how Pulumi protects it."""
    was = {**touched.was, **_protection(touched.old)}
    becomes = {**touched.becomes, **_protection(touched.new)}
    usual = "bucket-changed" if touched.type == BUCKET else "resource-changed"
    for key in (*touched.edited, "protect", "retainOnDelete"):
        edits = list(input_differences(was.get(key), becomes.get(key), key))
        kind = _RETENTION.get(f"{touched.type} {key}", usual)
        if UNKNOWN in [edit.after for edit in edits]:
            yield _unknown(subject, key)
        elif edits:
            for effect in _effects(touched.type, key, was.get(key), becomes.get(key)):
                fix = f"keep `{key}`" if effect.grade is Grade.BLOCKING else ""
                yield KINDS[kind].of(subject, _with(effect.does, edits), fix, grade=effect.grade, field=key)


def _protection(resource: Resource | None) -> Mapping[str, bool]:
    """Return Pulumi's options of a resource by the names that they have in programs."""
    if resource is None:
        return {}
    return {"protect": resource.protected, "retainOnDelete": resource.retained}


def _effects(type_: str, key: str, before: object, after: object) -> Iterable[Effect]:
    """Return the effects of an edited input."""
    safe = _SAFE.get(key, ())
    if key == _TRUST or (before in safe and after not in safe):
        return [Effect(_IN_PLACE, grade=Grade.BLOCKING)]
    if type_ != BUCKET or key not in BUCKET_FIELDS:
        return [Effect(_IN_PLACE)]
    if key == "lifecycleRules":
        return BUCKET_FIELDS[key](_without_records(before), _without_records(after))
    return BUCKET_FIELDS[key](before, after)


def _without_records(rules: Any) -> list[Any]:
    """Return lifecycle rules without those for Slipway's own records."""
    return [rule for rule in rules or () if {HISTORY, BOARD}.isdisjoint(_prefixes(rule))]


def _prefixes(rule: Mapping[str, Any]) -> list[str]:
    condition: Mapping[str, Any] = rule.get("condition") or {}
    return list(condition.get("matchesPrefixes") or ())


def _unknown(subject: Subject, path: str) -> Finding:
    sentence = f"`{path}` is known only at deployment, so the effect of its change is not compared"
    return KINDS["value-unknown"].of(subject, sentence, field=path)


def _drift(touched: Touched, subject: Subject) -> Iterator[Finding]:
    """Find manual changes that the deployment reverts."""
    if touched.by_hand:
        yield KINDS["drift"].of(subject, "was deleted by hand, and the deployment creates it again")
    # An interrupted deployment writes the catalog's object itself; the plan reports clusters.
    if touched.type == OBJECT or touched.type.startswith(CLUSTER_TYPE) or touched.fate is not Fate.CHANGED:
        return
    present = touched.now or Resource()
    for key in touched.put_back:
        edits = input_differences(present.inputs.get(key), touched.becomes.get(key), key)
        sentence = _with("was changed by hand, and the deployment restores it", edits)
        yield KINDS["drift"].of(subject, sentence, field=key)


def _workspaces(comparison: Comparison) -> Iterator[Finding]:
    """Find workspaces that leave a program which keeps others."""
    removed = removed_workspaces(comparison.preview or Preview())
    for stack, components in removed.items():
        details: list[str] = []
        members: set[str] = set()
        for type_, name, inputs in components:
            if type_ == TEMPLATE:
                details.append(f"template `{name}`")
            elif type_ == CATALOG:
                details += [f"cluster `{cluster}`" for cluster in inputs.get("clusters") or ()]
            elif type_ == WORKSPACE:
                members.update(inputs.get("submitters") or ())
        who = few(sorted(members), 2) or "its submitters"
        sentence = f"is removed with its clusters and templates; {who} can no longer submit"
        found = KINDS["resource-deleted"].of(Subject("workspace", stack), sentence, "keep it until it is unused")
        yield replace(found, details=tuple(details))


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


def _guard(comparison: Comparison) -> Iterator[Finding]:
    preview = comparison.preview
    if preview is None or not preview.complete or preview.hooks is None:
        return
    if GUARD not in preview.hooks:
        sentence = "the deletion guard is not registered, so clusters and buckets are deleted without checking for jobs"
        yield KINDS["guard-missing"].of(Subject("program"), sentence, f"register Slipway's hook `{GUARD}`")
