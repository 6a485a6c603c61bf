"""Resources of types that nobody here knows: what goes is destruction, nothing secret is told. # N5 # D7 # P5"""

from collections.abc import Mapping
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.deploying.engine.preview import SECRET, EngineStep
from slipway.model.findings.finding import Finding, Grade
from slipway.reviewing.resources.people import people
from slipway.reviewing.resources.resources import exposure, resources
from tests.slipway.reviewing.builders import PROJECT, change, facts, step
from tests.slipway.reviewing.recordings import recorded

DATASET, SQL = "gcp:bigquery/dataset:Dataset", "gcp:sql/databaseInstance:DatabaseInstance"
SECRETS, KEY, RANDOM = (
    "gcp:secretmanager/secret:Secret",
    "gcp:kms/cryptoKey:CryptoKey",
    "random:index/randomId:RandomId",
)
S3, PACKAGE = "aws:s3/bucketV2:BucketV2", "gcp:storage/bucketObject:BucketObject"


def found(*steps: EngineStep) -> list[Finding]:
    return list(resources(change(None, None, steps=steps)))


def one(*steps: EngineStep) -> Finding:
    (only,) = found(*steps)
    return only


def replaced(type_: str, name: str, old: Mapping[str, Any], new: Mapping[str, Any], *why: str) -> list[EngineStep]:
    return [
        step("create-replacement", type_, name, old=old, new=new, diffs=why, replaces=why),
        step("replace", type_, name, old=old, new=new, diffs=why, replaces=why),
        step("delete-replaced", type_, name, old=old),
    ]


@pytest.mark.parametrize(
    ("type_", "words"),
    [
        (S3, "`results` (aws s3.BucketV2) is deleted"),
        ("acme:lab/instrument:Instrument", "`results` (acme lab.Instrument) is deleted"),
    ],
)
def test_a_deletion_blocks_whatever_it_is(type_: str, words: str) -> None:
    consequence = one(step("delete", type_, "results", old={"labels": {}}, id="projects/acme/things/42"))
    assert (consequence.kind, consequence.grade) == ("resource-deleted", Grade.BLOCKING)
    assert words in consequence.sentence
    assert consequence.details == ("`projects/acme/things/42`",)


def test_what_is_replaced_because_another_is_says_so(snapshot: SnapshotAssertion) -> None:
    consequence = one(*replaced(RANDOM, "suffix", {"byteLength": 4}, {"byteLength": 4}))
    assert consequence.sentence == snapshot


def test_what_is_retained_is_forgotten_and_not_deleted() -> None:
    consequence = one(step("delete", DATASET, "results", old={}, retained=True))
    assert (consequence.kind, consequence.grade) == ("resource-forgotten", Grade.WARNING)


def test_a_protected_resource_fails_the_deployment(snapshot: SnapshotAssertion) -> None:
    consequence = one(step("delete", SQL, "db", old={"deletionProtection": True}))
    assert consequence.sentence == snapshot


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"deletionProtection": True}, {}),
        ({"deletionPolicy": "PREVENT"}, {"deletionPolicy": "DELETE"}),
        ({}, {"deleteContentsOnDestroy": True}),
        ({"forceDestroy": False}, {"forceDestroy": True}),
    ],
)
def test_a_guard_that_is_taken_off_blocks(
    snapshot: SnapshotAssertion, old: Mapping[str, Any], new: Mapping[str, Any]
) -> None:
    consequence = one(step("update", SQL, "db", old=old, new=new))
    assert (consequence.kind, consequence.grade) == ("resource-changed", Grade.BLOCKING)
    assert consequence.sentence == snapshot


def test_a_change_in_place_names_its_paths_before_and_after(snapshot: SnapshotAssertion) -> None:
    consequence = one(
        step("update", DATASET, "results", old={"a": {"b": 1}}, new={"a": {"b": 2}}, diffs=["a.b", "etag"])
    )
    assert (consequence.grade, consequence.sentence) == snapshot
    old, new = ({f"field{n}": side * 20 for n in range(40)} for side in ("before ", "after "))
    assert "before" not in one(step("update", DATASET, "results", old=old, new=new)).sentence, "only the paths"


@pytest.mark.parametrize(
    ("before", "after", "grade", "words"),
    [
        (["a.get"], ["a.get", "resourcemanager.projects.setIamPolicy"], Grade.BLOCKING, "may give anybody any role"),
        (["a.get"], ["a.get", "a.create"], Grade.BLOCKING, "gets `a.create`: nobody looked what that allows"),
        (["a.get", "a.list"], ["a.get"], Grade.WARNING, "loses `a.list`: what needs that is refused"),
    ],
)
def test_a_role_of_ones_own_is_told_by_whoever_has_it(
    before: list[str], after: list[str], grade: Grade, words: str
) -> None:
    role, roles = "gcp:projects/iAMCustomRole:IAMCustomRole", ({"permissions": some} for some in (before, after))
    old, new = roles
    told = one(step("update", role, "sweeper", old=old, new=new))
    assert (told.kind, told.grade) == ("resource-changed", grade)
    assert told.sentence.startswith("Whoever has role") and words in told.sentence


def test_what_opens_to_everybody_is_told_once() -> None:
    rule = {"sourceRanges": ["10.0.0.0/8"]}
    seen = change(
        None,
        None,
        steps=[step("update", "gcp:compute/firewall:Firewall", "ssh", old=rule, new={"sourceRanges": ["0.0.0.0/0"]})],
    )
    assert [told.kind for told in (*exposure(seen), *resources(seen))] == ["public-access"]


def test_labels_alone_are_for_knowing() -> None:
    assert one(step("update", DATASET, "x", old={"labels": {"a": "b"}}, new={"labels": {}})).grade is Grade.NOTE


def test_secrets_are_named_and_never_shown(snapshot: SnapshotAssertion) -> None:
    steps = [
        step("update", SECRETS, "v", old={"secretData": SECRET}, new={"secretData": SECRET}, diffs=["secretData"]),
        step("update", SQL, "db", old={"rootPassword": "tiger"}, new={"rootPassword": "lion"}, diffs=["rootPassword"]),
    ]
    told = [consequence.sentence for consequence in found(*steps)]
    assert told[0] == snapshot
    assert told[1] == snapshot
    assert "tiger" not in str(told) and "lion" not in str(told)


def test_what_only_the_cloud_computes_is_for_knowing_and_what_moves_by_itself_silent() -> None:
    same = {"name": "x"}
    assert found(step("update", DATASET, "x", old=same, new=same, diffs=["etag", "lastModifiedTime"])) == []
    assert one(step("update", DATASET, "x", old=same, new=same, diffs=["defaultKms"])).grade is Grade.NOTE


def test_creations_are_for_knowing_and_adoptions_said_to_be_such(snapshot: SnapshotAssertion) -> None:
    created, adopted = found(step("create", DATASET, "a", new={}), step("import", DATASET, "b", new={}))
    assert (created.kind, created.grade) == ("resource-created", Grade.NOTE)
    assert adopted.sentence == snapshot


def test_slipways_own_plumbing_is_not_told_again() -> None:
    template, workspace = "slipway:components:JobTemplate", "slipway:components:Workspace"
    steps = [
        step("create", PACKAGE, "lora-1", new={"bucket": "b"}, parent=template),
        step("delete", PACKAGE, "lora-0", old={"bucket": "b"}, parent=template, retained=True),
        step("update", PACKAGE, "catalog", old={}, new={}, parent="slipway:components:Catalog", diffs=["content"]),
        step("update", PACKAGE, "creation", old={}, new={}, parent=workspace, diffs=["content"]),
        step("create", "gcp:projects/iAMMember:IAMMember", "submit-x", new={"member": "user:x@acme.example"}),
        step("delete", "gcp:vertex/aiPersistentResource:AiPersistentResource", "cpu-1", old={}),
    ]
    assert found(*steps) == []


def test_a_package_that_nobody_keeps_is_told() -> None:
    consequence = one(step("delete", PACKAGE, "lora-0", old={}, parent="slipway:components:JobTemplate"))
    assert (consequence.kind, consequence.grade) == ("resource-deleted", Grade.BLOCKING)


@pytest.mark.parametrize("name", ["edit", "buckets", "by_hand", "moved", "protect"])
def test_recorded_changes_of_slipways_own_resources_are_told_elsewhere(name: str) -> None:
    told = recorded(name)
    assert [*resources(told), *exposure(told)] == []
    assert [one.kind for one in people(told)] == (["access-added"] if name == "edit" else [])


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
