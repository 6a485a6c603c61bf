"""Roles in words: what whoever has one may do, and can do no longer. # P5 # N5"""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.deployment.workspace_plan import ACT_AS, SUBMITTER_ROLES, WRITES_METRICS
from slipway.findings.finding import Grade
from slipway.review.grants import Grant
from slipway.review.resources.people import people
from slipway.review.resources.roles import ALLOWS, allowed, covers, denied, rights
from slipway.review.words import LONGEST
from tests.slipway.review.builders import (
    PROJECT,
    TEAM,
    TRAINER,
    change,
    facts,
    offer,
    request,
    step,
    template,
    worker_pool,
)

ON_PROJECT_TYPE = "gcp:projects/iAMMember:IAMMember"
ADA = "user:ada@acme.example"
ON_PROJECT = Grant(ADA, "", f"project `{PROJECT}`")
ON_BUCKET = Grant(ADA, "", "bucket `results`", "bucket", "results")


def on_project(role: str) -> Grant:
    return replace(ON_PROJECT, role=f"roles/{role}")


def on_bucket(role: str) -> Grant:
    return replace(ON_BUCKET, role=f"roles/{role}")


def test_every_role_that_a_workspace_grants_is_known() -> None:
    given = {*SUBMITTER_ROLES.values(), ACT_AS, WRITES_METRICS}
    given |= {f"roles/storage.object{one}" for one in ("Viewer", "Creator", "User")}
    assert all(allowed(replace(ON_PROJECT, role=role)) for role in given)


def test_a_role_is_about_one_thing_or_about_each_of_a_project(snapshot: SnapshotAssertion) -> None:
    assert ", ".join(allowed(on_bucket("storage.objectViewer"))) == snapshot
    assert ", ".join(allowed(on_project("storage.objectViewer"))) == snapshot
    assert ", ".join(denied(on_bucket("storage.objectUser"))) == snapshot


@pytest.mark.parametrize("role", ["roles/new.thing", "projects/acme/roles/own", "organizations/1/roles/owner"])
def test_a_role_that_nobody_knows_is_told_by_its_name(role: str) -> None:
    words = rights([replace(ON_BUCKET, role=role)], ()).words
    assert f"`{role}`" in words and "nobody looked what" in words


def test_a_larger_role_in_place_of_a_smaller_takes_nothing_and_the_other_way_leaves_less(
    snapshot: SnapshotAssertion,
) -> None:
    small, large = on_bucket("storage.objectViewer"), on_bucket("storage.objectAdmin")
    assert covers(large, small) and not covers(small, large)
    assert not covers(large, replace(small, on="bucket `other`"))
    assert "no longer" not in rights([large], [small])[0]
    assert rights([small], [large])[0] == snapshot


def test_what_is_not_alike_is_gained_and_lost(snapshot: SnapshotAssertion) -> None:
    assert rights([on_project("logging.viewer")], [on_bucket("storage.objectCreator")])[0] == snapshot


def test_a_condition_is_a_part_of_what_is_allowed() -> None:
    ends = replace(on_project("logging.viewer"), condition="until May")
    assert rights([ends], ())[0].endswith(", under condition `until May`")
    assert rights([on_project("logging.viewer")], [ends])[0].endswith("without condition `until May` now")
    assert "only" in rights([ends], [on_project("logging.viewer")])[0]


def test_a_condition_is_told_as_it_is_also_of_what_is_lost() -> None:
    lost = replace(on_bucket("storage.objectAdmin"), condition="every Monday and Friday")
    assert "every Monday and Friday" in rights([], [lost]).words


def test_what_an_account_that_jobs_run_as_may_do_every_submitter_may_do() -> None:
    role = {"project": PROJECT, "role": "roles/editor", "member": f"serviceAccount:{TRAINER}"}
    gets = step("create", "gcp:projects/iAMMember:IAMMember", "edits", new=role)
    (one,) = people(change(facts(), facts(), steps=[gets]))
    assert "so every submitter, may change" in one.sentence
    assert one.clause.startswith("Every submitter may change") and "and run code" not in one.clause
    assert (one.kind, one.subject, one.grade) == (
        "role-above-table", f"member serviceAccount:{TRAINER}", Grade.BLOCKING
    )  # fmt: skip


def test_jobs_that_lose_what_the_workspace_granted_fail_and_nobody_deploys_that_unasked() -> None:
    role = {"bucket": "acme-work", "role": "roles/storage.objectUser", "member": f"serviceAccount:{TRAINER}"}
    loses = step("delete", "gcp:storage/bucketIAMMember:BucketIAMMember", "writes", old=role)
    (one,) = people(change(facts(), facts(), steps=[loses]))
    assert (one.kind, one.grade) == ("access-gone", Grade.BLOCKING)
    assert one.sentence.startswith("New jobs that run")


def test_whoever_may_act_as_an_account_reads_what_it_reads(snapshot: SnapshotAssertion) -> None:
    role = {"serviceAccountId": f"projects/p/serviceAccounts/{TRAINER}", "role": ACT_AS, "member": TEAM}
    gets = step("create", "gcp:serviceaccount/iAMMember:IAMMember", "acts", new=role)
    env = {"T__SECRET": "projects/p/secrets/hf/versions/1"}
    reads = facts(template("lora", offer(request=request(worker_pool(env=env), serviceAccount=TRAINER))))
    (one,) = people(change(reads, reads, steps=[gets]))
    assert one.sentence == snapshot


@pytest.mark.parametrize("member", [ADA, TEAM, "domain:acme.example", "allUsers", f"serviceAccount:{TRAINER}"])
def test_no_sentence_of_any_two_roles_is_too_long(member: str) -> None:
    on = {"project": PROJECT, "member": member, "role": ""}
    roles = [f"roles/{role}" for row in ALLOWS.values() for role in row]
    for one, other in itertools.pairwise((*roles, roles[0])):
        first, second = ({**on, "role": role} for role in (one, other))
        for steps in (
            [step("create", ON_PROJECT_TYPE, "a", new=first), step("create", ON_PROJECT_TYPE, "b", new=second)],
            [step("delete", ON_PROJECT_TYPE, "a", old=first), step("delete", ON_PROJECT_TYPE, "b", old=second)],
            [step("update", ON_PROJECT_TYPE, "a", old=first, new=second)],
            [step("create", ON_PROJECT_TYPE, "a", new=first)],
        ):
            for told in people(change(facts(), facts(), steps=steps)):
                assert len(told.sentence.split()) <= LONGEST, told.sentence
