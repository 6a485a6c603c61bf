"""Rules for what a workspace declares: each input of its buckets, accounts and grants has one. # N5 # N8 # N10"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from components.gcp import projects, serviceaccount, storage
from slipway.deploying.engine.bucket_fields import RULES
from slipway.model.findings.finding import Finding, Grade
from slipway.reviewing.rules.resources.buckets import buckets
from slipway.reviewing.rules.resources.data import ACCOUNT_FIELDS, data
from slipway.reviewing.rules.resources.people import people
from slipway.reviewing.rules.words import LONGEST
from tests.slipway.reviewing.builders import CATALOG_BUCKET, PROJECT, TEAM, TRAINER, change, facts, step

BUCKET, ACCOUNT = "gcp:storage/bucket:Bucket", "gcp:serviceaccount/account:Account"
WORKSPACE = "slipway:components:Workspace"
NOTE, WARNING, BLOCKING = Grade
DAY, WEEK = {"retentionPeriod": 86400}, {"retentionPeriod": "604800"}
_WORD = re.compile(r"_(\w)")

FIELDS: tuple[tuple[str, Any, Any, str, Grade, str], ...] = (
    ("autoclass", None, {"enabled": True}, "bucket-changed", NOTE, "moves objects that nobody reads to cheaper"),
    ("cors", None, [{"origins": ["*"]}], "bucket-changed", NOTE, "lets pages of other sites read it"),
    ("customPlacementConfig", None, {"dataLocations": ["US-EAST1"]}, "bucket-changed", WARNING, "in other regions"),
    ("defaultEventBasedHold", False, True, "bucket-changed", BLOCKING, "until its hold is released: jobs that do fail"),
    ("deletionPolicy", "DELETE", "ABANDON", "bucket-changed", NOTE, "stays in the cloud when it leaves the stack"),
    ("enableObjectRetention", False, True, "bucket-changed", NOTE, "lets single objects be kept from deletion"),
    ("encryption", None, {"defaultKmsKeyName": "p/k"}, "bucket-changed", WARNING, "key `k`: nobody looked whether"),
    ("encryption", {"defaultKmsKeyName": "k1"}, None, "bucket-changed", WARNING, "no longer with yours (`k1`)"),
    ("forceDestroy", None, True, "force-destroy", BLOCKING, "may be deleted with everything in it"),
    ("forceDestroy", True, False, "bucket-changed", NOTE, "can't be deleted any more while"),
    ("hierarchicalNamespace", None, {"enabled": True}, "bucket-changed", WARNING, "has folders of another kind"),
    ("ipFilter", None, {"mode": "Enabled"}, "bucket-changed", BLOCKING, "jobs and people elsewhere are refused"),
    ("labels", {"a": "b"}, {}, "bucket-changed", NOTE, "other labels"),
    ("location", "US-CENTRAL1", "US-EAST1", "bucket-changed", BLOCKING, "jobs elsewhere read more slowly, and pay"),
    ("logging", {"logBucket": "logs"}, None, "bucket-changed", WARNING, "has no log of who reads it"),
    ("name", "acme-work", "acme-results", "bucket-changed", BLOCKING, "called `acme-results`, until now"),
    ("project", "acme", "other", "bucket-changed", BLOCKING, "project `other`, until now `acme`: that one pays"),
    ("publicAccessPrevention", "enforced", "inherited", "public-prevention-off", BLOCKING, "opened to the"),
    ("publicAccessPrevention", "inherited", "enforced", "bucket-changed", NOTE, "can't be opened"),
    ("requesterPays", False, True, "bucket-changed", BLOCKING, "jobs and people that name no project are refused"),
    ("retentionPolicy", DAY, None, "retention-changed", BLOCKING, "deleted at once, until now after 24 h"),
    ("retentionPolicy", WEEK, DAY, "retention-changed", BLOCKING, "deleted after 24 h, until now after 7 days"),
    ("retentionPolicy", None, DAY, "retention-changed", BLOCKING, "jobs that write a file twice fail"),
    ("retentionPolicy", DAY, {**DAY, "isLocked": True}, "retention-changed", BLOCKING, "for 24 h, for good"),
    ("rpo", "DEFAULT", "ASYNC_TURBO", "bucket-changed", NOTE, "copies objects to its second region by `ASYNC_TURBO`"),
    ("softDeletePolicy", None, {"retentionDurationSeconds": 0}, "retention-changed", BLOCKING, "keeps nothing"),
    ("storageClass", "STANDARD", "ARCHIVE", "bucket-changed", WARNING, "each read costs extra"),
    ("uniformBucketLevelAccess", True, False, "bucket-changed", BLOCKING, "lets single objects be opened to anybody"),
    ("uniformBucketLevelAccess", False, True, "bucket-changed", WARNING, "shuts out whoever may read single objects"),
    ("versioning", {"enabled": True}, None, "versioning-changed", BLOCKING, "keeps no earlier versions"),
    ("versioning", None, {"enabled": True}, "versioning-changed", WARNING, "bills earlier versions"),
    ("website", None, {"mainPageSuffix": "index.html"}, "bucket-changed", NOTE, "answers as another website"),
)


def rule(action: str = "Delete", storage: str = "", **condition: Any) -> dict[str, Any]:
    return {"action": {"type": action, **({"storageClass": storage} if storage else {})}, "condition": condition}


CLAIMS: dict[str, Any] = {"matchesPrefixes": ["claims/"]}
MONTH = rule(age=30, **CLAIMS)
ARCHIVED = rule(numNewerVersions=3, withState="ARCHIVED")


def edit(old: Mapping[str, Any], new: Mapping[str, Any], role: str = "work", name: str = "acme-work") -> list[Finding]:
    sides = ({key: value for key, value in {"name": name, **side}.items() if value is not None} for side in (old, new))
    before, after = sides
    steps = [step("update", BUCKET, role, old=before, new=after, parent=WORKSPACE)]
    return list(buckets(change(facts(), facts(), steps=steps)))


def inputs(resource: Any) -> frozenset[str]:
    """The inputs of a resource, as the provider's own class has them."""
    known = inspect.signature(resource._internal_init).parameters
    own = (one for one in known if one not in ("__self__", "resource_name", "opts", "__props__"))
    return frozenset(_WORD.sub(lambda found: found[1].upper(), one) for one in own)


def plain(found: Iterator[Finding]) -> list[Finding]:
    """Sentences that tell more than a path."""
    listed = list(found)
    for one in listed:
        assert len(one.sentence.split()) <= LONGEST, one.sentence
        assert "nobody looked what follows" not in one.sentence, one.sentence
        assert not re.search(r"`[\w.]+` \S+ → ", one.sentence), one.sentence
    return listed


def test_every_input_of_a_bucket_has_a_rule() -> None:
    assert RULES.keys() == inputs(storage.Bucket) == {"lifecycleRules", *(row[0] for row in FIELDS)}


@pytest.mark.parametrize(("key", "old", "new", "kind", "grade", "words"), FIELDS)
def test_a_field_of_a_bucket_is_told_by_what_follows(
    key: str, old: Any, new: Any, kind: str, grade: Grade, words: str
) -> None:
    (one,) = plain(iter(edit({key: old}, {key: new})))
    assert (one.kind, one.grade) == (kind, grade)
    assert words in one.sentence


def test_a_field_that_no_rule_knows_is_said_to_be_one() -> None:
    (one,) = edit({}, {"novelty": 1})
    assert "nobody looked what follows" in one.sentence


@pytest.mark.parametrize(
    ("old", "new", "grade", "words"),
    [
        (MONTH, None, WARNING, "no longer deletes `claims/` after 30 days: they stay, and are paid for"),
        (None, MONTH, BLOCKING, "deletes `claims/` after 30 days: what is older goes at once"),
        (MONTH, rule(age=90, **CLAIMS), WARNING, "deletes `claims/` after 90 days, until now after 30 days"),
        (
            MONTH,
            rule(age=3, **CLAIMS),
            BLOCKING,
            "deletes `claims/` after 3 days, until now after 30 days: what is older goes at once",
        ),
        (
            None,
            rule("SetStorageClass", "COLDLINE", age=9),
            WARNING,
            "moves every object to `COLDLINE` after 9 days: each read costs extra, and 90 days are paid at least",
        ),
        (
            None,
            ARCHIVED,
            BLOCKING,
            "deletes every object with 3 newer versions (withState `ARCHIVED`), results and checkpoints of jobs too",
        ),
    ],
)
def test_lifecycle_rules(
    old: Mapping[str, Any] | None, new: Mapping[str, Any] | None, grade: Grade, words: str
) -> None:
    (one,) = edit({"lifecycleRules": [old] if old else []}, {"lifecycleRules": [new] if new else []})
    assert (one.kind, one.grade, one.sentence) == ("lifecycle-changed", grade, f"Bucket `acme-work` {words}")


def test_rules_for_what_is_recorded_beside_the_catalog_stop_no_upgrade() -> None:  # N19
    """A release that records more brings rules for it. In any other bucket, or with another rule, they stop it."""
    boards = rule(daysSinceNoncurrentTime=1, matchesPrefixes=["history/", "board/"], withState="ARCHIVED")
    rules = [MONTH, rule(age=400, matchesPrefixes=["history/"]), boards]

    def told(role: str, *more: Any) -> Finding:
        (one,) = edit({"lifecycleRules": [MONTH]}, {"lifecycleRules": [*rules, *more]}, role, CATALOG_BUCKET)
        return one

    assert (told("catalog").kind, told("catalog").grade) == ("lifecycle-changed", NOTE)
    assert "1 day after" in told("catalog").sentence
    assert told("work").grade is told("catalog", rule(age=1)).grade is BLOCKING


def test_what_is_not_known_yet_raises_nothing() -> None:
    for key in ("versioning", "retentionPolicy", "softDeletePolicy", "lifecycleRules", "encryption"):
        edit({}, {key: "[known once deployed]"})


def test_every_input_of_an_account_has_a_rule() -> None:
    assert ACCOUNT_FIELDS.keys() == inputs(serviceaccount.Account)


@pytest.mark.parametrize("key", ACCOUNT_FIELDS)
def test_a_field_of_an_account_is_told_by_what_follows(key: str) -> None:
    old = {"email": TRAINER, "accountId": "trainer", "project": PROJECT}
    edit = step("update", ACCOUNT, "trainer", old=old, new={**old, key: "other"})
    assert plain(data(change(facts(), facts(), steps=[edit])))


@pytest.mark.parametrize(
    ("type_", "resource", "on"),
    [
        ("gcp:storage/bucketIAMMember:BucketIAMMember", storage.BucketIAMMember, "bucket"),
        ("gcp:serviceaccount/iAMMember:IAMMember", serviceaccount.IAMMember, "serviceAccountId"),
        ("gcp:projects/iAMMember:IAMMember", projects.IAMMember, "project"),
    ],
)
def test_an_input_of_a_grant_is_told_by_what_it_allows(type_: str, resource: Any, on: str) -> None:
    old = {on: "first", "member": TEAM, "role": "roles/storage.objectViewer"}
    edits = {
        on: "second",
        "member": "user:eve@acme.example",
        "role": "roles/storage.objectAdmin",
        "condition": {"title": "until May", "expression": "true"},
    }
    assert edits.keys() == inputs(resource)
    for key, value in edits.items():
        edit = step("update", type_, "reads", old=old, new={**old, key: value})
        assert plain(people(change(facts(), facts(), steps=[edit]))), key
