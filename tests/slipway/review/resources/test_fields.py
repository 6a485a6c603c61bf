"""Rules for what a workspace declares: each input of its buckets, accounts and grants has one. # N8 # N10"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from components.gcp import projects, serviceaccount, storage
from slipway.findings.finding import Finding
from slipway.review.resources.bucket_fields import RULES
from slipway.review.resources.buckets import buckets
from slipway.review.resources.data import ACCOUNT_FIELDS, data
from slipway.review.resources.people import people
from slipway.review.words import LONGEST
from tests.slipway.review.builders import PROJECT, TEAM, TRAINER, change, facts, step

BUCKET, ACCOUNT = "gcp:storage/bucket:Bucket", "gcp:serviceaccount/account:Account"
_WORD = re.compile(r"_(\w)")
AGED = {"action": {"type": "Delete"}, "condition": {"age": 30}}
SOONER = {"action": {"type": "Delete"}, "condition": {"age": 3}}
EDITS: Mapping[str, tuple[Any, Any]] = {
    "autoclass": (None, {"enabled": True}),
    "cors": (None, [{"origins": ["*"]}]),
    "customPlacementConfig": (None, {"dataLocations": ["US-EAST1"]}),
    "defaultEventBasedHold": (False, True),
    "deletionPolicy": ("DELETE", "ABANDON"),
    "enableObjectRetention": (False, True),
    "encryption": (None, {"defaultKmsKeyName": "projects/p/locations/l/keyRings/r/cryptoKeys/k"}),
    "forceDestroy": (True, False),
    "hierarchicalNamespace": (None, {"enabled": True}),
    "ipFilter": (None, {"mode": "Enabled"}),
    "labels": ({"team": "a"}, {"team": "b"}),
    "lifecycleRules": ([AGED], [SOONER]),
    "location": ("US-CENTRAL1", "US-EAST1"),
    "logging": ({"logBucket": "logs"}, None),
    "name": ("acme-work", "acme-results"),
    "project": ("acme", "other"),
    "publicAccessPrevention": ("enforced", "inherited"),
    "requesterPays": (False, True),
    "retentionPolicy": ({"retentionPeriod": 86400}, None),
    "rpo": ("DEFAULT", "ASYNC_TURBO"),
    "softDeletePolicy": (None, {"retentionDurationSeconds": 0}),
    "storageClass": ("STANDARD", "NEARLINE"),
    "uniformBucketLevelAccess": (True, False),
    "versioning": ({"enabled": True}, {"enabled": False}),
    "website": (None, {"mainPageSuffix": "index.html"}),
}


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
    assert RULES.keys() == inputs(storage.Bucket) == EDITS.keys()


@pytest.mark.parametrize("key", EDITS)
def test_a_field_of_a_bucket_is_told_by_what_follows(key: str) -> None:
    old, new = ({"name": "acme-work", key: value} for value in EDITS[key])
    edit = step("update", BUCKET, "work", old=old, new=new, parent="slipway:components:Workspace")
    assert plain(buckets(change(facts(), facts(), steps=[edit])))


def test_a_field_that_no_rule_knows_is_said_to_be_one() -> None:
    edit = step("update", BUCKET, "work", old={"name": "b"}, new={"name": "b", "novelty": 1})
    (one,) = buckets(change(facts(), facts(), steps=[edit]))
    assert "nobody looked what follows" in one.sentence


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
