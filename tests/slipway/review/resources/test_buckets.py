"""Buckets: those that go, stay behind or come, and what becomes of the objects in them. # N5"""

from collections.abc import Mapping
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.findings.finding import Finding, Grade
from slipway.review.preview import EngineStep, Preview, Resource
from slipway.review.resources.buckets import buckets
from tests.slipway.review.builders import CATALOG_BUCKET, WORK_BUCKET, change, facts, job, kept, step
from tests.slipway.review.recordings import recorded

BUCKET, WORKSPACE = "gcp:storage/bucket:Bucket", "slipway:components:Workspace"
RULE = {"action": {"type": "Delete"}, "condition": {"age": 30, "matchesPrefixes": ["claims/"]}}


def found(*steps: EngineStep) -> list[Finding]:
    return list(buckets(change(facts(), facts(), steps=steps)))


def edit(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Finding]:
    name = {"name": "acme-work"}
    return found(step("update", BUCKET, "work", old={**name, **old}, new={**name, **new}, parent=WORKSPACE))


@pytest.mark.parametrize(("force", "ends"), [(True, ", with everything in it"), (False, "the deployment fails there")])
def test_a_bucket_that_is_deleted(force: bool, ends: str) -> None:
    (one,) = found(step("delete", BUCKET, "old", old={"name": "results", "forceDestroy": force}))
    assert (one.kind, one.subject, one.grade) == ("bucket-deleted", "bucket results", Grade.BLOCKING)
    assert one.sentence.endswith(ends)


def test_a_bucket_that_is_replaced_names_the_cause(snapshot: SnapshotAssertion) -> None:
    work, catalog = sorted(buckets(recorded("moved")), key=lambda one: one.sentence, reverse=True)
    assert {work.kind, catalog.kind} == {"bucket-replaced"}
    assert catalog.sentence == snapshot
    assert work.sentence == snapshot


def test_a_bucket_with_another_name_leaves_the_old_one_behind(snapshot: SnapshotAssertion) -> None:
    told = {one.kind: one for one in buckets(recorded("workspace"))}
    assert told.keys() == {"bucket-created", "bucket-left"}
    assert told["bucket-created"].sentence == snapshot
    assert told["bucket-left"].sentence == snapshot
    assert told["bucket-left"].field == "slipway:workspace.workBucket"


@pytest.mark.parametrize("steps", [(), None])
def test_an_old_bucket_of_results_stays_with_the_jobs_that_write_to_it(
    snapshot: SnapshotAssertion, steps: tuple[EngineStep, ...] | None
) -> None:
    after = facts(kept(CATALOG_BUCKET, job(), role="catalog"), kept(WORK_BUCKET, job()), work_bucket="new-work")
    told = {(one.kind, str(one.subject)): one for one in buckets(change(facts(), after, steps=steps))}
    assert told["bucket-left", f"bucket {WORK_BUCKET}"].sentence == snapshot
    # The engine tells of new ones itself.
    assert (("bucket-created", "bucket new-work") in told) == (steps is None)


@pytest.mark.parametrize(
    ("old", "new", "kind", "grade", "words"),
    [
        (
            [RULE],
            [],
            "lifecycle-changed",
            Grade.WARNING,
            "no longer deletes `claims/` after 30 days: they stay, and are paid for",
        ),
        (
            [],
            [RULE],
            "lifecycle-changed",
            Grade.BLOCKING,
            "deletes `claims/` after 30 days: what is older goes at once",
        ),
        (
            [RULE],
            [{**RULE, "condition": {"age": 90, "matchesPrefixes": ["claims/"]}}],
            "lifecycle-changed",
            Grade.WARNING,
            "deletes `claims/` after 90 days, until now after 30 days",
        ),
        (
            [RULE],
            [{**RULE, "condition": {"age": 3, "matchesPrefixes": ["claims/"]}}],
            "lifecycle-changed",
            Grade.BLOCKING,
            "deletes `claims/` after 3 days, until now after 30 days: what is older goes at once",
        ),
        (
            [],
            [{"action": {"type": "SetStorageClass", "storageClass": "COLDLINE"}, "condition": {"age": 9}}],
            "lifecycle-changed",
            Grade.WARNING,
            "moves every object to `COLDLINE` after 9 days: each read costs extra, and 90 days are paid at least",
        ),
        (
            [],
            [{"action": {"type": "Delete"}, "condition": {"numNewerVersions": 3, "withState": "ARCHIVED"}}],
            "lifecycle-changed",
            Grade.BLOCKING,
            "deletes every object with 3 newer versions (withState `ARCHIVED`), results and checkpoints of jobs too",
        ),
    ],
)
def test_lifecycle_rules(old: Any, new: Any, kind: str, grade: Grade, words: str) -> None:
    (one,) = edit({"lifecycleRules": old}, {"lifecycleRules": new})
    assert (one.kind, one.grade, one.sentence) == (kind, grade, f"Bucket `acme-work` {words}")


def test_rules_for_what_is_recorded_beside_the_catalog_stop_no_upgrade() -> None:  # N19
    """A release that records more brings rules for it. In any other bucket, or with another rule, they stop it."""
    rules = [
        {"action": {"type": "Delete"}, "condition": {"age": 400, "matchesPrefixes": ["history/"]}},
        {
            "action": {"type": "Delete"},
            "condition": {
                "daysSinceNoncurrentTime": 1,
                "matchesPrefixes": ["history/", "board/"],
                "withState": "ARCHIVED",
            },
        },
    ]

    def told(role: str, new: list[Any]) -> Finding:
        old = {"name": CATALOG_BUCKET, "lifecycleRules": [RULE]}
        (one,) = found(step("update", BUCKET, role, old=old, new={**old, "lifecycleRules": new}, parent=WORKSPACE))
        return one

    one = told("catalog", [RULE, *rules])
    assert (one.kind, one.grade) == ("lifecycle-changed", Grade.NOTE)
    assert "1 day after" in one.sentence
    assert told("work", [RULE, *rules]).grade is Grade.BLOCKING
    assert told("catalog", [RULE, *rules, {**RULE, "condition": {"age": 1}}]).grade is Grade.BLOCKING


def test_the_same_rules_in_another_order_are_silent() -> None:
    other = {"action": {"type": "Delete"}, "condition": {"age": 1}}
    assert edit({"lifecycleRules": [RULE, other]}, {"lifecycleRules": [other, RULE]}) == []


@pytest.mark.parametrize(
    ("key", "old", "new", "kind", "grade", "words"),
    [
        ("versioning", {"enabled": True}, None, "versioning-changed", Grade.BLOCKING, "keeps no earlier versions"),
        ("versioning", None, {"enabled": True}, "versioning-changed", Grade.WARNING, "bills earlier versions"),
        ("publicAccessPrevention", "enforced", "inherited", "public-prevention-off", Grade.BLOCKING, "opened to the"),
        ("publicAccessPrevention", "inherited", "enforced", "bucket-changed", Grade.NOTE, "can't be opened"),
        (
            "uniformBucketLevelAccess",
            True,
            False,
            "bucket-changed",
            Grade.BLOCKING,
            "lets single objects be opened to anybody",
        ),
        (
            "uniformBucketLevelAccess",
            False,
            True,
            "bucket-changed",
            Grade.WARNING,
            "shuts out whoever may read single objects",
        ),
        ("forceDestroy", False, True, "force-destroy", Grade.BLOCKING, "may be deleted with everything in it"),
        ("forceDestroy", None, True, "force-destroy", Grade.BLOCKING, "may be deleted with everything in it"),
        ("forceDestroy", True, False, "bucket-changed", Grade.NOTE, "can't be deleted any more while"),
        (
            "retentionPolicy",
            {"retentionPeriod": "604800"},
            {"retentionPeriod": "86400"},
            "retention-changed",
            Grade.BLOCKING,
            "deleted after 24 h, until now after 7 days",
        ),
        (
            "retentionPolicy",
            None,
            {"retentionPeriod": 86400},
            "retention-changed",
            Grade.BLOCKING,
            "jobs that write a file twice fail",
        ),
        (
            "retentionPolicy",
            {"retentionPeriod": 86400},
            {"retentionPeriod": 86400, "isLocked": True},
            "retention-changed",
            Grade.BLOCKING,
            "for 24 h, for good",
        ),
        (
            "softDeletePolicy",
            None,
            {"retentionDurationSeconds": 0},
            "retention-changed",
            Grade.BLOCKING,
            "keeps nothing that is deleted",
        ),
        (
            "encryption",
            {"defaultKmsKeyName": "k1"},
            None,
            "bucket-changed",
            Grade.WARNING,
            "Google's key, no longer with yours (`k1`)",
        ),
        ("storageClass", "STANDARD", "ARCHIVE", "bucket-changed", Grade.WARNING, "each read costs extra"),
        ("labels", {"a": "b"}, {}, "bucket-changed", Grade.NOTE, "other labels"),
    ],
)
def test_fields(key: str, old: Any, new: Any, kind: str, grade: Grade, words: str) -> None:
    sides = [{} if value is None else {key: value} for value in (old, new)]
    (one,) = edit(*sides)
    assert (one.kind, one.grade) == (kind, grade)
    assert words in one.sentence


def test_what_is_not_known_yet_raises_nothing() -> None:
    unknown = "[known once deployed]"
    for key in ("versioning", "retentionPolicy", "softDeletePolicy", "lifecycleRules", "encryption"):
        edit({}, {key: unknown})


def test_the_recorded_edits_of_both_buckets() -> None:
    told = {(one.kind, one.subject.rpartition("-")[2]): one.grade for one in buckets(recorded("buckets"))}
    assert told == {
        ("public-prevention-off", "catalog"): Grade.BLOCKING,
        ("public-prevention-off", "work"): Grade.BLOCKING,
        ("bucket-changed", "catalog"): Grade.BLOCKING,
        ("bucket-changed", "work"): Grade.BLOCKING,
        ("versioning-changed", "catalog"): Grade.BLOCKING,
        ("force-destroy", "work"): Grade.BLOCKING,
        ("lifecycle-changed", "work"): Grade.BLOCKING,
    }


def test_a_bucket_that_the_program_keeps_and_protects_no_more() -> None:
    state = {"name": "acme-work"}
    for old in (Resource(state, retained=True), Resource(state, protected=True)):
        urn = f"urn:pulumi:prod::slipway::{BUCKET}::work"
        released = EngineStep("same", urn, BUCKET, "work", WORKSPACE, old, Resource(state))
        (one,) = buckets(change(facts(), facts(), preview=Preview((released,))))
        assert (one.kind, one.grade) == ("force-destroy", Grade.BLOCKING)
        kept_now = EngineStep("same", urn, BUCKET, "work", WORKSPACE, Resource(state), old)
        assert not list(buckets(change(facts(), facts(), preview=Preview((kept_now,)))))


def test_an_adopted_bucket_is_not_compared_with_nothing() -> None:
    state = {"name": "acme-catalog", "versioning": {"enabled": True}, "hierarchicalNamespace": {"enabled": False}}
    forced = {"name": "acme-catalog", "versioning": {"enabled": True}, "forceDestroy": True}
    steps = [
        step("import", BUCKET, "catalog", new=forced, parent=WORKSPACE),
        step("update", BUCKET, "catalog", old=state, new=forced, parent=WORKSPACE, diffs=["forceDestroy"]),
    ]
    assert [one.kind for one in found(steps[0])] == ["bucket-created"]
    assert {one.kind: one.grade for one in found(*steps)} == {
        "bucket-created": Grade.NOTE,
        "force-destroy": Grade.NOTE,
    }


def test_what_somebody_changed_by_hand_is_no_edit() -> None:
    assert list(buckets(recorded("by_hand"))) == []
