"""Resources of every type, known or not: what becomes of them, and what follows; a deletion is destruction.

Slipway's own declarations are reported elsewhere: clusters, buckets, accounts, grants, the catalog and the packages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

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
from slipway.reviewing.change.edits import edits_of
from slipway.reviewing.consequence import IT, Consequence, consequence
from slipway.reviewing.rules.resources.exposure import opening
from slipway.reviewing.rules.table import ROWS, by_row, follows
from slipway.reviewing.rules.words import named

GUARDS: Mapping[str, tuple[object, str]] = {
    "deletionProtection": (True, "its protection from deletion is off"),
    "deletionPolicy": ("PREVENT", "nothing prevents its deletion any more"),
    "forceDestroy": (False, "nothing asks whether it is empty"),
    "deleteContentsOnDestroy": (False, "nothing asks whether it is empty"),
}
"""Inputs, of any type, that prevent a deletion: the guarding value, and what follows without it."""

_OLD_STAYS = "is made anew; the old one stays, paid as before"
UNRULED = follows("edited-unruled")
_TOLD, _QUOTA = (BUCKET, ACCOUNT, CLUSTER_TYPE), "gcp:cloudquota/sQuotaPreference:"
_BY_ITSELF = re.compile(f"{BY_ITSELF}|.*labels")
_FOR_PEOPLE = re.compile(r"(?i)(\w*labels|tags\w*|description|displayname)\b")
_COMPUTED = "the cloud computes"


def resources(change: Change) -> Iterator[Consequence]:
    for touched in change.touched:
        if not _told(touched):
            subject = Subject("resource", title(touched), touched.name)
            naming = named(f"`{name}`" for name in _naming(touched, change))
            who = f"`{touched.physical}` ({title(touched)}{f', which jobs of {naming} name' if naming else ''})"
            yield from fate(touched, subject, "", who=who)
            if touched.fate is Fate.CHANGED:
                yield from _changed(touched, subject, who)
    if let_go := [f"`{touched.physical}`" for touched in change.touched if _is_package(touched) and unguarded(touched)]:
        yield by_row("packages-let-go", Subject("packages"), details=let_go)


def _naming(touched: Touched, change: Change) -> Iterator[str]:
    """Yield the templates whose jobs name it, by the end of its full name or by where its images lie."""
    if touched.old and touched.fate is not Fate.FORGOTTEN:
        where = {"location": "", "project": change.old.project, **touched.was}
        images = "repositoryId" in where and "{location}-docker.pkg.dev/{project}/{repositoryId}".format_map(where)
        # A path of images has a domain's project (`acme.example:ml`) with a slash.
        called = re.escape(images.replace(":", "/") if images else "/".join(touched.old.id.split("/")[-2:]))
        for name, template in change.new.templates.items():
            if "/" in called and any(re.search(rf"{called}(?![\w-])", str(offer.request)) for offer in template.offers):
                yield name


def _told(touched: Touched) -> bool:
    """Tell whether another rule reports it. A package that is kept for jobs concerns nobody: it stays unchanged."""
    if _is_package(touched):
        return touched.fate is not Fate.DELETED
    of_quota = touched.type.startswith(_QUOTA) and touched.parent.startswith(OURS)
    of_ours = of_quota or (touched.type == OBJECT and touched.parent in (CATALOG, WORKSPACE))
    return of_ours or touched.type.startswith(_TOLD) or form(touched.type) is not None


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
        yield told_by(worst, subject, unguarded(touched), who=who, edits=edits_of(edited), details=details)


def _hidden(touched: Touched, edited: Sequence[InputDifference]) -> Iterator[tuple[str, str]]:
    """Yield paths that differ and have no value to show, with the reason."""
    for path in unseen(touched.diffs, edited):
        if path not in touched.put_back:
            if SECRET in str(touched.becomes.get(path, "")):
                yield path, "is secret"
            elif not _BY_ITSELF.fullmatch(path):
                # `__provider` is the code of a resource that the program itself makes, changes and deletes.
                yield path, "the deployment runs" if path == "__provider" else _COMPUTED


def _effect(touched: Touched, edited: Sequence[InputDifference], hidden: Mapping[str, str]) -> Effect:
    paths = (*(each.path for each in edited), *hidden)
    if "CustomRole:" in touched.type and "permissions" in paths:
        known = {text for _, text in texts(touched.was.get("permissions"))}
        more = {text for _, text in texts(touched.becomes.get("permissions"))} - known
        gives_roles = any(permission.endswith(".setIamPolicy") for permission in more)
        return follows(f"edited-permits-{'any-role' if gives_roles else 'more' if more else 'less'}")
    if unguarded(touched):
        return follows("edited-unprotected")
    # The condition of a workload identity provider tells which repositories may deploy as the stack's identity.
    if any("attributeCondition" in each.path for each in edited):
        return follows("edited-admitting")
    if all(map(_FOR_PEOPLE.match, paths)) or (not edited and set(hidden.values()) == {_COMPUTED}):
        return follows("edited-works-as-before")
    if not hidden and all(each.path in GUARDS and GUARDS[each.path][0] == each.after for each in edited):
        return follows("edited-guarded")
    some = [word for each in edited for word in (f"{each.path} {each.sides[1]}", top(each.path))]
    return UNRULED if hidden else follows(of_type("edited-unruled", touched, *some))


def fate(
    touched: Touched, subject: Subject, so: str, *, details: Iterable[str] = (), announced: bool = False, **parts: str
) -> Iterator[Consequence]:
    """Yield what follows from a resource's fate, by its row for that kind of subject. `so`: its end or its purpose,
    empty where that is the row's; `announced`: it was kept for jobs alone, and nothing needs it any more; `parts`: its
    `who` and `field`."""
    if touched.fate is Fate.CHANGED or touched.by_hand:  # Reported field by field, and as drift.
        return
    row = follows(of_type(f"{subject.what}-{touched.fate}", touched))
    guarded = any(value is not False and touched.was.get(key) == value for key, (value, _) in GUARDS.items())
    if touched.fate is Fate.REPLACED and not touched.destroyed:
        row = replace(row, does=_OLD_STAYS, so="", instead="", grade=row.grade if so else Grade.WARNING)
    if announced:
        row = replace(row, so="as was announced, since nothing needs it any more", instead="", grade=Grade.NOTE)
    elif touched.destroyed and (guarded or (touched.old and touched.old.protected)):
        row = replace(row, so="it is protected from that, so the deployment would fail", instead="")
    elif so:
        row = replace(row, so=so)
    id_ = touched.old.id if touched.old else ""
    tops = {top(path) for path in touched.replaces}
    because = [each for each in differences(touched.was, touched.becomes) if top(each.path) in tops]
    unshown = tops - {top(each.path) for each in because}
    details = (
        *details,
        *((f"`{id_}`",) if id_ not in ("", touched.physical) else ()),
        *(f"because of `{path}`" for path in sorted(unshown)),
        *(("what it depends on is made anew",) if touched.fate is Fate.REPLACED and not tops else ()),
    )
    yield told_by(row, subject, edits=edits_of(because), details=details, **parts)


def of_type(row: str, touched: Touched, *more: str) -> str:
    """Return the first of a row's words for resources of this type, `more` behind them, or else the row itself."""
    words = (f"{row} {title(touched)}{f' {word}' if word else ''}" for word in more or ("",))
    return next((word for word in words if word in ROWS), row)


def told_by(effect: Effect, subject: Subject, so: str = "", **parts: Any) -> Consequence:
    """Return the consequence of an effect. `so`: its end, where that is not the effect's. A subject's own word names
    who is hit, where `parts` don't."""
    parts = {"who": f"{subject.what.capitalize()} {IT}", "instead": effect.instead, **parts}
    return consequence(effect.kind, subject, effect.does, grade=effect.grade, so=so or effect.so, **parts)


def title(touched: Touched) -> str:
    """Return `bigquery.Dataset`; `kubernetes apps.Deployment` for a provider that is not Google's."""
    provider, _, rest = touched.type.partition(":")
    module, _, name = rest.partition(":")
    plain = f"{module.partition('/')[0]}.{name}"
    return plain if provider == "gcp" else f"{provider} {plain}"


def unguarded(touched: Touched) -> str:
    """Return what prevents a deletion no longer; empty where nothing did, or still does."""
    if touched.old and touched.new and touched.old.protected and not touched.new.protected:
        return "the program no longer protects it"
    if touched.old and touched.new and touched.old.retained and not touched.new.retained:
        return "the program no longer keeps it when it leaves the stack"
    for key, (value, why) in GUARDS.items():
        was, becomes = touched.was.get(key), touched.becomes.get(key)
        # `forceDestroy` and its like are off by default.
        guarded = was == value or (was is None and value is False)
        if guarded and becomes != value and not (becomes is None and value in (False, None)):
            return why
    return ""
