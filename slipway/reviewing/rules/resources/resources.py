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
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.resources.exposure import opening
from slipway.reviewing.rules.resources.fates import GUARDS, UNRULED, edits_of, fate, of_type, title, told_by, unguarded
from slipway.reviewing.rules.table import by_row, follows
from slipway.reviewing.rules.words import named

_TOLD, _QUOTA = (BUCKET, ACCOUNT), "gcp:cloudquota/sQuotaPreference:"
_BY_ITSELF = re.compile(f"{BY_ITSELF}|.*labels")
_FOR_PEOPLE = re.compile(r"(?i)(\w*labels|tags\w*|description|displayname)\b")
_IMAGES = "{location}-docker.pkg.dev/{project}/{repositoryId}"
_ADMITS = "attributeCondition"
"""The input of a workload identity provider that tells which repositories may deploy as the stack's identity."""
_PROVIDER = "__provider"
"""The code of a resource that the program itself makes, changes and deletes (a dynamic provider's)."""


def resources(change: Change) -> Iterator[Consequence]:
    for touched in change.touched:
        if not _told(touched):
            subject = Subject("resource", title(touched), touched.name)
            naming = named(f"`{name}`" for name in _naming(touched, change))
            who = f"`{touched.physical}` ({title(touched)}{f', which jobs of {naming} name' if naming else ''})"
            yield from fate(touched, subject, who, "other")
            if touched.fate is Fate.CHANGED:
                yield from _changed(touched, subject, who)
    let_go = [f"`{touched.physical}`" for touched in change.touched if _is_package(touched) and unguarded(touched)]
    if let_go:
        yield by_row("packages-let-go", Subject("packages"), details=let_go)


def _naming(touched: Touched, change: Change) -> Iterator[str]:
    """Yield the templates whose jobs name it, by the end of its full name or by where its images lie."""
    if touched.old and touched.fate is not Fate.FORGOTTEN:
        where = {"location": "", "project": change.old.project, **touched.was}
        images = "repositoryId" in where and _IMAGES.format_map(where)
        called = re.escape(images or "/".join(touched.old.id.split("/")[-2:]))
        for name, template in change.new.templates.items():
            if "/" in called and any(re.search(rf"{called}(?![\w-])", str(offer.request)) for offer in template.offers):
                yield name


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
    worst = replace(_effect(touched, edited, hidden), kind="resource-changed")
    if worst.grade is Grade.BLOCKING or edited or hidden:
        details = [f"`{path}`, which {why}" for path, why in hidden.items()]
        yield told_by(worst, subject, who, unguarded(touched), edits=edits_of(edited), details=details)


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
        return follows("edited-unprotected")
    if any(_ADMITS in each.path for each in edited):
        return follows("edited-admitting")
    if all(map(_FOR_PEOPLE.match, paths)) or (not edited and set(hidden.values()) == {_COMPUTED}):
        return follows("edited-works-as-before")
    guards = {key: value for key, (value, _) in GUARDS.items()}
    if not hidden and all(guards.get(each.path) == each.after is not None for each in edited):
        return follows("edited-guarded")
    some = [word for each in edited for word in (f"{each.path} {each.sides[1]}", top(each.path))]
    return UNRULED if hidden else follows(of_type("edited-unruled", touched, *some))


def _permissions(touched: Touched) -> Effect:
    """Judge a change of a custom role by what its members get."""
    before, after = ({text for _, text in texts(side.get("permissions"))} for side in (touched.was, touched.becomes))
    if any(permission.endswith(".setIamPolicy") for permission in after - before):
        return follows("edited-permits-any-role")
    return follows(f"edited-permits-{'more' if after - before else 'less'}")
