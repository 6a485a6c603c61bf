"""Access that opens or closes without naming anybody. # P5 # N5"""

from collections.abc import Mapping
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.findings.finding import Grade
from slipway.review.preview import SECRET
from slipway.review.resources.resources import exposure
from tests.slipway.review.builders import PROJECT, change, facts, step
from tests.slipway.review.recordings import recorded

ADA = "user:ada@acme.example"
BINDING, POLICY = "gcp:projects/iAMBinding:IAMBinding", "gcp:projects/iAMPolicy:IAMPolicy"


@pytest.mark.parametrize(
    ("type_", "inputs", "grade"),
    [
        (POLICY, {"project": PROJECT, "policyData": "{}"}, Grade.BLOCKING),
        (BINDING, {"project": PROJECT, "role": "roles/aiplatform.user", "members": []}, Grade.BLOCKING),
        (BINDING, {"project": PROJECT, "role": "roles/viewer", "members": []}, Grade.WARNING),
    ],
)
def test_what_is_set_as_a_whole_shuts_out_others_unseen(
    snapshot: SnapshotAssertion, type_: str, inputs: Mapping[str, Any], grade: Grade
) -> None:
    (others,) = exposure(change(facts(), facts(), steps=[step("create", type_, "all", new=inputs)]))
    assert (others.kind, others.grade) == ("access-gone", grade)
    assert others.sentence == snapshot
    again = step("update", type_, "all", old=inputs, new={**inputs, "members": [ADA], "policyData": "{ }"})
    assert not list(exposure(change(facts(), facts(), steps=[again])))


def test_a_policy_that_nobody_can_read_is_said_to_be_one() -> None:
    hidden = step("create", POLICY, "all", new={"project": PROJECT, "policyData": SECRET})
    assert "access-added" in {one.kind for one in exposure(change(facts(), facts(), steps=[hidden]))}


@pytest.mark.parametrize(
    ("type_", "old", "new"),
    [
        ("gcp:storage/bucketAccessControl:BucketAccessControl", {}, {"entity": "allUsers", "role": "READER"}),
        ("gcp:storage/defaultObjectACL:DefaultObjectACL", {}, {"roleEntities": ["READER:allUsers"]}),
        (
            "gcp:bigquery/dataset:Dataset",
            {"accesses": [{"role": "OWNER", "specialGroup": "projectOwners"}]},
            {"accesses": [{"role": "READER", "specialGroup": "allAuthenticatedUsers"}]},
        ),
        ("gcp:compute/firewall:Firewall", {"sourceRanges": ["10.0.0.0/8"]}, {"sourceRanges": ["0.0.0.0/0"]}),
        ("aws:s3/bucketAclV2:BucketAclV2", {"acl": "private"}, {"acl": "public-read"}),
    ],
)
def test_what_opens_to_everybody_without_a_grant(type_: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    (one,) = exposure(change(None, None, steps=[step("update", type_, "x", old=old, new=new)]))
    assert (one.kind, one.grade) == ("public-access", Grade.BLOCKING)
    back = step("update", type_, "x", old=new, new=old)
    assert not list(exposure(change(None, None, steps=[back])))


def test_a_route_to_everywhere_opens_nothing_and_a_key_is_access(snapshot: SnapshotAssertion) -> None:
    steps = [
        step("create", "gcp:compute/route:Route", "out", new={"destRange": "0.0.0.0/0"}),
        step(
            "create", "gcp:serviceaccount/key:Key", "k", new={"serviceAccountId": f"projects/p/serviceAccounts/{ADA}"}
        ),
    ]
    (key,) = exposure(change(None, None, steps=steps))
    assert key.sentence == snapshot


@pytest.mark.parametrize("name", ["buckets", "by_hand", "moved", "protect", "workspace"])
def test_recorded_changes_of_others_are_silent(name: str) -> None:
    assert list(exposure(recorded(name))) == []
