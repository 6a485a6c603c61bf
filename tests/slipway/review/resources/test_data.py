"""Accounts, the catalog's place, and what is put back that somebody changed by hand. # N5 # N10"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.catalog.document import PublishedCatalog
from slipway.catalog.withdrawal import begun
from slipway.findings.finding import Finding, Grade
from slipway.review.preview import EngineStep, Preview, Resource
from slipway.review.resources.buckets import buckets
from slipway.review.resources.data import data
from tests.slipway.review.builders import (
    CATALOG_BUCKET,
    PROJECT,
    TEAM,
    TRAINER,
    change,
    facts,
    job,
    kept,
    step,
)
from tests.slipway.review.recordings import recorded

ACCOUNT, OBJECT = "gcp:serviceaccount/account:Account", "gcp:storage/bucketObject:BucketObject"
BUCKET = "gcp:storage/bucket:Bucket"
DATASET, MEMBER = "gcp:bigquery/dataset:Dataset", "gcp:projects/iAMMember:IAMMember"
CATALOG, WORKSPACE = "slipway:components:Catalog", "slipway:components:Workspace"


def found(*steps: EngineStep) -> list[Finding]:
    return list(data(change(facts(), facts(), steps=steps)))


def refreshed(
    type_: str,
    old: Mapping[str, Any],
    now: Mapping[str, Any] | None,
    new: Mapping[str, Any],
    parent: str = "",
    outputs: tuple[Mapping[str, Any], Mapping[str, Any]] = ({}, {}),
) -> list[Finding]:
    """A resource as it was deployed, as it is, and as it is declared."""
    urn = f"urn:pulumi:prod::slipway::{type_}::x"
    states = Resource(old, outputs[0]), None if now is None else Resource(now, outputs[1])
    standing = EngineStep("refresh", urn, type_, "x", parent, *states)
    planned = EngineStep("create" if now is None else "update", urn, type_, "x", parent, states[1], Resource(new))
    return list(data(change(facts(), facts(), preview=Preview((planned,), {urn: standing}))))


@pytest.mark.parametrize("steps", [(), None])
def test_whoever_submits_is_told_where_the_catalog_has_moved(
    snapshot: SnapshotAssertion, steps: tuple[EngineStep, ...] | None
) -> None:
    (moved,) = data(change(facts(), facts(catalog_bucket="new"), steps=steps))
    assert (moved.kind, moved.grade, moved.details) == ("catalog-moved", Grade.BLOCKING, (f"`{TEAM}`",))
    assert moved.sentence == snapshot


@pytest.mark.parametrize(
    ("adopted", "retiring", "step_", "ends"),
    [
        (True, False, {}, "stays as it is, paid as before"),
        (False, True, {}, "once what needs it has ended"),
        (False, False, {"forceDestroy": True}, "is deleted with everything in it"),
        (False, False, {"forceDestroy": False}, "the deployment fails there"),
    ],
)
def test_an_old_catalog_is_told_with_the_new_one_and_once(  # N13
    adopted: bool, retiring: bool, step_: Mapping[str, bool], ends: str
) -> None:
    before = replace(facts(), adopted=frozenset({CATALOG_BUCKET} if adopted else ()))
    after = facts(*([kept(CATALOG_BUCKET, job(), role="catalog")] if retiring else ()), catalog_bucket="new")
    old = {"name": CATALOG_BUCKET, **step_}
    steps = [step("delete", BUCKET, "catalog", old=old, parent=WORKSPACE)] if step_ else None
    seen = change(before, after, steps=steps)
    (moved,) = (one for one in data(seen) if one.kind == "catalog-moved")
    assert moved.sentence.endswith(ends)
    assert {one.kind for one in buckets(seen)} <= {"bucket-created"}


def test_a_catalog_that_is_deleted_leaves_nothing_to_submit_to() -> None:
    gone = step("delete", OBJECT, "catalog", old={"bucket": "b", "name": "catalog.json"}, parent=CATALOG)
    (one,) = found(gone)
    assert (one.kind, one.subject, one.grade) == ("resource-deleted", "catalog", Grade.BLOCKING)
    assert "`gs://b/catalog.json` is deleted" in one.sentence


def test_accounts_that_go_and_come() -> None:
    steps = [
        step("delete", ACCOUNT, "trainer", old={"accountId": "trainer", "project": PROJECT}, parent=WORKSPACE),
        step("create", ACCOUNT, "robot", new={"accountId": "robot", "project": PROJECT}),
    ]
    gone, made = found(*steps)
    assert (gone.kind, gone.subject, gone.grade) == ("account-deleted", f"account {TRAINER}", Grade.BLOCKING)
    assert (made.kind, made.grade) == ("account-created", Grade.NOTE)
    assert made.sentence == f"Account `robot@{PROJECT}.iam.gserviceaccount.com` is made"


def test_an_account_that_is_disabled_ends_what_runs_as_it() -> None:
    old = {"accountId": "robot", "project": PROJECT}
    disabled, renamed = (
        found(step("update", ACCOUNT, "robot", old=old, new={**old, **new}))
        for new in ({"disabled": True}, {"displayName": "x"})
    )
    assert (disabled[0].kind, disabled[0].grade) == ("resource-changed", Grade.BLOCKING)
    assert renamed[0].grade is Grade.NOTE


def test_another_trainer_retires_the_old_account_as_long_as_jobs_run_as_it(snapshot: SnapshotAssertion) -> None:
    retiring = facts(kept(TRAINER, job()), trainer="new@x.iam.gserviceaccount.com")
    (gone,) = data(change(facts(), retiring, steps=[]))
    assert (gone.kind, gone.grade) == ("account-deleted", Grade.WARNING)
    assert gone.sentence == snapshot
    told = [one.kind for one in data(change(facts(), replace(retiring, kept={})))]
    assert told == ["account-deleted", "account-created"]


def test_what_was_changed_by_hand_and_is_put_back(snapshot: SnapshotAssertion) -> None:
    bucket, team, trainer = data(recorded("by_hand"))
    assert {bucket.kind, team.kind, trainer.kind} == {"drift"}
    assert bucket.grade is Grade.WARNING
    assert bucket.sentence == snapshot
    assert team.sentence == snapshot


def test_what_was_deleted_by_hand_is_made_again(snapshot: SnapshotAssertion) -> None:
    (one,) = refreshed(DATASET, {"location": "US"}, None, {"location": "US"})
    assert one.sentence == snapshot
    (one,) = refreshed("gcp:storage/bucket:Bucket", {"name": "b"}, None, {"name": "b"})
    assert "comes back empty" in one.sentence


def test_an_edit_of_the_program_and_what_it_adopts_are_no_drift(snapshot: SnapshotAssertion) -> None:
    old, now = {"a": 1, "b": 1}, {"a": 2, "b": 1}
    assert refreshed(DATASET, old, now, {"a": 2, "b": 2}) == []
    assert refreshed(DATASET, old, old, {"a": 3, "b": 1}) == []
    (one,) = refreshed(DATASET, old, now, {"a": 1, "b": 2})
    assert one.sentence == snapshot


def test_a_field_that_is_named_as_what_moves_by_itself_is_told_where_the_program_sets_it() -> None:
    (one,) = refreshed(DATASET, {"expirationTime": 1}, {"expirationTime": 2}, {"expirationTime": 1})
    assert (one.kind, "expirationTime" in one.sentence) == ("drift", True)


def test_what_moves_by_itself_is_no_drift() -> None:
    same = {"location": "US"}
    assert refreshed(DATASET, same, same, same, outputs=({"etag": "a"}, {"etag": "b"})) == []
    assert refreshed("gcp:vertex/aiPersistentResource:AiPersistentResource", same, None, same) == []
    assert refreshed(OBJECT, same, None, same, WORKSPACE) == []


def test_a_catalog_that_somebody_overwrote_is_published_anew() -> None:
    state = {"bucket": "b", "name": "catalog.json", "content": "[secret]"}
    (one,) = refreshed(OBJECT, state, state, state, CATALOG, ({"md5hash": "a"}, {"md5hash": "b"}))
    assert (one.kind, "overwrote" in one.sentence) == ("drift", True)
    assert refreshed(OBJECT, state, state, state, CATALOG, ({"md5hash": "a"}, {"md5hash": "a"})) == []


def test_a_grant_taken_by_hand_is_its_members() -> None:
    inputs = {"member": TEAM, "role": "roles/viewer", "project": PROJECT}
    (one,) = refreshed(MEMBER, inputs, None, inputs)
    assert (one.kind, one.subject) == ("drift", f"member {TEAM}")


def test_a_catalog_that_an_unfinished_deployment_wrote_is_nobodys_doing() -> None:  # N1
    state = {"bucket": "b", "name": "catalog.json", "content": "[secret]"}
    urn = f"urn:pulumi:prod::slipway::{OBJECT}::x"
    old, now = (Resource(state, {"md5hash": one}) for one in "ab")
    preview = Preview(
        (EngineStep("update", urn, OBJECT, "x", CATALOG, now, Resource(state)),),
        {urn: EngineStep("refresh", urn, OBJECT, "x", CATALOG, old, now)},
    )
    seen = change(facts(), facts(), preview=preview)
    assert [one.kind for one in data(seen)] == ["drift"]
    noted = PublishedCatalog(whole=begun(facts().catalog, "3f9c2e1"))
    assert not list(data(replace(seen, live=replace(seen.live, catalog=noted))))
