"""Rights of roles and resources that open without a grant: nothing is lost that a wider or another grant gives."""

from dataclasses import replace
from typing import Any

from slipway.answers import access
from slipway.answers.answer import differences
from slipway.answers.comparison import Side
from slipway.answers.opened import opened
from slipway.answers.rights import granted, held, including, strength
from slipway.deploying.engine.preview import EngineStep, Preview
from slipway.model.findings.finding import Grade
from tests.slipway.reviewing.builders import PROJECT, change, facts, step

BOB = "user:bob@acme.example"
ON_BUCKET = "gcp:storage/bucketIAMMember:BucketIAMMember"
ON_PROJECT = "gcp:projects/iAMMember:IAMMember"
READS = {"role": "roles/storage.objectViewer", "member": BOB}


def rights(side: Side, *steps: EngineStep) -> set[str]:
    comparison = change(facts(), facts(), steps=steps).comparison
    both = [*held(comparison, Side.BEFORE), *held(comparison, Side.AFTER)]
    return {f"{right} on {subject}" for _, right, subject in including(held(comparison, side), both, PROJECT)}


def test_a_role_on_the_project_includes_each_bucket() -> None:
    steps = [
        step("delete", ON_BUCKET, "narrow", old={**READS, "bucket": "data"}),
        step("create", ON_PROJECT, "wide", new={**READS, "project": PROJECT}),
    ]
    assert "read objects on bucket data" in rights(Side.BEFORE, *steps)
    assert "read objects on bucket data" in rights(Side.AFTER, *steps)


def test_a_deleted_grant_is_lost_even_if_another_resource_creates_it() -> None:
    moved = [
        step("create", ON_BUCKET, "new-name", new={**READS, "bucket": "data"}),
        step("delete", ON_BUCKET, "old-name", old={**READS, "bucket": "data"}),
    ]
    assert rights(Side.AFTER, *moved) == set()


def test_unchanged_grants_are_on_both_sides() -> None:
    same = replace(step("same", ON_PROJECT, "x", old={**READS, "project": PROJECT}), op="same")
    comparison = change(facts(), facts(), preview=Preview((), {same.urn: same})).comparison
    assert [len(granted(comparison, side)) for side in Side] == [1, 1]


def test_owners_are_stronger_than_editors_and_these_than_readers() -> None:
    ordered = ["grant any role to anyone", "change and delete most resources", "read logs"]
    assert sorted(ordered, key=strength, reverse=True) == ordered


def found(type_: str, old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    edit = step("update", type_, "x", old=old, new=new)
    return [finding.kind for finding in opened(change(facts(), facts(), steps=[edit]).comparison)]


def test_only_new_openings_to_the_public_are_found() -> None:
    acl = "gcp:storage/defaultObjectAccessControl:DefaultObjectAccessControl"
    assert found(acl, {"entity": "user-ada"}, {"entity": "allUsers"}) == ["access-gained"]
    assert found(acl, {"entity": "allUsers"}, {"entity": "allUsers", "role": "READER"}) == []


def test_firewalls_that_deny_do_not_open() -> None:
    firewall = "gcp:compute/firewall:Firewall"
    ranges = {"sourceRanges": ["0.0.0.0/0"]}
    assert found(firewall, {}, ranges) == ["access-gained"]
    assert found(firewall, {}, {**ranges, "denies": [{"protocol": "tcp"}]}) == []


def test_a_deny_policy_names_its_principals() -> None:
    rules = {"rules": [{"denyRule": {"deniedPrincipals": ["principal://x/serviceAccounts/trainer@x"]}}]}
    assert found("gcp:iam/denyPolicy:DenyPolicy", {}, rules) == ["access-lost"]


def test_a_first_deployment_has_notes_only() -> None:
    comparison = change(None, facts(members=[BOB], shell=True)).comparison
    changed = differences(*(tuple(access.answers(comparison, side)) for side in Side))
    assert {finding.grade for finding in access.findings(comparison, changed)} == {Grade.NOTE}
