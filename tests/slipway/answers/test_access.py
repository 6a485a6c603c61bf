"""Who gets and loses access, from the stack file and from the program's IAM grants."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from slipway.answers import access
from slipway.answers.answer import differences
from slipway.answers.comparison import Comparison, Side
from slipway.deploying.engine.preview import EngineStep, Preview
from slipway.google.permissions import Bound
from slipway.model.catalog.model import SessionLimits, Team
from slipway.model.facts import WORKSPACE, Facts, TrainerFacts
from slipway.model.findings.finding import Finding, Grade
from slipway.model.labels import TEAM_LABEL, USER_LABEL
from tests.builders.clusters import cluster
from tests.builders.jobs import job
from tests.slipway.reviewing.builders import PROJECT, TEAM, TRAINER, WORK_BUCKET, change, facts, step, template

ADA, BOB = "user:ada@acme.example", "user:bob@acme.example"
ON_PROJECT = "gcp:projects/iAMMember:IAMMember"
ON_BUCKET = "gcp:storage/bucketIAMMember:BucketIAMMember"
ON_ACCOUNT = "gcp:serviceaccount/iAMMember:IAMMember"


def found(before: Facts, after: Facts, **live: Any) -> list[Finding]:
    return of(change(before, after, **live).comparison)


def of(comparison: Comparison) -> list[Finding]:
    sides = [tuple(access.answers(comparison, side)) for side in Side]
    return list(access.findings(comparison, differences(*sides)))


def told(findings: list[Finding]) -> list[tuple[str, str, str]]:
    return [(each.kind, each.grade.review_word, each.subject) for each in findings]


def grant(op: str, role: str, member: str = BOB, type_: str = ON_PROJECT, **on: str) -> EngineStep:
    inputs = {"role": role, "member": member, **(on or {"project": PROJECT})}
    sides: Mapping[str, Any] = {"old": inputs} if op == "delete" else {"new": inputs}
    return step(op, type_, f"{role}-{member}-{on}", **sides)


def test_equal_sides_have_no_finding() -> None:
    same = facts(members=[ADA, TEAM], shell=True, board=True)
    assert found(same, same) == []


def test_a_new_submitter_is_a_warning() -> None:
    (finding,) = found(facts(members=[ADA]), facts(members=[ADA, BOB]))
    assert told([finding]) == [("access-gained", "warning", "workspace prod")]
    assert finding.sentence == "`bob@acme.example` can now submit jobs"


@pytest.mark.parametrize("member", ["allUsers", "domain:acme.example", "user:eve@elsewhere.example"])
def test_crowds_and_other_domains_are_blocking(member: str) -> None:
    (finding,) = found(facts(members=[ADA]), facts(members=[ADA, member]))
    assert finding.grade is Grade.BLOCKING


def test_a_lost_submitter_is_blocking_if_they_submitted_lately() -> None:
    before, after = facts(members=[ADA, BOB]), facts(members=[ADA])
    assert told(found(before, after)) == [("access-lost", "warning", "workspace prod")]
    (finding,) = found(before, after, recent=(job("bobs", user="bob", state="SUCCEEDED"), job("adas", user="ada")))
    assert finding.grade is Grade.BLOCKING and finding.sentence.endswith(
        "can no longer submit jobs: 1 submission by `bob` in the last 30 days"
    )
    assert "bobs" in str(finding.details)


def test_a_remaining_group_may_include_a_lost_submitter() -> None:
    (finding,) = found(facts(members=[BOB, TEAM]), facts(members=[TEAM]))
    assert finding.sentence.endswith("can no longer submit jobs unless in group `ml@acme.example`")


def test_a_listed_domain_includes_its_people() -> None:
    domain = "domain:acme.example"
    assert found(facts(members=[BOB, domain]), facts(members=[domain])) == []


def test_many_members_are_one_finding() -> None:
    many = [f"user:u{number}@acme.example" for number in range(40)]
    (finding,) = found(facts(members=[ADA]), facts(members=[ADA, *many]))
    assert "(and 39 more) can now submit jobs" in finding.sentence
    assert len(finding.details) == 40


def with_teams(vision: tuple[str, ...], speech: tuple[str, ...], owned: tuple[str, ...] = ("cpu",)) -> Facts:
    teams = {"vision": Team(vision, owned), "speech": Team(speech)}
    return facts(members=[ADA, BOB], teams=teams)


def test_a_move_between_teams_is_no_gain() -> None:
    assert found(with_teams((ADA, BOB), ()), with_teams((ADA,), (BOB,))) == []


def test_leaving_a_team_is_a_loss() -> None:
    (finding,) = found(with_teams((ADA, BOB), ()), with_teams((ADA,), ()))
    assert told([finding]) == [("access-lost", "warning", "team vision")]


def test_a_cluster_that_becomes_a_teams_is_lost_to_others() -> None:
    before, after = with_teams((ADA,), (BOB,), owned=()), with_teams((ADA,), (BOB,))
    assert told(found(before, after)) == [("access-lost", "warning", "cluster cpu")]
    used = job(on=cluster(), labels={USER_LABEL: "bob", TEAM_LABEL: "speech"})
    (finding,) = found(before, after, jobs=[used])
    assert finding.grade is Grade.BLOCKING
    assert ", only team vision can: 1 submission by `bob`" in finding.sentence


def test_another_service_account_is_more_than_a_submitter_has() -> None:
    account = f"prod@{PROJECT}.iam.gserviceaccount.com"
    both = facts(members=[ADA, BOB])
    before = replace(both, trainers={"big": TrainerFacts("big", account, {ADA: ""})})
    after = replace(both, trainers={"big": TrainerFacts("big", account, {ADA: "", BOB: ""})})
    assert told(found(before, after)) == [("access-gained", "blocking", f"service account {account}")]


def test_roles_of_submitters_are_a_warning_and_others_blocking() -> None:
    assert found(facts(), facts(), steps=[grant("create", "roles/logging.viewer")])[0].grade is Grade.WARNING
    for role in ("roles/editor", "roles/owner", "roles/iam.serviceAccountUser", "roles/owl.keeper"):
        (finding,) = found(facts(), facts(), steps=[grant("create", role)])
        assert finding.grade is Grade.BLOCKING, role


def test_the_worst_right_is_named_first() -> None:
    steps = [grant("create", "roles/logging.viewer", ADA), grant("create", "roles/editor", BOB)]
    (finding,) = found(facts(), facts(), steps=steps)
    assert finding.sentence.startswith("`bob@acme.example` can now change and delete most resources")
    steps = [grant("create", "roles/editor", ADA), grant("create", "roles/editor", BOB)]
    (finding,) = found(facts(), facts(), steps=steps)
    assert "(and 1 more) can now change and delete most resources" in finding.sentence


def test_a_larger_role_on_the_same_bucket_loses_nothing() -> None:
    on = {"bucket": "data"}
    old, new = ("roles/storage.objectViewer", "roles/storage.objectAdmin")
    steps = [grant("delete", old, type_=ON_BUCKET, **on), grant("create", new, type_=ON_BUCKET, **on)]
    assert [each.kind for each in found(facts(), facts(), steps=steps)] == ["access-gained"]
    steps = [grant("delete", new, type_=ON_BUCKET, **on), grant("create", old, type_=ON_BUCKET, **on)]
    (finding,) = found(facts(), facts(), steps=steps)
    assert finding.kind == "access-lost" and "read objects" not in finding.sentence


def test_a_role_of_an_account_that_jobs_used_is_blocking() -> None:
    lost = grant("delete", "roles/storage.objectViewer", f"serviceAccount:{TRAINER}", ON_BUCKET, bucket=WORK_BUCKET)
    (finding,) = found(facts(), facts(), steps=[lost], recent=(job(state="SUCCEEDED"),))
    assert told([finding]) == [("access-lost", "blocking", f"bucket {WORK_BUCKET}")]


def test_the_public_is_blocking_and_rejected_by_prevention() -> None:
    on = grant("create", "roles/storage.objectViewer", "allUsers", ON_BUCKET, bucket="other")
    (finding,) = found(facts(), facts(), steps=[on])
    assert finding.grade is Grade.BLOCKING and finding.sentence.startswith("anyone on the internet can now")
    own = grant("create", "roles/storage.objectViewer", "allUsers", ON_BUCKET, bucket=WORK_BUCKET)
    assert "deploying fails" in found(facts(), facts(), steps=[own])[0].sentence
    lost = grant("delete", "roles/storage.objectViewer", "allUsers", ON_BUCKET, bucket=WORK_BUCKET)
    assert found(facts(), facts(), steps=[lost], recent=(job(),))[0].grade is Grade.NOTE


def test_a_condition_that_goes_is_a_gain() -> None:
    inputs = {"project": PROJECT, "role": "roles/editor", "member": BOB}
    old = {**inputs, "condition": {"title": "night"}}
    (finding,) = found(facts(), facts(), steps=[step("update", ON_PROJECT, "x", old=old, new=inputs)])
    assert finding.kind == "access-gained" and "(condition `night` → `none`)" in finding.sentence


def test_new_bindings_keys_and_public_buckets_are_blocking() -> None:
    binding = {"project": PROJECT, "role": "roles/viewer", "members": [ADA]}
    new = step("create", "gcp:projects/iAMBinding:IAMBinding", "viewers", new=binding)
    assert ("access-lost", "blocking", f"project {PROJECT}") in told(found(facts(), facts(), steps=[new]))
    key = step("create", "gcp:serviceaccount/key:Key", "key", new={"serviceAccountId": TRAINER})
    assert told(found(facts(), facts(), steps=[key])) == [("access-gained", "blocking", "serviceaccount.Key key")]
    policies = {"old-data": frozenset({Bound("roles/storage.objectViewer", "allUsers")})}
    assert told(found(facts(), facts(), policies=policies)) == [("access-gained", "blocking", "bucket old-data")]


def test_switches_and_session_pools() -> None:
    code = template(code_flag=True)
    (finding,) = found(facts(code), facts(code, code=True))
    assert (finding.grade, finding.subject) == (Grade.BLOCKING, f"service account {TRAINER}")
    assert told(found(facts(), facts(shell=True))) == [("access-gained", "blocking", "workspace prod")]
    (finding,) = found(facts(code, code=True), facts(code, code=True, sessions=SessionLimits(pools=())))
    assert (finding.kind, finding.subject) == ("access-lost", "pool cpu/workers")
    assert found(facts(code), facts(code, sessions=SessionLimits(pools=()))) == [], "nobody may have a session"


def test_grants_of_the_workspace_follow_from_the_stack_file() -> None:
    own = step(
        "create", ON_ACCOUNT, "x", parent=WORKSPACE, new={"serviceAccountId": TRAINER, "role": "r", "member": BOB}
    )
    (finding,) = found(facts(members=[ADA]), facts(members=[ADA, BOB]), steps=[own])
    assert finding.subject == "workspace prod"


def test_unread_facts_are_no_loss() -> None:
    assert of(change(facts(members=[ADA]), None, preview=Preview(), unread=("x",)).comparison) == []


def test_a_move_that_takes_a_team_in_use_is_a_loss() -> None:
    used = job(labels={USER_LABEL: "bob", TEAM_LABEL: "vision"}, state="SUCCEEDED")
    (finding,) = found(with_teams((ADA, BOB), ()), with_teams((ADA,), (BOB,)), recent=(used,))
    assert told([finding]) == [("access-lost", "blocking", "team vision")]
