"""Accounts, the catalog's place, and what people changed by hand that this deployment puts back."""

from __future__ import annotations

from collections.abc import Iterator

from slipway.catalog.withdrawal import replacing
from slipway.deployment.workspace_plan import TRAINER
from slipway.facts import CATALOG, TEMPLATE, WORKSPACE
from slipway.findings.finding import Finding, Grade, Subject
from slipway.findings.kinds import KINDS
from slipway.formatting import join
from slipway.review.change import Change, let_go
from slipway.review.clusters.jobs import name_of
from slipway.review.grants import form, grants
from slipway.review.resources.buckets import FIELDS
from slipway.review.resources.fates import ROLES, fate, followed, title
from slipway.review.touched import ACCOUNT, BUCKET, CLUSTER_TYPE, OBJECT, Fate, Touched, differences, overwritten
from slipway.review.words import named, several

_KINDS = {
    Fate.CREATED: "account-created",
    Fate.ADOPTED: "account-created",
    Fate.REPLACED: "account-deleted",
    Fate.DELETED: "account-deleted",
    Fate.FORGOTTEN: "resource-forgotten",
}


def data(change: Change) -> Iterator[Finding]:
    yield from _moved(change)
    for one in change.touched:
        if one.type == ACCOUNT:
            yield from _account(one, change)
    if change.old and change.new and change.new.trainer:
        yield from followed(TRAINER, change.old.trainer, change.new.trainer, change)
    for one in change.touched:
        if _of_catalog(one) and one.fate is Fate.DELETED:
            words = f"The catalog `gs://{one.was.get('bucket')}/{one.physical}` is deleted: nobody can submit any more"
            yield KINDS["resource-deleted"].of(Subject("catalog"), words)
        if not (_of_catalog(one) and _unfinished(change)):  # it wrote the catalog itself
            yield from _drift(one)
    yield from _drift_of_access(change)


def _moved(change: Change) -> Iterator[Finding]:
    if change.old is None or change.new is None or not change.old.catalog_bucket:
        return
    before, after = change.old.catalog_bucket, change.new.catalog_bucket
    if before != after:
        words = f"The catalog moves from `gs://{before}` to `gs://{after}`: whoever submits types"
        yield KINDS["catalog-moved"].of(
            Subject("catalog"),
            f"{words} `slipway use gs://{after}`",
            details=(f"`{member}`" for member in (change.after.people if change.after else ())),
            field="slipway:workspace.catalogBucket",
        )


def _account(one: Touched, change: Change) -> Iterator[Finding]:
    state = one.old or one.now or one.new
    address = name_of(state, "account", change) if state else one.name
    subject, ours = Subject("account", address), one.parent == WORKSPACE
    announced = ours and one.fate in (Fate.DELETED, Fate.FORGOTTEN) and bool(let_go(change, address))
    follows = ", and with it goes all that it may do, in other projects too" if one.goes else ""
    if ours and one.fate in (Fate.CREATED, Fate.ADOPTED):
        follows = f" {ROLES[TRAINER].purpose}"
    key = _key(address, change) if ours and not announced else ""
    yield from fate(one, subject, f"Account `{address}`", _KINDS, follows, field=key, announced=announced)
    if one.fate is Fate.CHANGED and one.edited:
        disabled = "disabled" in one.edited and bool(one.becomes.get("disabled"))
        words = f"Account `{address}`: {join(str(each) for each in differences(one.was, one.becomes))}"
        words += "; nothing runs as it any more" if disabled else ""
        yield KINDS["resource-changed"].of(subject, words, grade=Grade.BLOCKING if disabled else Grade.NOTE)


def _key(address: str, change: Change) -> str:
    for catalog in (change.new, change.old):
        for name, account in catalog.trainers.items() if catalog else ():
            if account == address:
                return f"slipway:trainers.{name}"
    return "slipway:workspace.trainer"


def _drift(one: Touched) -> Iterator[Finding]:
    if form(one.type) or one.type.startswith(CLUSTER_TYPE) or (one.parent == WORKSPACE and one.type == OBJECT):
        return
    what, grade, details = f"`{one.physical}` ({title(one)})", None, list[str]()
    if one.by_hand and one.type == OBJECT and one.parent == TEMPLATE:
        words = f"Package {what} is not there any more, deleted by hand or by its age, and is uploaded again"
        grade = Grade.NOTE
    elif one.by_hand:
        empty = ", empty" if one.type == BUCKET else ""
        words = f"Somebody deleted {what} by hand, and this deployment makes it again{empty}"
    elif one.fate is not Fate.REPLACED and (details := list(_put_back(one))):
        words = f"Somebody changed {what} by hand, and this deployment undoes that: it {named(details)}"
    elif _of_catalog(one) and overwritten(one.old, one.now):
        words = f"Somebody overwrote the catalog {what} by hand, and this deployment publishes it anew"
    else:
        return
    yield KINDS["drift"].of(Subject(title(one), one.physical), words, details=several(details), grade=grade)


def _of_catalog(one: Touched) -> bool:
    return one.type == OBJECT and one.parent == CATALOG


def _unfinished(change: Change) -> bool:
    published = change.published
    return published is not None and bool(published.under_way or replacing(published))


def _put_back(one: Touched) -> Iterator[str]:
    for key in one.put_back if one.now else ():
        before, after = one.now.inputs.get(key) if one.now else None, one.becomes.get(key)
        if one.type == BUCKET and key in FIELDS:
            yield from (words for _, words, _ in FIELDS[key](before, after))
        else:
            yield from (f"gets {each}" for each in differences(before, after, key))


def _drift_of_access(change: Change) -> Iterator[Finding]:
    found: dict[str, list[str]] = {}
    for one in change.touched:
        if one.by_hand:
            declared = set(grants(one, one.new))
            for grant in grants(one, one.old):
                if grant in declared:
                    found.setdefault(grant.member, []).append(grant.words)
    for member, words in found.items():
        sentence = f"Somebody took {named(words)} from `{member}` by hand, and this deployment gives it back"
        yield KINDS["drift"].of(Subject("member", member), sentence, details=several(words))
