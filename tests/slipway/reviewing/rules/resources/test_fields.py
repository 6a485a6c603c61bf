"""Rules for what a workspace declares: each input of its buckets, accounts and grants has one. # N5 # N8 # N10"""

import inspect
import re
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from components.gcp import serviceaccount, storage
from slipway.deploying.engine.fields import ACCOUNT_FIELDS, BUCKET_FIELDS
from slipway.model.findings.finding import Grade
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.resources.data import buckets, data
from tests.slipway.reviewing.builders import CATALOG_BUCKET, PROJECT, TRAINER, change, facts, step

BUCKET, ACCOUNT = "gcp:storage/bucket:Bucket", "gcp:serviceaccount/account:Account"
WORKSPACE = "slipway:index:Workspace"
NOTE, WARNING, BLOCKING = Grade
DAY, WEEK = {"retentionPeriod": 86400}, {"retentionPeriod": "604800"}
_WORD = re.compile(r"_(\w)")

# A key, its values, and the grades that the edit and its undoing have; None where an edit means nothing.
FIELDS: tuple[tuple[str, Any, Any, Grade, Grade], ...] = (
    ("autoclass", None, {"enabled": True}, NOTE, NOTE),
    ("cors", None, [{"origins": ["*"]}], NOTE, NOTE),
    ("customPlacementConfig", None, {"dataLocations": ["US-EAST1"]}, WARNING, WARNING),
    ("defaultEventBasedHold", False, True, BLOCKING, BLOCKING),
    ("deletionPolicy", "DELETE", "ABANDON", NOTE, NOTE),
    ("enableObjectRetention", False, True, NOTE, NOTE),
    ("encryption", None, {"defaultKmsKeyName": "p/k"}, WARNING, WARNING),
    ("forceDestroy", None, True, BLOCKING, NOTE),
    ("hierarchicalNamespace", None, {"enabled": True}, WARNING, WARNING),
    ("ipFilter", None, {"mode": "Enabled"}, BLOCKING, BLOCKING),
    ("labels", {"a": "b"}, {}, NOTE, NOTE),
    ("location", "US-CENTRAL1", "US-EAST1", BLOCKING, BLOCKING),
    ("logging", {"logBucket": "logs"}, None, WARNING, NOTE),
    ("name", "acme-work", "acme-results", BLOCKING, BLOCKING),
    ("project", "acme", "other", BLOCKING, BLOCKING),
    ("publicAccessPrevention", "enforced", "inherited", BLOCKING, NOTE),
    ("requesterPays", False, True, BLOCKING, NOTE),
    ("retentionPolicy", DAY, None, BLOCKING, BLOCKING),
    ("retentionPolicy", WEEK, DAY, BLOCKING, BLOCKING),
    ("rpo", "DEFAULT", "ASYNC_TURBO", NOTE, NOTE),
    ("softDeletePolicy", None, {"retentionDurationSeconds": 0}, BLOCKING, NOTE),
    ("storageClass", "STANDARD", "ARCHIVE", WARNING, NOTE),
    ("uniformBucketLevelAccess", True, False, BLOCKING, WARNING),
    ("versioning", {"enabled": True}, None, BLOCKING, WARNING),
    ("website", None, {"mainPageSuffix": "index.html"}, NOTE, NOTE),
)


def rule(**condition: Any) -> dict[str, Any]:
    return {"action": {"type": "Delete"}, "condition": condition}


CLAIMS: dict[str, Any] = {"matchesPrefixes": ["claims/"]}
MONTH = rule(age=30, **CLAIMS)


def edit(
    old: Mapping[str, Any], new: Mapping[str, Any], role: str = "work", name: str = "acme-work"
) -> list[Consequence]:
    sides = ({key: value for key, value in {"name": name, **side}.items() if value is not None} for side in (old, new))
    before, after = sides
    steps = [step("update", BUCKET, role, old=before, new=after, parent=WORKSPACE)]
    return list(buckets(change(facts(), facts(), steps=steps)))


def inputs(resource: Any) -> frozenset[str]:
    """The inputs of a resource, as the provider's own class has them."""
    known = inspect.signature(resource._internal_init).parameters
    own = (name for name in known if name not in ("__self__", "resource_name", "opts", "__props__"))
    return frozenset(_WORD.sub(lambda match: match[1].upper(), name) for name in own)


def known(consequences: Iterable[Consequence]) -> bool:
    """Whether some rule has told what follows."""
    listed = list(consequences)
    return bool(listed) and not any("no rule" in part.sentence for part in listed)


def test_every_input_has_a_rule() -> None:
    assert BUCKET_FIELDS.keys() == inputs(storage.Bucket) == {"lifecycleRules", *(row[0] for row in FIELDS)}
    assert ACCOUNT_FIELDS.keys() == inputs(serviceaccount.Account)
    assert not known(edit({}, {"novelty": 1}))


@pytest.mark.parametrize(("key", "old", "new", "there", "back"), FIELDS)
def test_a_field_of_a_bucket_is_told_by_what_follows_both_ways(
    key: str, old: Any, new: Any, there: Grade, back: Grade
) -> None:
    for before, after, grade in ((old, new, there), (new, old, back)):
        (told,) = edit({key: before}, {key: after})
        assert (known([told]), told.grade) == (True, grade)
        assert bool(told.edits) and "{" not in told.sentence.replace("{it}", "")


def test_rules_for_what_is_recorded_beside_the_catalog_stop_no_upgrade() -> None:  # N19
    """A release that records more brings rules for it. In any other bucket, or with another rule, they stop it."""
    boards = rule(daysSinceNoncurrentTime=1, matchesPrefixes=["history/", "board/"], withState="ARCHIVED")
    rules = [MONTH, rule(age=400, matchesPrefixes=["history/"]), boards]

    def told(role: str, *more: Any) -> Consequence:
        (effect,) = edit({"lifecycleRules": [MONTH]}, {"lifecycleRules": [*rules, *more]}, role, CATALOG_BUCKET)
        return effect

    assert (told("catalog").kind, told("catalog").grade) == ("lifecycle-changed", NOTE)
    assert "1 day after" in told("catalog").sentence
    assert told("work").grade is told("catalog", rule(age=1)).grade is BLOCKING


@pytest.mark.parametrize("key", ACCOUNT_FIELDS)
def test_a_field_of_an_account_is_told_by_what_follows(key: str) -> None:
    old = {"email": TRAINER, "accountId": "trainer", "project": PROJECT}
    value = key in ("disabled", "createIgnoreAlreadyExists") or "other"
    steps = [step("update", ACCOUNT, "trainer", old=old, new={**old, key: value})]
    assert known(data(change(facts(), facts(), steps=steps)))
