"""Buckets: those that go, stay behind or come, and the effect of changed fields on the objects in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from slipway.deploying.deployment.workspace_plan import CATALOG, WORK
from slipway.deploying.engine.fields import BUCKET_FIELDS
from slipway.deploying.engine.lifecycle import Effect, mapping
from slipway.deploying.engine.touched import BUCKET, Fate, InputDifference, Touched, differences
from slipway.google.live import Unknown
from slipway.google.permissions import Bound
from slipway.model.catalog.model import BOARD, HISTORY
from slipway.model.facts import WORKSPACE
from slipway.model.findings.finding import Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.model.state import BUCKETS_ELSEWHERE
from slipway.reviewing.change.change import Change, grouped, let_go
from slipway.reviewing.change.edits import edits_of
from slipway.reviewing.consequence import IT, Consequence
from slipway.reviewing.rules.resources.resources import UNRULED, fate, told_by, unguarded
from slipway.reviewing.rules.table import by_row, follows

_WHO = f"Bucket {IT}"
_UNREADABLE = "submitters can't read the results in it any more"
_PURPOSES = {CATALOG: "for the catalog and packages", WORK: "for what jobs write"}
_EVERYBODY = ("allUsers", "allAuthenticatedUsers")
_UNASKED = Unknown("nobody asked", "", "")


def buckets(change: Change) -> Iterator[Consequence]:
    for touched in change.touched:
        if touched.type == BUCKET:
            yield from _fate(touched, change)
            for bound in _bound(touched.physical, change) if touched.fate is Fate.ADOPTED else ():
                if bound.member in _EVERYBODY:
                    subject = Subject("bucket", touched.physical, bound.member)
                    yield by_row("bucket-open", subject, name=subject.name, member=bound.member, role=bound.role)
            if touched.fate in (Fate.CHANGED, Fate.ADOPTED) and touched.old:
                yield from _edited(touched)
    if change.preview is None:
        yield from _elsewhere(change)


def _fate(touched: Touched, change: Change) -> Iterator[Consequence]:
    role, name = _role(touched), touched.physical
    announced = touched.fate is Fate.FORGOTTEN and bool(role and let_go(change, name))
    at_home = role and not touched.name.startswith(BUCKETS_ELSEWHERE)
    yield from fate(
        touched,
        Subject("bucket", name),
        _WHO,
        "bucket",
        _so(touched, role, change),
        details=[
            *filter(None, [_away(touched, change.new.region) if touched.fate in (Fate.ADOPTED, Fate.REPLACED) else ""]),
            # Its own policy stays as it is.
            *(f"`{bound.member}` has `{bound.role}` already{bound.under}" for bound in _bound(name, change)),
        ],
        field=f"slipway:workspace.{role}Bucket" if at_home and not announced else "",
        announced=announced,
    )


def _so(touched: Touched, role: str, change: Change) -> str:
    match touched.fate:
        case Fate.DELETED | Fate.REPLACED if touched.destroyed and touched.was.get("forceDestroy"):
            return "everything in it goes with it"
        case Fate.DELETED | Fate.REPLACED if touched.destroyed:
            return "if there is anything in it, the deployment fails there"
        case Fate.REPLACED if touched.becomes.get("name") in (touched.physical, None):
            return "two of one name are refused, so the deployment would fail"
        case Fate.FORGOTTEN if role == WORK:
            return _UNREADABLE
        case Fate.CREATED if not role:
            return _away(touched, change.new.region)
        case Fate.ADOPTED if isinstance(change.policies.get(touched.physical, _UNASKED), Unknown):
            name = touched.physical
            return f"not asked: who may use it already (`gcloud storage buckets get-iam-policy gs://{name}`)"
        case Fate.ADOPTED:
            return "whoever may use it already still may"
        case Fate.CREATED:
            theirs = (change.new.work_elsewhere or {}).items()
            return next(
                (f"for what jobs in {region} write" for region, name in theirs if name == touched.physical),
                _PURPOSES[role],
            )
    return ""


def _away(touched: Touched, region: str) -> str:
    """Return what follows where it surely lies elsewhere. Which regions a dual-region has is not known here."""
    place = str(touched.becomes.get("location", ""))
    around = {"EU": "europe-", "US": "us-", "ASIA": "asia-"}.get(place.upper(), place.lower())
    away = "-" in around and not region.startswith(around)
    return f"jobs in {region} read it from {place}: more slowly, and paid by size" if away else ""


def _role(touched: Touched) -> str:
    role = re.split("[.@]", touched.name)[0]
    return role if touched.parent == WORKSPACE and role in (CATALOG, WORK) else ""


def _bound(name: str, change: Change) -> list[Bound]:
    policy = change.policies.get(name, _UNASKED)
    return [] if isinstance(policy, Unknown) else sorted(policy)


def _elsewhere(change: Change) -> Iterator[Consequence]:
    """Report work buckets of other regions where the engine was not asked."""
    old, new = (catalog.work_elsewhere or {} for catalog in (change.old, change.new))
    for region, name in new.items():
        if name not in old.values():
            yield by_row("bucket-elsewhere", Subject("bucket", name), region=region)
    for region, name in old.items():
        if name not in (*new.values(), *change.after.kept):
            details = (f"has the results of jobs in {region}",)
            yield told_by(follows("bucket-forgotten"), Subject("bucket", name), _WHO, _UNREADABLE, details=details)


def _edited(touched: Touched) -> Iterator[Consequence]:
    for keyed in grouped(_effects(touched), lambda pair: pair[1].kind).values():
        edits = edits_of(difference for key, _ in keyed for difference in _differences(touched, key))
        # The worst comes first, so that a headline has it.
        first, *others = sorted((change for _, change in keyed), key=lambda change: -change.grade)
        so = first.for_jobs if _role(touched) == WORK else ""
        details = [f"it {other}" for other in others]
        yield told_by(first, Subject("bucket", touched.physical), _WHO, so, edits=edits, details=details)


def _differences(touched: Touched, key: str) -> Iterator[InputDifference]:
    return differences(touched.was.get(key), touched.becomes.get(key), key)


def _effects(touched: Touched) -> Iterator[tuple[str, Effect]]:
    if why := unguarded(touched):
        key = "forceDestroy" if "forceDestroy" in touched.edited else "deletionPolicy"
        grade, keep = KINDS["force-destroy"].usual, "keep it protected until the deployment that is to delete it"
        if touched.fate is Fate.ADOPTED and _role(touched) == CATALOG:
            grade, keep = Grade.NOTE, ""  # Every catalog's bucket is declared so; an adopted one is for the first time.
        yield key, Effect("may be deleted with everything in it from now on", why, grade, keep, "force-destroy")
    for key in touched.edited:
        before, after = touched.was.get(key), touched.becomes.get(key)
        if not any(_differences(touched, key)):
            continue
        rule = BUCKET_FIELDS.get(key)
        effects = rule(before, after) if rule else [UNRULED]
        if key == "lifecycleRules" and _role(touched) == CATALOG and _of_others(before) == _of_others(after):
            effects = (replace(each, grade=Grade.NOTE, instead="") for each in effects)
        yield from ((key, each) for each in effects)


def _of_others(rules: Any) -> list[Any]:
    """Return the rules without those for Slipway's own records in the catalog's bucket."""
    prefixes = ((rule, mapping(mapping(rule).get("condition")).get("matchesPrefixes")) for rule in rules or ())
    return [rule for rule, some in prefixes if not some or not {*some} <= {HISTORY, BOARD}]
