"""Resources of every type, known or not: what becomes of them, and what follows; a deletion is destruction.

Slipway's own declarations are reported elsewhere: clusters, buckets, accounts, grants, the catalog and the packages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from slipway.deploying.engine.grants import form
from slipway.deploying.engine.lifecycle import Effect
from slipway.deploying.engine.preview import SECRET, UNKNOWN
from slipway.deploying.engine.touched import (
    ACCOUNT,
    BUCKET,
    BY_ITSELF,
    CLUSTER_TYPE,
    OBJECT,
    OURS,
    Fate,
    Touched,
    differences,
    top,
    unseen,
)
from slipway.model.facts import CATALOG, TEMPLATE, WORKSPACE
from slipway.model.findings.finding import Grade, Subject
from slipway.reviewing.change.change import Change
from slipway.reviewing.change.edits import edits_of
from slipway.reviewing.consequence import IT, Consequence, consequence
from slipway.reviewing.rules.resources.exposure import opening
from slipway.reviewing.rules.table import RowName, follows, say

GUARDS: Mapping[str, object] = {
    "deletionProtection": True,
    "deletionPolicy": "PREVENT",
    "forceDestroy": False,
    "deleteContentsOnDestroy": False,
}
"""Inputs, of any type, that prevent a deletion, with the guarding value."""

UNRULED = follows("edited-unruled")
_TOLD, _QUOTA = (BUCKET, ACCOUNT, CLUSTER_TYPE), "gcp:cloudquota/sQuotaPreference:"
_BY_ITSELF = re.compile(f"{BY_ITSELF}|.*labels")
_FOR_PEOPLE = re.compile(r"(?i)(\w*labels|tags\w*|description|displayname)\b")
_FATES: Mapping[Fate, RowName] = {
    Fate.CREATED: "resource-created",
    Fate.ADOPTED: "resource-created",
    Fate.REPLACED: "resource-replaced",
    Fate.DELETED: "resource-deleted",
    Fate.FORGOTTEN: "resource-forgotten",
}
_COMMITTED = ("compute.FutureReservation", "compute.RegionCommitment")
_COMES, _GOES = (Fate.CREATED, Fate.ADOPTED), (Fate.REPLACED, Fate.DELETED)
_KINDS: Mapping[str, Mapping[Fate, str]] = {
    "bucket": {
        **dict.fromkeys(_COMES, "bucket-created"),
        Fate.REPLACED: "bucket-replaced",
        Fate.DELETED: "bucket-deleted",
        Fate.FORGOTTEN: "bucket-left",
    },
    "account": {**dict.fromkeys(_COMES, "account-created"), **dict.fromkeys(_GOES, "account-deleted")},
}
"""By a subject's word, the kinds of these fates, where they are not the row's."""


def resources(change: Change) -> Iterator[Consequence]:
    for touched in change.touched:
        if not _told(touched):
            subject = Subject("resource", title(touched), touched.name)
            who = f"`{touched.physical}` ({title(touched)})"
            yield from fate(touched, subject, who=who)
            if touched.fate is Fate.CHANGED:
                yield from _changed(touched, subject, who)


def _told(touched: Touched) -> bool:
    """Tell whether another rule reports it. A package that is kept for jobs concerns nobody: it stays unchanged."""
    if touched.type == OBJECT and touched.parent == TEMPLATE:
        return touched.fate is not Fate.DELETED
    of_quota = touched.type.startswith(_QUOTA) and touched.parent.startswith(OURS)
    of_ours = of_quota or (touched.type == OBJECT and touched.parent in (CATALOG, WORKSPACE))
    return of_ours or touched.type.startswith(_TOLD) or form(touched.type) is not None


def _changed(touched: Touched, subject: Subject, who: str) -> Iterator[Consequence]:
    opened = opening(touched)  # `exposure` reports that.
    keys = [key for key in touched.edited if opened is None or key != top(opened.path)]
    edited = [each for each in differences(touched.was, touched.becomes) if top(each.path) in keys]
    if opened and not edited:
        return
    hidden = [path for path in unseen(touched.diffs, edited) if path not in touched.put_back]
    hidden = [path for path in hidden if not _BY_ITSELF.fullmatch(path)]
    secret = any(SECRET in str(touched.becomes.get(path, "")) for path in hidden)
    so = unguarded(touched)
    if so or edited or hidden:
        # The condition of a workload identity provider tells which repositories may deploy as the stack's identity.
        admits = any("attributeCondition" in each.path for each in edited)
        mild = (_FOR_PEOPLE.match(each.path) or GUARDS.get(each.path, UNKNOWN) == each.after for each in edited)
        worst = follows("edited-unprotected") if so else follows("edited-admitting") if admits else UNRULED
        worst = replace(worst, kind="resource-changed")
        worst = replace(worst, grade=Grade.NOTE) if not (so or secret) and all(mild) else worst
        details = [say("value-unseen", path=path) for path in hidden]
        yield told_by(worst, subject, so, who=who, edits=edits_of(edited), details=details)


def of_fate(what: str, fate: Fate, *, stays: bool = False) -> Effect:
    """Return what a fate does to a subject of this word, a resource of a type without one by its title. `stays`: beside
    a new one."""
    if what in _COMMITTED and fate is Fate.CREATED:
        return follows("resource-committed")
    row = follows(_FATES[fate], adopted=fate is Fate.ADOPTED, stays=stays)
    return replace(row, kind=_KINDS.get(what, {}).get(fate, row.kind))


def fate(
    touched: Touched, subject: Subject, so: str = "", *, announced: bool = False, **parts: str
) -> Iterator[Consequence]:
    """Yield what follows from a resource's fate, by its row for that kind of subject. `so`: its end or its purpose,
    empty where that is the row's; `announced`: it was kept for jobs alone, and nothing needs it any more; `parts`: its
    `who` and `field`."""
    if touched.fate is Fate.CHANGED or touched.by_hand:  # Reported field by field, and as drift.
        return
    stays = touched.fate is Fate.REPLACED and not touched.destroyed
    row = of_fate(subject.name if subject.what == "resource" else subject.what, touched.fate, stays=stays)
    guarded = any(value is not False and touched.was.get(key) == value for key, value in GUARDS.items())
    guarded = touched.destroyed and (guarded or bool(touched.old and touched.old.protected))
    if announced or (stays and not so):
        row = replace(row, grade=Grade.NOTE if announced else Grade.WARNING)
    if announced or guarded:
        row = replace(row, instead="")
    so = say("resource-end", announced=announced, guarded=guarded, so=so)
    tops = {top(path) for path in touched.replaces}
    because = [each for each in differences(touched.was, touched.becomes) if top(each.path) in tops]
    yield told_by(row, subject, so, edits=edits_of(because), **parts)


def told_by(effect: Effect, subject: Subject, so: str = "", **parts: Any) -> Consequence:
    """Return the consequence of an effect. `so`: its end, where that is not the effect's."""
    parts = {"who": f"{subject.what.capitalize()} {IT}", "instead": effect.instead, "row": effect.row, **parts}
    return consequence(effect.kind, subject, effect.does, grade=effect.grade, so=so or effect.so, **parts)


def title(touched: Touched) -> str:
    """Return `bigquery.Dataset`; `kubernetes apps.Deployment` for a provider that is not Google's."""
    provider, _, rest = touched.type.partition(":")
    module, _, name = rest.partition(":")
    plain = f"{module.partition('/')[0]}.{name}"
    return plain if provider == "gcp" else f"{provider} {plain}"


def unguarded(touched: Touched) -> str:
    """Return what prevents a deletion no longer; empty where nothing did, or still does."""
    old, new = touched.old, touched.new
    lost: dict[str, object] = {"protected": old and new and old.protected and not new.protected}
    lost["retained"] = old and new and old.retained and not new.retained
    for key, value in GUARDS.items():
        was, becomes = touched.was.get(key), touched.becomes.get(key)
        # `forceDestroy` and its like are off by default.
        guarded = was == value or (was is None and value is False)
        lost[key] = guarded and becomes != value and not (becomes is None and value in (False, None))
    return say("protection-lost", **lost)
