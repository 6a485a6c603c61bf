"""Buckets and other resources of the program, drift, and the identity of the deployment."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from slipway.answers import resources
from slipway.deploying.engine.preview import UNKNOWN, EngineStep, Preview, Resource
from slipway.model.catalog.clusters import DormantCluster
from slipway.model.facts import CATALOG, WORKSPACE
from slipway.model.findings.finding import Finding, Grade
from slipway.model.season import Season
from tests.slipway.reviewing.builders import WORK_BUCKET, change, facts, kept, pool, step

BUCKET = "gcp:storage/bucket:Bucket"
DATASET = "gcp:bigquery/dataset:Dataset"


def found(*steps: EngineStep, **fields: Any) -> list[Finding]:
    before = fields.pop("before", facts())
    after = fields.pop("after", before)
    fields.setdefault("preview", Preview(steps))
    return list(resources.findings(change(before, after, **fields).comparison))


def told(*steps: EngineStep, **fields: Any) -> list[tuple[str, str]]:
    return [(finding.kind, finding.grade.review_word) for finding in found(*steps, **fields)]


def bucket(old: dict[str, Any], new: dict[str, Any], **fields: Any) -> EngineStep:
    sides = [{"name": "data", **side} for side in (old, new)]
    return step("update", BUCKET, "data", old=sides[0], new=sides[1], **fields)


def deletes(days: int) -> dict[str, Any]:
    return {"lifecycleRules": [{"action": {"type": "Delete"}, "condition": {"age": days}}]}


def test_nothing_touched_is_no_finding() -> None:
    assert found() == []
    assert found(step("create", DATASET, "x", parent=WORKSPACE, new={"name": "x"})) == []


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ({}, deletes(30), "deletes every object after 30 days"),
        (deletes(90), deletes(30), "deletes every object after 30 days, until now after 90 days"),
        (
            {"retentionPolicy": {"retentionPeriod": 2592000}},
            {"retentionPolicy": {"retentionPeriod": 604800}},
            "lets objects be deleted after 7 days, until now after 30 days",
        ),
        (
            {},
            {"softDeletePolicy": {"retentionDurationSeconds": 0}},
            "keeps nothing that is deleted, until now for 7 days",
        ),
        ({"versioning": {"enabled": True}}, {}, "keeps no earlier versions of what is overwritten or deleted"),
    ],
)
def test_shorter_retention_is_blocking(old: dict[str, Any], new: dict[str, Any], sentence: str) -> None:
    (finding,) = found(bucket(old, new))
    assert (finding.kind, finding.grade) == ("retention-changed", Grade.BLOCKING)
    assert finding.sentence.startswith(f"{sentence}: `")


def test_longer_retention_is_not_blocking() -> None:
    assert told(bucket(deletes(30), deletes(90))) == [("retention-changed", "warning")]
    assert told(bucket({}, {"labels": {"team": "ml"}})) == [("bucket-changed", "change")]


def test_deleted_and_replaced_buckets_are_blocking() -> None:
    (finding,) = found(step("delete", BUCKET, "data", old={"name": "data", "forceDestroy": True}))
    assert (finding.kind, finding.sentence) == ("bucket-deleted", "is deleted (`forceDestroy` `true`)")
    old, new = {"name": "data", "location": "US"}, {"name": "data", "location": "EU"}
    (finding,) = found(step("replace", BUCKET, "data", old=old, new=new, diffs=["location"], replaces=["location"]))
    assert finding.sentence == "is replaced (`forceDestroy` `false`): `location` `US` → `EU`"
    assert told(step("delete", BUCKET, "data", old={"name": "data"}, retained=True)) == [
        ("resource-deleted", "warning")
    ]


def test_what_was_kept_for_jobs_goes_without_an_alarm() -> None:
    before = facts(kept("old-work"))
    gone = step("delete", BUCKET, "work@eu", old={"name": "old-work"}, parent=WORKSPACE)
    assert told(gone, before=before, after=facts()) == [("bucket-deleted", "change")]


def test_a_removed_protection_is_blocking() -> None:
    assert told(bucket({}, {"forceDestroy": True})) == [("bucket-changed", "blocking")]
    assert told(bucket({"forceDestroy": True}, {"forceDestroy": False})) == [("bucket-changed", "change")]
    dataset = step("update", DATASET, "x", old={"deletionProtection": True}, new={"deletionProtection": False})
    assert told(dataset) == [("resource-changed", "blocking")]


@pytest.mark.parametrize(
    ("op", "kind", "grade"),
    [
        ("create", "resource-changed", "change"),
        ("delete", "resource-deleted", "blocking"),
        ("replace", "resource-replaced", "blocking"),
        ("update", "resource-changed", "change"),
    ],
)
def test_other_resources(op: str, kind: str, grade: str) -> None:
    old = None if op == "create" else {"datasetId": "runs", "location": "US"}
    new = None if op == "delete" else {"datasetId": "runs", "location": "EU"}
    (finding,) = found(step(op, DATASET, "runs", old=old, new=new))
    assert (finding.kind, finding.grade.review_word, finding.subject) == (kind, grade, "bigquery.Dataset runs")


def test_a_resource_without_pulumi_protection_is_blocking() -> None:
    old = Resource({"name": "x"}, protected=True)
    edit = EngineStep("update", "urn", DATASET, "x", old=old, new=replace(old, protected=False))
    assert told(preview=Preview((edit,))) == [("resource-changed", "blocking")]


def test_clusters_grants_and_packages_are_reported_elsewhere() -> None:
    types = ["gcp:vertex/aiPersistentResource:AiPersistentResource", "gcp:projects/iAMMember:IAMMember"]
    assert found(*(step("delete", type_, "x", old={"name": "x"}) for type_ in types)) == []


def test_an_unknown_value_is_not_a_removed_one() -> None:
    assert told(bucket({"location": "US"}, {"location": UNKNOWN})) == [("value-unknown", "warning")]
    policy = step(
        "update", "gcp:projects/iAMPolicy:IAMPolicy", "p", old={"policyData": "{}"}, new={"policyData": UNKNOWN}
    )
    assert told(policy) == [("value-unknown", "warning")]


def test_a_hand_edit_that_is_restored_is_drift() -> None:
    declared = Resource({"name": "data", "versioning": {"enabled": True}})
    now = Resource({"name": "data", "versioning": {"enabled": False}})
    edit = EngineStep("update", "urn", BUCKET, "data", old=now, new=declared, diffs=("versioning",))
    refreshed = EngineStep("refresh", "urn", BUCKET, "data", old=declared, new=now)
    (finding,) = found(preview=Preview((edit,), {"urn": refreshed}))
    assert finding.kind == "drift" and finding.subject == "bucket data"


def test_another_place_is_another_identity() -> None:
    moved = replace(facts(), catalog=replace(facts().catalog, region="europe-west4"))
    (finding,) = found(after=moved)
    assert (finding.kind, finding.grade) == ("identity-changed", Grade.BLOCKING)
    assert "`us-central1` → `europe-west4`" in finding.sentence


def test_an_edit_of_an_inactive_cluster_takes_effect_later() -> None:
    season = Season(begins=datetime(2027, 1, 4, tzinfo=UTC))
    dormant = [DormantCluster(name="h", id="h-1", pools=(pool(high=high),), season=season) for high in (2, 4)]
    sides = [facts(dormant={"h": each}) for each in dormant]
    assert found(before=sides[0], after=sides[0]) == []
    (finding,) = found(before=sides[0], after=sides[1])
    assert finding.kind == "takes-effect-later" and "2027-01-04" in finding.sentence


def test_the_deletion_guard_has_to_be_registered() -> None:
    assert told(preview=Preview(hooks=frozenset({resources.GUARD}))) == []
    assert told(preview=Preview(hooks=frozenset())) == [("guard-missing", "blocking")]


def test_a_program_without_facts_is_reported_as_incomplete_only() -> None:
    findings = list(resources.findings(change(facts(), None, preview=Preview()).comparison))
    assert findings == []


def test_a_deleted_catalog_is_blocking() -> None:
    lost = step("delete", "gcp:storage/bucketObject:BucketObject", "c", old={"bucket": WORK_BUCKET}, parent=CATALOG)
    assert told(lost) == [("resource-deleted", "blocking")]
