"""Resources of types that nobody here knows: what goes is destruction, nothing secret is told. # N5 # D7 # P5"""

import pytest

from slipway.deploying.engine.preview import SECRET, EngineStep
from slipway.model.findings.finding import Grade
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.resources.exposure import exposure
from slipway.reviewing.rules.resources.people import people
from slipway.reviewing.rules.resources.resources import resources
from tests.slipway.reviewing.builders import PROJECT, change, facts, step
from tests.slipway.reviewing.recordings import recorded

DATASET, PACKAGE = "gcp:bigquery/dataset:Dataset", "gcp:storage/bucketObject:BucketObject"


def found(*steps: EngineStep) -> list[Consequence]:
    return list(resources(change(None, None, steps=steps)))


def test_what_only_the_cloud_computes_is_for_knowing_and_what_moves_by_itself_silent() -> None:
    same = {"name": "x"}
    assert found(step("update", DATASET, "x", old=same, new=same, diffs=["etag", "lastModifiedTime"])) == []
    (computed,) = found(step("update", DATASET, "x", old=same, new=same, diffs=["defaultKms"]))
    assert computed.grade is Grade.NOTE


def test_creations_are_for_knowing_and_adoptions_said_to_be_such() -> None:
    created, adopted = found(step("create", DATASET, "a", new={}), step("import", DATASET, "b", new={}))
    assert (created.kind, created.grade, "adopted" in adopted.does) == ("resource-created", Grade.NOTE, True)


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
    (gone,) = found(step("delete", PACKAGE, "lora-0", old={}, parent="slipway:components:JobTemplate"))
    assert (gone.kind, gone.grade) == ("resource-deleted", Grade.BLOCKING)


@pytest.mark.parametrize("name", ["edit", "buckets", "by_hand", "moved", "protect"])
def test_recorded_changes_of_slipways_own_resources_are_told_elsewhere(name: str) -> None:
    told = recorded(name)
    assert [*resources(told), *exposure(told)] == []
    assert [one.kind for one in people(told)] == (["access-added"] if name == "edit" else [])


def test_a_policy_that_nobody_can_read_is_said_to_be_one() -> None:
    hidden = step("create", "gcp:projects/iAMPolicy:IAMPolicy", "all", new={"project": PROJECT, "policyData": SECRET})
    assert "access-added" in {one.kind for one in exposure(change(facts(), facts(), steps=[hidden]))}
