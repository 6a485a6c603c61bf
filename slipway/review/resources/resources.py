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
from slipway.review.preview import SECRET
from slipway.review.resources.grants import form
from slipway.review.resources.inputs import Difference, differences, top, unseen
from slipway.review.resources.touched import ACCOUNT, BUCKET, OBJECT, OURS, Fate, Touched
from slipway.review.resources.undeclared import GUARDS, HURTS, undeclared
from slipway.review.words import named

_TOLD, _QUOTA = (BUCKET, ACCOUNT), "gcp:cloudquota/sQuotaPreference:"
_BY_ITSELF = re.compile(
    r"(?i).*(etag|fingerprint|generation|updated|time|timestamp|version|selflink|status|state|labels)"
)


def resources(change: Change) -> Iterator[Finding]:
    for one in change.touched:
        if not _told(one):
            yield from _consequence(one)
    let_go = [f"`{one.physical}`" for one in change.touched if _is_package(one) and unguarded(one)]
    if let_go:
        words = "Packages are no longer kept for queued and restarting jobs when their template changes or goes"
        yield KINDS["resource-changed"].of(Subject("packages"), words, details=let_go, grade=Grade.BLOCKING)


def title(one: Touched) -> str:
    """`bigquery.Dataset`; `aws s3.Bucket` of a provider that is not Google's."""
    provider, _, rest = one.type.partition(":")
    module, _, name = rest.partition(":")
    plain = f"{module.partition('/')[0]}.{name}"
    return plain if provider == "gcp" else f"{provider} {plain}"


def _told(one: Touched) -> bool:
    """Whether others speak of it. A package that is kept for jobs is said by nobody: it stays as it is."""
    if form(one.type) or one.type in _TOLD or one.type.startswith(CLUSTER_TYPE):
        return True
    if one.type.startswith(_QUOTA) and one.parent.startswith(OURS):
        return True
    if _is_package(one):
        return one.fate is not Fate.DELETED
    return one.type == OBJECT and one.parent in (CATALOG, WORKSPACE)


def _is_package(one: Touched) -> bool:
    return one.type == OBJECT and one.parent == TEMPLATE


def _consequence(one: Touched) -> Iterator[Finding]:
    subject, what = Subject("resource", title(one), one.name), f"`{one.physical}` ({title(one)})"
    found = tuple(differences(one.was, one.becomes)) if one.new else ()
    if one.goes:
        yield _gone(one, subject, what, found)
    elif one.fate is Fate.FORGOTTEN:
        words = f"{what} stays in the cloud, paid as before, and no longer belongs to the stack"
        yield KINDS["resource-forgotten"].of(subject, words, details=_identity(one))
    elif one.fate is Fate.CHANGED:
        yield from _changed(one, subject, what, found)
    elif not one.by_hand:
        does = "is made" if one.fate is Fate.CREATED else "exists and is adopted"
        yield KINDS["resource-created"].of(subject, f"{what} {does}")


def _gone(one: Touched, subject: Subject, what: str, found: tuple[Difference, ...]) -> Finding:
    ends = undeclared(one.type).ends_with_it
    holds = f", and with it {ends}" if ends else ""
    stops = ""
    if one.old and (one.old.protected or any(one.was.get(key) == value for key, value in _stopping(one))):
        stops = "; it is protected from that, so the deployment would fail"
    if one.fate is Fate.DELETED:
        return KINDS["resource-deleted"].of(subject, f"{what} is deleted{holds}{stops}", details=_identity(one))
    because = f" because of {named(causes)}" if (causes := _causes(one, found)) else ", as what it depends on is"
    if one.old and one.old.retained:
        words = f"{what} is made anew{because}; the old one stays in the cloud and no longer belongs to the stack"
        return KINDS["resource-replaced"].of(subject, words, details=_identity(one), grade=Grade.WARNING)
    words = f"{what} is deleted and made anew{because}{holds and holds.replace('with it', 'with the old one')}{stops}"
    return KINDS["resource-replaced"].of(subject, words, details=_identity(one))


def _causes(one: Touched, found: tuple[Difference, ...]) -> tuple[str, ...]:
    tops = {top(path) for path in one.replaces}
    return tuple(str(each) for each in found if top(each.path) in tops) or tuple(f"`{path}`" for path in one.replaces)


def _changed(one: Touched, subject: Subject, what: str, found: tuple[Difference, ...]) -> Iterator[Finding]:
    edited = [difference for difference in found if top(difference.path) in one.edited]
    hidden = [path for path in unseen(one.diffs, edited) if path not in one.put_back and _means_something(one, path)]
    lines = (*map(str, edited), *(_unshown(one, path) for path in hidden))
    if why := unguarded(one):
        words = f"{what} may be deleted from now on: {why}"
        yield KINDS["resource-changed"].of(subject, words, details=lines[1:] and lines, grade=Grade.BLOCKING)
    elif lines:
        worst = Grade.BLOCKING if any(HURTS.search(difference.path) for difference in edited) else None
        mild = not edited and not any(_secret(one, path) for path in hidden)
        words = f"{what} changes in place: {named(lines)}"
        grade = Grade.NOTE if mild or _labels_alone(edited, hidden) else worst
        yield KINDS["resource-changed"].of(subject, words, details=lines if len(lines) > 3 else (), grade=grade)


def unguarded(one: Touched) -> str:
    """What kept it from being deleted until now, in words; empty where nothing did, or still does."""
    if one.old and one.new and one.old.protected and not one.new.protected:
        return "the program no longer protects it"
    if one.old and one.new and one.old.retained and not one.new.retained:
        return "the program no longer keeps it when it leaves the stack"
    for key, value in GUARDS.items():
        was, becomes = one.was.get(key), one.becomes.get(key)
        # `forceDestroy` and its like are off where nobody sets them.
        if (was == value or (was is None and value is False)) and becomes not in (value, None):
            return str(Difference(key, was, becomes))
        if value not in (False, None) and was == value and becomes is None:
            return str(Difference(key, was, None))
    return ""


def _stopping(one: Touched) -> Iterator[tuple[str, object]]:
    return ((key, value) for key, value in GUARDS.items() if value in (True, "PREVENT") and key in one.was)


def _means_something(one: Touched, path: str) -> bool:
    return _secret(one, path) or not _BY_ITSELF.fullmatch(path)


def _unshown(one: Touched, path: str) -> str:
    return f"`{path}`, which is secret" if _secret(one, path) else f"`{path}`, which the cloud computes"


def _secret(one: Touched, path: str) -> bool:
    return SECRET in str(one.becomes.get(path, ""))


def _labels_alone(edited: list[Difference], hidden: list[str]) -> bool:
    paths = (*(one.path for one in edited), *hidden)
    return all(re.match(r"(?i)(\w*labels|tags\w*|description|displayname)\b", path) for path in paths)


def _identity(one: Touched) -> tuple[str, ...]:
    """Its id, by which a person finds it."""
    id_ = one.old.id if one.old else ""
    return (f"`{id_}`",) if id_ and id_ != one.physical else ()
