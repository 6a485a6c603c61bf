"""Accounts, the catalog's place, and what people changed by hand that this deployment puts back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from slipway.catalog.withdrawal import replacing
from slipway.deployment.workspace_plan import TRAINER
from slipway.facts import CATALOG, TEMPLATE, WORKSPACE
from slipway.findings.finding import Finding, Grade, Subject
from slipway.findings.kinds import KINDS
from slipway.formatting import counted
from slipway.review.change import Change, let_go
from slipway.review.clusters.jobs import name_of
from slipway.review.grants import Grant, form, grants
from slipway.review.resources.bucket_fields import RULES
from slipway.review.resources.fates import ROLES, fate, followed, moved, title
from slipway.review.resources.roles import rights
from slipway.review.resources.trainers import submitting_as
from slipway.review.touched import ACCOUNT, BUCKET, CLUSTER_TYPE, OBJECT, Fate, Touched, differences, overwritten
from slipway.review.words import LONGEST, named, several

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
        words = f"Whoever submits, scripts too, must `slipway use gs://{after}`"
        yield KINDS["catalog-moved"].of(
            Subject("catalog"),
            words,
            details=(f"`{member}`" for member in (change.after.people if change.after else ())),
            field="slipway:workspace.catalogBucket",
            more=f": the catalog moves there, and bucket `{before}` {moved(before, change)}",
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
        grade, words = max(_does(key, one, address, change) for key in one.edited)
        edits = map(str, differences(one.was, one.becomes))
        yield KINDS["resource-changed"].of(subject, words, grade=grade, details=edits)


def _does(key: str, one: Touched, address: str, change: Change) -> tuple[Grade, str]:
    on, off, grade = ACCOUNT_FIELDS.get(key, ("is edited: nobody looked what follows",) * 2 + (Grade.WARNING,))
    words = f"Account `{address}` {on if one.becomes.get(key) else off}"
    runs = submitting_as(change.after, address) if change.after else ""
    if key == "disabled" and one.becomes.get(key):
        grade, jobs = Grade.BLOCKING, f": jobs of {runs} fail" if runs else ", and whatever signs in as it fails"
        words += jobs
    return grade, words


_CALLED = ("is called otherwise, and may do what it did", "has no such name any more, and may do what it did")
ACCOUNT_FIELDS: Mapping[str, tuple[str, str, Grade]] = {
    "accountId": ("is another one, with none of its rights", "is another one, with none of its rights", Grade.BLOCKING),
    "createIgnoreAlreadyExists": ("is taken as it is where there is one", "must not be there before", Grade.NOTE),
    "deletionPolicy": ("leaves the stack otherwise than before", "is deleted when it leaves the stack", Grade.NOTE),
    "description": (*_CALLED, Grade.NOTE),
    "disabled": ("is disabled", "is enabled again: whoever may act as it gets in", Grade.WARNING),
    "displayName": (*_CALLED, Grade.NOTE),
    "project": ("moves to another project, without its rights", "has no project of its own", Grade.BLOCKING),
}
"""By an account's input: what it does once that is set, once it is not, and how bad that is."""


def _key(address: str, change: Change) -> str:
    for catalog in (change.new, change.old):
        for name, account in catalog.trainers.items() if catalog else ():
            if account == address:
                return f"slipway:trainers.{name}"
    return "slipway:workspace.trainer"


def _drift(one: Touched) -> Iterator[Finding]:
    if form(one.type) or one.type.startswith(CLUSTER_TYPE) or (one.parent == WORKSPACE and one.type == OBJECT):
        return
    noun = {BUCKET: "bucket ", ACCOUNT: "account "}.get(one.type, "")
    what = f"{noun}`{one.physical}`{'' if noun else f' ({title(one)})'}"
    grade, details = None, list[str]()
    if one.by_hand and one.type == OBJECT and one.parent == TEMPLATE:
        words = f"Package {what} is not there any more, deleted by hand or by its age, and is uploaded again"
        grade = Grade.NOTE
    elif one.by_hand:
        words = f"Somebody deleted {what} by hand, and this deployment makes it again{_AGAIN.get(one.type, '')}"
    elif one.fate is not Fate.REPLACED and (details := list(_put_back(one))):
        undoes = f"Somebody changed {what} by hand, and this deployment undoes that"
        words = f"{undoes}: it {named(details)}"
        if len(words.split()) > LONGEST:
            words = f"{undoes}, {counted(len(details), 'edit')} in all"
    elif _of_catalog(one) and overwritten(one.old, one.now):
        words = f"Somebody overwrote the catalog {what} by hand, and this deployment publishes it anew"
    else:
        return
    yield KINDS["drift"].of(Subject(title(one), one.physical), words, details=several(details), grade=grade)


_AGAIN = {
    BUCKET: ", empty: what was in it does not come back",
    ACCOUNT: ": what others granted the old one, the new one of that name may not",
}


def _of_catalog(one: Touched) -> bool:
    return one.type == OBJECT and one.parent == CATALOG


def _unfinished(change: Change) -> bool:
    published = change.published
    return published is not None and bool(published.under_way or replacing(published))


def _put_back(one: Touched) -> Iterator[str]:
    for key in one.put_back if one.now else ():
        before, after = one.now.inputs.get(key) if one.now else None, one.becomes.get(key)
        if one.type == BUCKET and key in RULES:
            yield from (told.without_reason for told in RULES[key](before, after))
        else:
            yield from (f"gets {each}" for each in differences(before, after, key))


def _drift_of_access(change: Change) -> Iterator[Finding]:
    found: dict[str, list[Grant]] = {}
    for one in change.touched:
        if one.by_hand:
            declared = set(grants(one, one.new))
            for grant in grants(one, one.old):
                if grant in declared:
                    found.setdefault(grant.member, []).append(grant)
    for member, some in found.items():
        does, _ = rights(some, ())
        words = f"Somebody took rights from `{member}` by hand, which this deployment gives back: it {does}"
        details = (f"{one.words}, to `{member}`" for one in some)
        yield KINDS["drift"].of(Subject("member", member), words, details=details)
