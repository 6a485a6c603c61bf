"""Resources of types that nobody here knows: what goes is destruction, nothing secret is told. # N5 # D7 # P5"""

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.deploying.engine.preview import SECRET, EngineStep
from slipway.model.findings.finding import Finding, Grade
from slipway.reviewing.rules.resources.people import people
from slipway.reviewing.rules.resources.resources import exposure, resources
from tests.slipway.reviewing.builders import PROJECT, change, facts, step
from tests.slipway.reviewing.recordings import recorded

DATASET, SQL = "gcp:bigquery/dataset:Dataset", "gcp:sql/databaseInstance:DatabaseInstance"
S3, PACKAGE = "aws:s3/bucketV2:BucketV2", "gcp:storage/bucketObject:BucketObject"


def found(*steps: EngineStep) -> list[Finding]:
    return list(resources(change(None, None, steps=steps)))


def one(*steps: EngineStep) -> Finding:
    (only,) = found(*steps)
    return only


def test_a_change_in_place_names_its_paths_before_and_after(snapshot: SnapshotAssertion) -> None:
    consequence = one(
        step("update", DATASET, "results", old={"a": {"b": 1}}, new={"a": {"b": 2}}, diffs=["a.b", "etag"])
    )
    assert (consequence.grade, consequence.sentence) == snapshot
    old, new = ({f"field{n}": side * 20 for n in range(40)} for side in ("before ", "after "))
    assert "before" not in one(step("update", DATASET, "results", old=old, new=new)).sentence, "only the paths"


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


BINDING, POLICY = "gcp:projects/iAMBinding:IAMBinding", "gcp:projects/iAMPolicy:IAMPolicy"


def test_a_policy_that_nobody_can_read_is_said_to_be_one() -> None:
    hidden = step("create", POLICY, "all", new={"project": PROJECT, "policyData": SECRET})
    assert "access-added" in {one.kind for one in exposure(change(facts(), facts(), steps=[hidden]))}
