"""Data and its keepers: buckets, accounts, the catalog, and edits by hand that this deployment reverts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from slipway.deploying.deployment.workspace_plan import CATALOG, WORK, trainer_email
from slipway.deploying.engine.drift import hand_edits
from slipway.deploying.engine.fields import ACCOUNT_FIELDS, BUCKET_FIELDS, Rule
from slipway.deploying.engine.grants import form, grants
from slipway.deploying.engine.lifecycle import Effect
from slipway.deploying.engine.preview import EngineStep
from slipway.deploying.engine.touched import ACCOUNT, BUCKET, CLUSTER_TYPE, OBJECT, Fate, Touched, differences, top
from slipway.google.live import Unknown
from slipway.model.catalog.model import BOARD, HISTORY
from slipway.model.catalog.withdrawal import unfinished
from slipway.model.facts import CATALOG as CATALOG_TYPE
from slipway.model.facts import WORKSPACE
from slipway.model.findings.finding import Grade, Subject
from slipway.model.rules.rule import mapping
from slipway.model.state import BUCKETS_ELSEWHERE
from slipway.reviewing.change.change import Change, grouped, let_go
from slipway.reviewing.change.edits import edits_of
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.resources.access import EVERYBODY
from slipway.reviewing.rules.resources.resources import UNRULED, fate, of_fate, title, told_by, unguarded
from slipway.reviewing.rules.resources.roles import rights
from slipway.reviewing.rules.resources.trainers import submitting_as
from slipway.reviewing.rules.table import by_row, follows, say


def buckets(change: Change) -> Iterator[Consequence]:
    for touched in change.touched:
        if touched.type == BUCKET:
            yield from _fate(touched, change)
            name = touched.physical
            policy = change.policies.get(name, frozenset())
            for bound in () if isinstance(policy, Unknown) else sorted(policy):
                if bound.member in EVERYBODY:
                    subject = Subject("bucket", name, bound.member)
                    yield by_row("bucket-open", subject, name=name, member=bound.member, role=bound.role)
            if touched.fate in (Fate.CHANGED, Fate.ADOPTED) and touched.old:
                effects = (*_let_go(touched), *_effects(touched, BUCKET_FIELDS))
                yield from _edited(touched, Subject("bucket", name), effects)
            elif touched.fate is Fate.REPLACED:
                yield from _edited(touched, Subject("bucket", name), _let_go(touched))
    if change.preview is None:
        yield from _unasked(change)


def _fate(touched: Touched, change: Change) -> Iterator[Consequence]:
    role, name = _role(touched), touched.physical
    announced = touched.fate is Fate.FORGOTTEN and bool(role and let_go(change, name))
    at_home = role and not touched.name.startswith(BUCKETS_ELSEWHERE)
    field = f"slipway:workspace.{role}Bucket" if at_home and not announced else ""
    both = touched.fate is Fate.REPLACED and not touched.destroyed
    so = _end(
        emptied=touched.destroyed and touched.was.get("forceDestroy"),
        refused=both and touched.becomes.get("name") in (name, None),
        unread=touched.fate is Fate.FORGOTTEN and role == WORK,
    )
    yield from fate(touched, Subject("bucket", name), so, field=field, announced=announced)


def _end(*, emptied: object = False, refused: bool = False, unread: bool = False) -> str:
    return say("bucket-end", emptied=emptied, refused=refused, unread=unread)


def _role(touched: Touched) -> str:
    role = re.split("[.@]", touched.name)[0]
    return role if touched.parent == WORKSPACE and role in (CATALOG, WORK) else ""


def _unasked(change: Change) -> Iterator[Consequence]:
    """Report work buckets of other regions, and another key, where the engine was not asked."""
    old, new = (catalog.work_elsewhere or {} for catalog in (change.old, change.new))
    for region, name in new.items():
        if name not in old.values():
            yield by_row("bucket-elsewhere", Subject("bucket", name), region=region)
    for name in old.values():
        if name not in (*new.values(), *change.after.kept):
            yield told_by(of_fate("bucket", Fate.FORGOTTEN), Subject("bucket", name), _end(unread=True))
    before, after = ({"defaultKmsKeyName": facts.kms_key or ""} for facts in (change.before, change.after))
    for name in (name for name in change.new.buckets if name in {*change.old.buckets} - change.after.adopted):
        for effect in BUCKET_FIELDS["encryption"](before, after):
            yield told_by(effect, Subject("bucket", name), field="slipway:workspace.encryption.kmsKey")


def _edited(
    touched: Touched, subject: Subject, effects: Iterable[tuple[str, Effect]], so: str = ""
) -> Iterator[Consequence]:
    """Yield what follows from edited fields, kind by kind, the worst first, so that a headline has it. `so`: its end,
    where that is not the field's."""
    was, becomes = touched.was, touched.becomes
    for keyed in grouped(effects, lambda pair: pair[1].kind).values():
        edits = edits_of(each for key, _ in keyed for each in differences(was.get(key), becomes.get(key), key))
        first, *others = sorted((effect for _, effect in keyed), key=lambda effect: -effect.grade)
        ends = so or (first.for_jobs if _role(touched) == WORK else "")
        yield told_by(first, subject, ends, edits=edits, details=[f"it {other}" for other in others])


def _let_go(touched: Touched) -> Iterator[tuple[str, Effect]]:
    if why := unguarded(touched):
        key = "forceDestroy" if "forceDestroy" in touched.edited else "deletionPolicy"
        # Every catalog's bucket is declared so; an adopted one is for the first time.
        first = touched.fate is Fate.ADOPTED and _role(touched) == CATALOG
        yield key, follows("bucket-unprotected", grade=Grade.NOTE if first else None, why=why, first=first)


def _effects(touched: Touched, fields: Mapping[str, Rule]) -> Iterator[tuple[str, Effect]]:
    for key in touched.edited:
        before, after = touched.was.get(key), touched.becomes.get(key)
        if not any(differences(before, after, key)):
            continue
        effects: Iterable[Effect] = fields[key](before, after) if key in fields else [UNRULED]
        if key == "lifecycleRules" and _role(touched) == CATALOG and _of_others(before) == _of_others(after):
            effects = (replace(each, grade=Grade.NOTE, instead="") for each in effects)
        yield from ((key, each) for each in effects)


def _of_others(rules: Any) -> list[Any]:
    """Return the rules without those for Slipway's own records in the catalog's bucket."""
    prefixes = ((rule, mapping(mapping(rule).get("condition")).get("matchesPrefixes")) for rule in rules or ())
    return [rule for rule, some in prefixes if not some or not {*some} <= {HISTORY, BOARD}]


def data(change: Change) -> Iterator[Consequence]:
    for touched in change.touched:
        if touched.type == ACCOUNT:
            yield from _account(touched, change)
    for touched in change.touched:
        of_catalog = touched.type == OBJECT and touched.parent == CATALOG_TYPE
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
        yield by_row("drift-of-access", Subject("member", member), right=next(rights(some, ())))


def _account(touched: Touched, change: Change) -> Iterator[Consequence]:
    state, address = touched.old or touched.now or touched.new, touched.name
    if state:
        project = state.inputs.get("project") or change.old.project
        address = str(state.outputs.get("email") or trainer_email(state.inputs.get("accountId", ""), project))
    subject, ours = Subject("account", address), touched.parent == WORKSPACE
    announced = ours and touched.fate in (Fate.DELETED, Fate.FORGOTTEN) and bool(let_go(change, address))
    every = (*change.new.trainers.items(), *change.old.trainers.items())
    name = next((f"trainers.{name}" for name, of in every if of == address), "workspace.trainer")
    key = f"slipway:{name}" if ours and not announced else ""
    yield from fate(touched, subject, field=key, announced=announced)
    if touched.fate is Fate.CHANGED:
        of_fields = _effects(touched, ACCOUNT_FIELDS)
        effects = [(key, replace(effect, kind="resource-changed")) for key, effect in of_fields]
        runs, stops = submitting_as(change.after, address), any(effect.does == "is disabled" for _, effect in effects)
        yield from _edited(touched, subject, effects, say("account-end", runs=stops and runs))


def _drift(touched: Touched) -> Iterator[Consequence]:
    package = touched.parent == WORKSPACE and touched.type == OBJECT
    if package or form(touched.type) or touched.type.startswith(CLUSTER_TYPE):
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
