"""People who get in and who are shut out, by member; roles of a workspace in words, any other by its id. # P5 # N5"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from slipway.deploying.deployment.workspace_plan import ACT_AS, SUBMITTER_ROLES, WRITES_METRICS
from slipway.deploying.engine.grants import Grant
from slipway.deploying.engine.preview import UNKNOWN, EngineStep
from slipway.google.jobs import VertexJob
from slipway.model.facts import Facts
from slipway.model.findings.finding import Grade
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.resources.people import people
from slipway.reviewing.rules.resources.roles import allowed, covers, denied, known, rights
from tests.slipway.reviewing.builders import PROJECT, TEAM, TRAINER, change, facts, job, step

WORKSPACE = "slipway:components:Workspace"
MEMBER, BINDING = "gcp:projects/iAMMember:IAMMember", "gcp:projects/iAMBinding:IAMBinding"
POLICY = "gcp:projects/iAMPolicy:IAMPolicy"
ON_BUCKET, ON_ACCOUNT = "gcp:storage/bucketIAMMember:BucketIAMMember", "gcp:serviceaccount/iAMMember:IAMMember"
ADA, BOB = "user:ada@acme.example", "user:bob@acme.example"


def grant(
    op: str, member: str, role: str, type_: str = MEMBER, name: str = "", parent: str = "", **on: str
) -> EngineStep:
    inputs = {"member": member, "role": role, **(on or {"project": PROJECT})}
    sides: dict[str, Any] = {"old": inputs} if op == "delete" else {"new": inputs}
    return step(op, type_, name or f"{op}-{role}-{member}-{on}", parent=parent, **sides)


def submits(op: str, member: str, bucket: str = "acme-work") -> list[EngineStep]:
    """Some of the workspace's own grants."""
    return [
        *(grant(op, member, role, name=f"{key}-{member}", parent=WORKSPACE) for key, role in SUBMITTER_ROLES.items()),
        grant(op, member, "roles/storage.objectViewer", ON_BUCKET, parent=WORKSPACE, bucket=bucket),
        grant(op, member, "roles/iam.serviceAccountUser", ON_ACCOUNT, parent=WORKSPACE, serviceAccountId=TRAINER),
    ]


def found(*steps: EngineStep, before: Facts | None = None, after: Facts | None = None) -> list[Consequence]:
    return list(people(change(before or facts(), after or facts(), steps=steps)))


def listed(before: Facts, after: Facts, steps: Iterable[EngineStep] | None = None, *jobs: VertexJob) -> Consequence:
    """Return what is told of a member who is listed, or not, in the stack file; the engine was asked where it has
    steps."""
    (one,) = people(change(before, after, steps=steps, jobs=jobs))
    return one


def with_members(*members: str) -> Facts:
    return facts(members=members)


def kinds(some: Iterable[Consequence]) -> Mapping[str, str]:
    return {one.subject: one.kind for one in some}


@pytest.mark.parametrize("stacks", [("prod",), ("prod", "test"), ()])
def test_roles_that_another_stack_needs_stay_and_that_is_said(stacks: tuple[str, ...]) -> None:
    jobs = job("tune-27b-x1", user="ada"), job("tune-27b-x2", user="ada")
    gone = listed(with_members(TEAM, ADA), replace(with_members(TEAM), shared={ADA: stacks}), None, *jobs)
    assert (gone.kind, gone.subject, len(gone.details)) == ("submitter-gone", f"member {ADA}", 2)
    assert "roles in the project stay" in gone.so and all(stack in gone.so for stack in stacks)


def test_what_another_stack_needs_no_more_goes_by_itself() -> None:  # N1
    """With the schedule, as nobody edits anything for it; what is not the workspace's own is a person's doing."""
    before = replace(with_members(TEAM), shared={ADA: ("prod",)})
    own = [grant("delete", ADA, role, parent=WORKSPACE) for role in SUBMITTER_ROLES.values()]
    (lapsed,) = found(*own, before=before, after=with_members(TEAM))
    assert (lapsed.kind, lapsed.grade, lapsed.subject) == ("access-lapsed", Grade.NOTE, f"member {ADA}")
    assert "another stack" in lapsed.so
    (gone,) = found(grant("delete", ADA, "roles/viewer"), before=before, after=with_members(TEAM))
    assert gone.kind == "access-gone"


def test_new_buckets_and_accounts_bring_their_grants_silently() -> None:
    account = f"serviceAccount:{TRAINER}"
    steps = [
        *submits("create", TEAM, "acme-results")[4:5],
        *submits("delete", TEAM)[4:5],
        grant("create", account, "roles/storage.objectUser", ON_BUCKET, parent=WORKSPACE, bucket="acme-results"),
        grant("delete", account, "roles/storage.objectUser", ON_BUCKET, parent=WORKSPACE, bucket="acme-work"),
        step("create", ON_ACCOUNT, "act-as", new={"serviceAccountId": UNKNOWN, "member": TEAM, "role": "roles/x"}),
    ]
    assert found(*steps[:-1]) == []
    (other,) = found(steps[-1])
    assert "`roles/x` allows on a new account" in other.does


def test_what_the_program_grants_submitters_beyond_the_table_is_told() -> None:
    (more,) = found(grant("create", TEAM, "roles/bigquery.user", parent=WORKSPACE))
    assert (more.kind, more.grade) == ("access-added", Grade.BLOCKING)
    trainer = f"serviceAccount:{TRAINER}"
    (writes,) = found(grant("create", trainer, "roles/aiplatform.user", parent=WORKSPACE))
    assert (writes.kind, writes.grade) == ("access-added", Grade.NOTE)


def test_members_of_bindings_and_policies_are_compared_by_name() -> None:
    old = {"project": PROJECT, "role": "roles/viewer", "members": [ADA, BOB]}
    new = {**old, "members": ["user:eve@acme.example", BOB]}
    assert kinds(found(step("update", BINDING, "viewers", old=old, new=new))) == {
        f"member {ADA}": "access-gone",
        "member user:eve@acme.example": "access-added",
    }
    text = '{"bindings": [{"role": "roles/owner", "members": ["%s"]}]}'
    policies = [{"project": PROJECT, "policyData": text % member} for member in (ADA, BOB)]
    assert kinds(found(step("update", POLICY, "all", old=policies[0], new=policies[1]))) == {
        f"member {ADA}": "access-gone",
        f"member {BOB}": "role-above-table",
    }
    assert found(step("create", POLICY, "all", new={"project": PROJECT, "policyData": "no JSON"})) == []


def test_from_single_members_to_a_binding_of_the_same_nobody_named_loses_or_gains() -> None:
    steps = [
        grant("delete", ADA, "roles/viewer"),
        step("create", BINDING, "viewers", new={"project": PROJECT, "role": "roles/viewer", "members": [ADA]}),
    ]
    assert found(*steps) == []


def test_an_account_that_is_only_made_now_has_the_name_that_the_program_gives_it() -> None:
    (one,) = found(grant("create", UNKNOWN, "roles/editor", name="robot-edits"))
    assert "`robot-edits`" in one.who


def test_what_components_publish_may_be_unreadable() -> None:
    steps = submits("create", BOB)
    (one,) = people(change(None, None, steps=steps, unread=("the catalog could not be read",)))
    assert one.kind == "submitter-added"


OF_PROJECT = Grant(ADA, "", f"project `{PROJECT}`")
OF_BUCKET = Grant(ADA, "", "bucket `results`", "bucket", "results")


def on_project(role: str) -> Grant:
    return replace(OF_PROJECT, role=f"roles/{role}")


def on_bucket(role: str) -> Grant:
    return replace(OF_BUCKET, role=f"roles/{role}")


def test_every_role_that_a_workspace_grants_is_known() -> None:
    given = {*SUBMITTER_ROLES.values(), ACT_AS, WRITES_METRICS}
    given |= {f"roles/storage.object{one}" for one in ("Viewer", "Creator", "User")}
    assert all(known(replace(OF_PROJECT, role=role)) for role in given)


def test_a_role_is_about_one_thing_or_about_each_of_a_project() -> None:
    assert allowed(on_bucket("storage.objectViewer")) == "read every object of bucket `results`"
    assert allowed(on_project("storage.objectViewer")) == f"read every object of every bucket of project `{PROJECT}`"
    assert denied(on_bucket("storage.objectUser")) == "read, overwrite or delete any object of bucket `results`"


SMALL, LARGE = on_bucket("storage.objectViewer"), on_bucket("storage.objectUser")
LOGS = on_project("logging.viewer")
ENDING = replace(LOGS, condition="until May")


@pytest.mark.parametrize(
    ("gets", "loses", "phrases"),
    [
        (SMALL, None, ["may read every object of bucket `results`"]),
        (LARGE, SMALL, ["may read, overwrite and delete every object of bucket `results`"]),
        (SMALL, LARGE, ["may only read every object of bucket `results`"]),
        (
            LOGS,
            SMALL,
            [f"may read every log of project `{PROJECT}`", "can no longer read any object of bucket `results`"],
        ),
        (ENDING, None, [f"may read every log of project `{PROJECT}`, under condition `until May`"]),
        (LOGS, ENDING, [f"may read every log of project `{PROJECT}`, without condition `until May` now"]),
        (ENDING, LOGS, [f"may only read every log of project `{PROJECT}`, under condition `until May`"]),
        (on_bucket("storage.admin"), None, ["may do what `roles/storage.admin` allows on bucket `results`"]),
        (None, on_bucket("x"), ["can no longer do what `roles/x` allows on bucket `results`"]),
    ],
)
def test_a_right_is_told_unless_another_covers_it(gets: Grant | None, loses: Grant | None, phrases: list[str]) -> None:
    assert list(rights([gets] if gets else [], [loses] if loses else [])) == phrases


def test_only_the_same_thing_is_covered() -> None:
    assert covers(LARGE, SMALL) and not covers(SMALL, LARGE) and not covers(LARGE, replace(SMALL, on="bucket `other`"))
