"""Resources of every type, known or not: what goes is destruction, whatever the engine calls it.

What Slipway itself declares is told elsewhere, in its own words: clusters, buckets, accounts, who may do what, the
catalog and the packages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from slipway.facts import CATALOG, TEMPLATE, WORKSPACE
from slipway.findings.finding import Finding, Grade, Subject
from slipway.findings.kinds import KINDS
from slipway.review.change import Change
from slipway.review.clusters.deletions import CLUSTER_TYPE
from slipway.review.grants import form
from slipway.review.inputs import differences, top, unseen
from slipway.review.preview import SECRET
from slipway.review.resources.fates import Told, fate, title, unguarded
from slipway.review.resources.undeclared import HURTS, undeclared
from slipway.review.touched import ACCOUNT, BUCKET, OBJECT, OURS, Fate, Touched
from slipway.review.words import named, several

_KINDS = {
    Fate.CREATED: "resource-created",
    Fate.ADOPTED: "resource-created",
    Fate.REPLACED: "resource-replaced",
    Fate.DELETED: "resource-deleted",
    Fate.FORGOTTEN: "resource-forgotten",
}
_TOLD, _QUOTA = (BUCKET, ACCOUNT), "gcp:cloudquota/sQuotaPreference:"
_BY_ITSELF = re.compile(
    r"(?i).*(etag|fingerprint|generation|updated|time|timestamp|version|selflink|status|state|labels)"
)


def resources(change: Change) -> Iterator[Finding]:
    for one in change.touched:
        if not _told(one):
            ends = undeclared(one.type).ends_with_it if one.destroyed else ""
            follows = f", and with {'it' if one.fate is Fate.DELETED else 'the old one'} {ends}" if ends else ""
            subject, what = Subject("resource", title(one), one.name), f"`{one.physical}` ({title(one)})"
            yield from fate(one, Told(subject, what, _KINDS, follows))
            if one.fate is Fate.CHANGED:
                yield from _changed(one, subject, what)
    let_go = [f"`{one.physical}`" for one in change.touched if _is_package(one) and unguarded(one)]
    if let_go:
        words = "Packages are no longer kept for queued and restarting jobs when their template changes or goes"
        yield KINDS["resource-changed"].of(Subject("packages"), words, details=let_go, grade=Grade.BLOCKING)


def _told(one: Touched) -> bool:
    """Tell whether another comparison speaks of it. A package that is kept for jobs is nobody's: it stays as it is."""
    if form(one.type) or one.type in _TOLD or one.type.startswith(CLUSTER_TYPE):
        return True
    if one.type.startswith(_QUOTA) and one.parent.startswith(OURS):
        return True
    if _is_package(one):
        return one.fate is not Fate.DELETED
    return one.type == OBJECT and one.parent in (CATALOG, WORKSPACE)


def _is_package(one: Touched) -> bool:
    return one.type == OBJECT and one.parent == TEMPLATE


def _changed(one: Touched, subject: Subject, what: str) -> Iterator[Finding]:
    edited = [each for each in differences(one.was, one.becomes) if top(each.path) in one.edited]
    hidden = [path for path in unseen(one.diffs, edited) if path not in one.put_back and _means_something(one, path)]
    lines = (*map(str, edited), *(_unshown(one, path) for path in hidden))
    words, grade = f"{what} changes in place: {named(lines)}", None
    if why := unguarded(one):
        words, grade = f"{what} may be deleted from now on: {why}", Grade.BLOCKING
    elif _labels_alone([*(each.path for each in edited), *hidden]) or not (
        edited or any(_secret(one, path) for path in hidden)
    ):
        grade = Grade.NOTE
    elif any(HURTS.search(each.path) for each in edited):
        grade = Grade.BLOCKING
    if why or lines:
        yield KINDS["resource-changed"].of(subject, words, details=several(lines), grade=grade)


def _means_something(one: Touched, path: str) -> bool:
    return _secret(one, path) or not _BY_ITSELF.fullmatch(path)


def _unshown(one: Touched, path: str) -> str:
    return f"`{path}`, which is secret" if _secret(one, path) else f"`{path}`, which the cloud computes"


def _secret(one: Touched, path: str) -> bool:
    return SECRET in str(one.becomes.get(path, ""))


def _labels_alone(paths: list[str]) -> bool:
    return all(re.match(r"(?i)(\w*labels|tags\w*|description|displayname)\b", path) for path in paths)
