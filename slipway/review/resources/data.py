"""Accounts, the catalog's place, and what people changed by hand that this deployment puts back."""

from __future__ import annotations

from collections.abc import Iterator

from slipway.catalog.withdrawal import replacing
from slipway.facts import CATALOG, TEMPLATE, WORKSPACE
from slipway.findings.finding import Finding, Grade, Subject
from slipway.findings.kinds import KINDS
from slipway.formatting import join
from slipway.review.announced import let_go
from slipway.review.change import Change
from slipway.review.clusters.deletions import CLUSTER_TYPE
from slipway.review.preview import Resource
from slipway.review.resources.bucket_fields import FIELDS
from slipway.review.resources.grants import form, grants
from slipway.review.resources.inputs import differences
from slipway.review.resources.resources import title
from slipway.review.resources.touched import ACCOUNT, BUCKET, OBJECT, Fate, Touched, overwritten
from slipway.review.words import named

_TRAINER = "slipway:workspace.trainer"


def data(change: Change) -> Iterator[Finding]:
    yield from _moved(change)
    yield from _accounts(change)
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
        who = tuple(f"`{member}`" for member in (change.after.people if change.after else ()))
        yield KINDS["catalog-moved"].of(
            Subject("catalog"),
            f"{words} `slipway use gs://{after}`",
            details=who,
            field="slipway:workspace.catalogBucket",
        )


def _accounts(change: Change) -> Iterator[Finding]:
    seen = set()
    for one in change.touched:
        if one.type == ACCOUNT:
            address = _address(one, change)
            seen.add(address)
            yield from _account(one, address, _key(address, change), change)
    if change.old is None or change.new is None or change.old.trainer == change.new.trainer:
        return
    before, after = change.old.trainer, change.new.trainer
    if not before or not after:
        return
    if before not in seen and before not in change.new.trainers.values():
        kept = change.after is not None and before in change.after.kept
        once = "once the jobs that run as it have ended" if kept else "with this deployment"
        words = f"Jobs run as `{after}`; account `{before}` is deleted {once}, and with it all that it may do"
        grade = Grade.WARNING if kept else None
        yield KINDS["account-deleted"].of(Subject("account", before), words, grade=grade, field=_TRAINER)
    if after not in seen and change.preview is None:
        words = f"Account `{after}` is made, or adopted, for jobs to run as"
        yield KINDS["account-created"].of(Subject("account", after), words, field=_TRAINER)


def _key(address: str, change: Change) -> str:
    """The key of the stack file that names an account of the workspace's."""
    for catalog in (change.new, change.old):
        for name, account in catalog.trainers.items() if catalog else ():
            if account == address:
                return f"slipway:trainers.{name}"
    return _TRAINER


def _account(one: Touched, address: str, workspace_key: str, change: Change) -> Iterator[Finding]:
    subject, key = Subject("account", address), workspace_key if one.parent == WORKSPACE else ""
    if key and one.fate in (Fate.DELETED, Fate.FORGOTTEN) and let_go(change, address):
        kind, does, more = "account-deleted", "is deleted", "and with it goes all that it may do"
        if one.fate is Fate.FORGOTTEN:
            kind, does, more = "resource-forgotten", "leaves the stack", "and it stays, as somebody else made it"
        more = f", as was announced, since nothing needs it any more, {more}"
        yield KINDS[kind].of(subject, f"Account `{address}` {does}", more=more, grade=Grade.NOTE)
    elif one.goes:
        does = "is deleted" if one.fate is Fate.DELETED else "is deleted and made anew"
        words = f"Account `{address}` {does}, and with it all that it may do, in other projects too"
        yield KINDS["account-deleted"].of(subject, words, field=key)
    elif one.fate is Fate.FORGOTTEN:
        words = f"Account `{address}` stays with all that it may do, and no longer belongs to the stack"
        yield KINDS["resource-forgotten"].of(subject, words, field=key)
    elif one.fate is Fate.CHANGED and one.edited:
        disabled = "disabled" in one.edited and bool(one.becomes.get("disabled"))
        edits = join(str(each) for each in differences(one.was, one.becomes))
        words = f"Account `{address}` is disabled: nothing runs as it any more" if disabled else edits
        words = words if disabled else f"Account `{address}`: {edits}"
        grade = Grade.BLOCKING if disabled else Grade.NOTE
        yield KINDS["resource-changed"].of(subject, words, grade=grade)
    elif one.fate in (Fate.CREATED, Fate.ADOPTED) and not one.by_hand:
        does = "is made" if one.fate is Fate.CREATED else "exists and is adopted"
        purpose = " for jobs to run as" if one.parent == WORKSPACE else ""
        yield KINDS["account-created"].of(subject, f"Account `{address}` {does}{purpose}", field=key)


def _address(one: Touched, change: Change) -> str:
    for state in (one.old, one.now):
        if state and (email := state.outputs.get("email")):
            return str(email)
    catalog = change.old or change.new
    project = one.was.get("project") or one.becomes.get("project") or (catalog.project if catalog else "")
    account = one.was.get("accountId") or one.becomes.get("accountId") or one.name
    return f"{account}@{project}.iam.gserviceaccount.com" if project else str(account)


def _drift(one: Touched) -> Iterator[Finding]:
    """Clusters have their own words, and a grant its member's."""
    if form(one.type) or one.type.startswith(CLUSTER_TYPE) or (one.parent == WORKSPACE and one.type == OBJECT):
        return
    subject, what = Subject(title(one), one.physical), f"`{one.physical}` ({title(one)})"
    if one.by_hand and one.type == OBJECT and one.parent == TEMPLATE:
        words = f"Package {what} is not there any more, deleted by hand or by its age, and is uploaded again"
        yield KINDS["drift"].of(subject, words, grade=Grade.NOTE)
    elif one.by_hand:
        empty = ", empty" if one.type == BUCKET else ""
        words = f"Somebody deleted {what} by hand, and this deployment makes it again{empty}"
        yield KINDS["drift"].of(subject, words)
    elif one.now is not None and one.put_back and one.fate is not Fate.REPLACED:
        if back := _put_back(one, one.now):
            words = f"Somebody changed {what} by hand, and this deployment undoes that: it {named(back)}"
            yield KINDS["drift"].of(subject, words, details=back if len(back) > 1 else ())
    elif _of_catalog(one) and overwritten(one.old, one.now):
        words = f"Somebody overwrote the catalog {what} by hand, and this deployment publishes it anew"
        yield KINDS["drift"].of(subject, words)


def _of_catalog(one: Touched) -> bool:
    return one.type == OBJECT and one.parent == CATALOG


def _unfinished(change: Change) -> bool:
    published = change.published
    return published is not None and bool(published.under_way or replacing(published))


def _put_back(one: Touched, now: Resource) -> list[str]:
    found: list[str] = []
    for key in one.put_back:
        before, after = now.inputs.get(key), one.becomes.get(key)
        if one.type == BUCKET and key in FIELDS:
            found += (words for _, words, _ in FIELDS[key](before, after))
        else:
            found += (f"gets {each}" for each in differences(before, after, key))
    return found


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
        yield KINDS["drift"].of(Subject("member", member), sentence, details=words if len(words) > 1 else ())
