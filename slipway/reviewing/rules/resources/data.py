"""Accounts, the catalog, and manual changes that this deployment reverts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from slipway.deploying.deployment.workspace_plan import TRAINER
from slipway.deploying.engine.drift import hand_edits
from slipway.deploying.engine.grants import Grant, form, grants
from slipway.deploying.engine.preview import EngineStep
from slipway.deploying.engine.touched import ACCOUNT, CLUSTER_TYPE, OBJECT, Fate, Touched, differences, top
from slipway.model.catalog.withdrawal import unfinished
from slipway.model.facts import CATALOG, WORKSPACE
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.reviewing.change.change import Change, let_go
from slipway.reviewing.rules.clusters.jobs import name_of
from slipway.reviewing.rules.resources.fates import PURPOSES, fate, title
from slipway.reviewing.rules.resources.roles import rights
from slipway.reviewing.rules.resources.trainers import submitting_as
from slipway.reviewing.rules.words import LONGEST, named, several

_KINDS = {
    Fate.CREATED: "account-created",
    Fate.ADOPTED: "account-created",
    Fate.REPLACED: "account-deleted",
    Fate.DELETED: "account-deleted",
    Fate.FORGOTTEN: "resource-forgotten",
}


def data(change: Change) -> Iterator[Finding]:
    for one in change.touched:
        if one.type == ACCOUNT:
            yield from _account(one, change)
    for one in change.touched:
        if _of_catalog(one) and one.fate is Fate.DELETED:
            words = f"The catalog `gs://{one.was.get('bucket')}/{one.physical}` is deleted: nobody can submit any more"
            yield KINDS["resource-deleted"].of(Subject("catalog"), words)
        # The deployment wrote the catalog itself.
        if not (_of_catalog(one) and change.published and unfinished(change.published)):
            yield from _drift(one)
    yield from _drift_of_access(change)


def _account(one: Touched, change: Change) -> Iterator[Finding]:
    state = one.old or one.now or one.new
    address = name_of(state, "account", change) if state else one.name
    subject, ours = Subject("account", address), one.parent == WORKSPACE
    announced = ours and one.fate in (Fate.DELETED, Fate.FORGOTTEN) and bool(let_go(change, address))
    follows = ", and with it goes all that it may do, in other projects too" if one.goes else ""
    if ours and one.fate in (Fate.CREATED, Fate.ADOPTED):
        follows = f" {PURPOSES[TRAINER]}"
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
"""By an account's input: the effect of setting it, of unsetting it, and the grade."""


def _key(address: str, change: Change) -> str:
    for catalog in (change.new, change.old):
        for name, account in catalog.trainers.items() if catalog else ():
            if account == address:
                return f"slipway:trainers.{name}"
    return "slipway:workspace.trainer"


def _drift(one: Touched) -> Iterator[Finding]:
    """Report a resource's manual changes, which this deployment reverts, in one sentence."""
    if form(one.type) or one.type.startswith(CLUSTER_TYPE) or (one.parent == WORKSPACE and one.type == OBJECT):
        return
    step = EngineStep("refresh", "", one.type, one.name, one.parent, one.old, one.now)
    undone = () if one.fate is Fate.REPLACED else one.put_back
    found = [
        each
        for each in (hand_edits(step, again=True) if one.now or one.by_hand else ())
        if each.field in ("", "content") or top(each.field) in undone
    ]
    if not found:
        return
    on, told = found[0].subject, [each.facts.get("short", each.sentence) for each in found]
    grade = Grade.NOTE if on.what == "package" else None
    undoes = f"This deployment undoes edits by hand of {on.what} `{on.name}`"
    words = f"{undoes}: {named(told)}"
    if len(words.split()) > LONGEST:
        words = f"{undoes}, {len(told)} in all"
    yield KINDS["drift"].of(Subject(title(one), one.physical), words, details=several(told), grade=grade)


def _of_catalog(one: Touched) -> bool:
    return one.type == OBJECT and one.parent == CATALOG


def _drift_of_access(change: Change) -> Iterator[Finding]:
    found: dict[str, list[Grant]] = {}
    for one in change.touched:
        if one.by_hand:
            declared = set(grants(one, one.new))
            for grant in grants(one, one.old):
                if grant in declared:
                    found.setdefault(grant.member, []).append(grant)
    for member, some in found.items():
        does = rights(some, ()).words
        words = f"Somebody took rights from `{member}` by hand, which this deployment gives back: it {does}"
        details = (f"{one.words}, to `{member}`" for one in some)
        yield KINDS["drift"].of(Subject("member", member), words, details=details)
