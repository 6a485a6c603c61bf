"""Resources of every type, known or not: a deletion is destruction.

Slipway's own declarations are reported elsewhere: clusters, buckets, accounts, grants, the catalog and the packages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from slipway.deploying.engine.grants import form
from slipway.deploying.engine.lifecycle import Effect
from slipway.deploying.engine.preview import SECRET
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
    texts,
    top,
    unseen,
)
from slipway.model.facts import CATALOG, TEMPLATE, WORKSPACE
from slipway.model.findings.finding import Grade, Subject
from slipway.reviewing.change.change import Change
from slipway.reviewing.consequence import Consequence, consequence
from slipway.reviewing.rules.resources.exposure import opening
from slipway.reviewing.rules.resources.fates import GUARDS, OTHERS, UNRULED, edits_of, fate, follows, title, unguarded

_TOLD, _QUOTA = (BUCKET, ACCOUNT), "gcp:cloudquota/sQuotaPreference:"
_BY_ITSELF = re.compile(f"{BY_ITSELF}|.*labels")
_FOR_PEOPLE = re.compile(r"(?i)(\w*labels|tags\w*|description|displayname)\b")
_ADMITS = "attributeCondition"
"""The input of a workload identity provider that tells which repositories may deploy as the stack's identity."""
_PROVIDER = "__provider"
"""The code of a resource that the program itself makes, changes and deletes (a dynamic provider's)."""
_KEEP_GUARD = "keep the protection until the deployment that is to delete it"
_UNPROTECTED = Effect("may be deleted from now on", grade=Grade.BLOCKING, instead=_KEEP_GUARD)
_ADMITTING = Effect(
    "lets in others than before",
    "whoever meets the new condition deploys as the identity behind it",
    Grade.BLOCKING,
    "name the repository and its branch in the condition",
)
_MORE = Effect(
    "lets its members do more",
    "not known: no rule of Slipway's tells what",
    Grade.BLOCKING,
    "use a role of the service",
)
_ANY_ROLE = replace(_MORE, so="they may give anybody any role there")
_LESS = Effect("lets its members do less", "what needs the lost permissions is refused", Grade.WARNING)
_AS_BEFORE = Effect("is edited, and works as before")
_GUARDED = Effect("can't be deleted by mistake any more")


def resources(change: Change) -> Iterator[Consequence]:
    for touched in change.touched:
        if not _told(touched):
            subject = Subject("resource", title(touched), touched.name)
            who = f"`{touched.physical}` ({title(touched)})"
            yield from fate(touched, subject, who, OTHERS)
            if touched.fate is Fate.CHANGED:
                yield from _changed(touched, subject, who)
    let_go = [f"`{touched.physical}`" for touched in change.touched if _is_package(touched) and unguarded(touched)]
    if let_go:
        yield consequence(
            "resource-changed",
            Subject("packages"),
            "are no longer kept for queued and restarting jobs",
            who="Packages",
            so="once their template changes or goes, a restart of such a job fails",
            instead="leave `retain_on_delete` on",
            details=let_go,
            grade=Grade.BLOCKING,
        )


def _told(touched: Touched) -> bool:
    """Tell whether another rule reports it. A package that is kept for jobs concerns nobody: it stays unchanged."""
    if form(touched.type) or touched.type in _TOLD or touched.type.startswith(CLUSTER_TYPE):
        return True
    if touched.type.startswith(_QUOTA) and touched.parent.startswith(OURS):
        return True
    if _is_package(touched):
        return touched.fate is not Fate.DELETED
    return touched.type == OBJECT and touched.parent in (CATALOG, WORKSPACE)


def _is_package(touched: Touched) -> bool:
    return touched.type == OBJECT and touched.parent == TEMPLATE


def _changed(touched: Touched, subject: Subject, who: str) -> Iterator[Consequence]:
    opened = opening(touched)  # `exposure` reports that.
    keys = [key for key in touched.edited if opened is None or key != top(opened.path)]
    edited = [each for each in differences(touched.was, touched.becomes) if top(each.path) in keys]
    if opened and not edited:
        return
    hidden = dict(_hidden(touched, edited))
    effect = _effect(touched, edited, hidden)
    if effect.grade is Grade.BLOCKING or edited or hidden:
        details = [f"`{path}`, which {why}" for path, why in hidden.items()]
        effect = replace(effect, kind="resource-changed")
        yield follows(effect, subject, who, unguarded(touched), edits=edits_of(edited), details=details)


_IS_SECRET, _RUNS, _COMPUTED = "is secret", "the deployment runs", "the cloud computes"


def _hidden(touched: Touched, edited: Sequence[InputDifference]) -> Iterator[tuple[str, str]]:
    """Yield paths that differ and have no value to show, with the reason."""
    for path in unseen(touched.diffs, edited):
        if path not in touched.put_back:
            if SECRET in str(touched.becomes.get(path, "")):
                yield path, _IS_SECRET
            elif not _BY_ITSELF.fullmatch(path):
                yield path, _RUNS if path == _PROVIDER else _COMPUTED


def _effect(touched: Touched, edited: Sequence[InputDifference], hidden: Mapping[str, str]) -> Effect:
    paths = (*(each.path for each in edited), *hidden)
    if "CustomRole:" in touched.type and "permissions" in paths:
        return _permissions(touched)
    if unguarded(touched):
        return _UNPROTECTED
    if any(_ADMITS in each.path for each in edited):
        return _ADMITTING
    if all(map(_FOR_PEOPLE.match, paths)) or (not edited and set(hidden.values()) == {_COMPUTED}):
        return _AS_BEFORE
    guards = {key: value for key, (value, _) in GUARDS.items()}
    if not hidden and all(guards.get(each.path) == each.after is not None for each in edited):
        return _GUARDED
    return UNRULED


def _permissions(touched: Touched) -> Effect:
    """Judge a change of a custom role by what its members get."""
    before, after = ({text for _, text in texts(side.get("permissions"))} for side in (touched.was, touched.becomes))
    if any(permission.endswith(".setIamPolicy") for permission in after - before):
        return _ANY_ROLE
    return _MORE if after - before else _LESS
