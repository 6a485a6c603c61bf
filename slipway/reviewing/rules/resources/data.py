"""Accounts, the catalog, and manual changes that this deployment reverts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from slipway.deploying.engine.drift import hand_edits
from slipway.deploying.engine.fields import ACCOUNT_FIELDS
from slipway.deploying.engine.grants import form, grants
from slipway.deploying.engine.preview import EngineStep
from slipway.deploying.engine.touched import ACCOUNT, CLUSTER_TYPE, OBJECT, Fate, Touched, differences, top
from slipway.model.catalog.withdrawal import unfinished
from slipway.model.facts import CATALOG, WORKSPACE
from slipway.model.findings.finding import Grade, Subject
from slipway.reviewing.change.change import Change, grouped, let_go
from slipway.reviewing.change.edits import edits_of
from slipway.reviewing.consequence import IT, Consequence
from slipway.reviewing.rules.resources.resources import UNRULED, fate, title, told_by
from slipway.reviewing.rules.resources.roles import rights
from slipway.reviewing.rules.resources.trainers import submitting_as
from slipway.reviewing.rules.table import by_row


def data(change: Change) -> Iterator[Consequence]:
    for touched in change.touched:
        if touched.type == ACCOUNT:
            yield from _account(touched, change)
    for touched in change.touched:
        of_catalog = touched.type == OBJECT and touched.parent == CATALOG
        if of_catalog and touched.fate is Fate.DELETED:
            bucket = touched.was.get("bucket")
            yield by_row("catalog-deleted", Subject("catalog"), bucket=bucket, object=touched.physical)
        # The deployment wrote the catalog itself.
        if not (of_catalog and change.published and unfinished(change.published)):
            yield from _drift(touched)
    by_hand = [touched for touched in change.touched if touched.by_hand]
    there = [(touched, grant) for touched in by_hand for grant in grants(touched, touched.old)]
    taken = [grant for touched, grant in there if grant in {*grants(touched, touched.new)}]
    for member, some in grouped(taken, lambda grant: grant.member).items():
        words, right = (grant.words for grant in some), next(rights(some, ()))
        yield by_row("drift-of-access", Subject("member", member), right=right, details=words)


def _account(touched: Touched, change: Change) -> Iterator[Consequence]:
    state, address = touched.old or touched.now or touched.new, touched.name
    if state:
        project = state.inputs.get("project") or change.old.project
        spelled = f"{state.inputs.get('accountId', '')}@{project}.iam.gserviceaccount.com"
        address = str(state.outputs.get("email") or spelled)
    subject, ours, so = Subject("account", address), touched.parent == WORKSPACE, ""
    announced = ours and touched.fate in (Fate.DELETED, Fate.FORGOTTEN) and bool(let_go(change, address))
    if touched.fate is Fate.ADOPTED:
        project = change.new.project
        so = f"not asked: what it may do already (`gcloud projects get-iam-policy {project}`)"
    elif touched.fate is Fate.CREATED and ours:
        so = "for jobs to run as"
    sides = (change.new, change.old)
    names = [name for side in sides for name, account in side.trainers.items() if account == address]
    key = f"slipway:trainers.{names[0]}" if names else "slipway:workspace.trainer"
    key = key if ours and not announced else ""
    yield from fate(touched, subject, f"Account {IT}", "account", so, field=key, announced=announced)
    if touched.fate is Fate.CHANGED and touched.edited:
        yield _edited(touched, subject, submitting_as(change.after, address))


def _edited(touched: Touched, subject: Subject, runs: str) -> Consequence:
    effects = [
        effect
        for key in touched.edited
        for effect in ACCOUNT_FIELDS.get(key, lambda *_: [UNRULED])(touched.was.get(key), touched.becomes.get(key))
    ]
    worst = max(effects, key=lambda effect: effect.grade, default=UNRULED)
    so = f"jobs of {runs} fail" if runs and worst.does == "is disabled" else ""
    edits = edits_of(differences(touched.was, touched.becomes))
    return told_by(replace(worst, kind="resource-changed"), subject, f"Account {IT}", so, edits=edits)


def _drift(touched: Touched) -> Iterator[Consequence]:
    """Report a resource's manual changes, which this deployment reverts."""
    if form(touched.type) or touched.type.startswith(CLUSTER_TYPE):
        return
    if touched.parent == WORKSPACE and touched.type == OBJECT:
        return
    step = EngineStep("refresh", "", touched.type, touched.name, touched.parent, touched.old, touched.now)
    undone = () if touched.fate is Fate.REPLACED else touched.put_back
    drifted = [
        edit
        for edit in (hand_edits(step, again=True) if touched.now or touched.by_hand else ())
        if edit.field in ("", "content") or top(edit.field) in undone
    ]
    if drifted:
        on = drifted[0].subject
        edits = [edit.facts.get("short", edit.sentence) for edit in drifted]
        yield by_row(
            "drift",
            Subject(title(touched), touched.physical),
            what=f"{on.what} `{on.name}`",
            so=edits[0] if len(edits) == 1 else "",
            details=edits if len(edits) > 1 else (),
            grade=Grade.NOTE if on.what == "package" else None,
        )
