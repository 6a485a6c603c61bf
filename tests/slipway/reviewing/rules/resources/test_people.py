"""People who get in and who are shut out, by member; roles of a workspace in words, any other by its id. # P5 # N5"""

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
from slipway.reviewing.rules.resources.roles import allowed, covers, rights
from tests.slipway.reviewing.builders import PROJECT, TEAM, TRAINER, change, facts, step

WORKSPACE = "slipway:components:Workspace"
MEMBER, BINDING = "gcp:projects/iAMMember:IAMMember", "gcp:projects/iAMBinding:IAMBinding"
POLICY = "gcp:projects/iAMPolicy:IAMPolicy"
ADA, BOB = "user:ada@acme.example", "user:bob@acme.example"


def grant(
    op: str, member: str, role: str, type_: str = MEMBER, name: str = "", parent: str = "", **on: str
) -> EngineStep:
    inputs = {"member": member, "role": role, **(on or {"project": PROJECT})}
    sides: dict[str, Any] = {"old": inputs} if op == "delete" else {"new": inputs}
    return step(op, type_, name or f"{op}-{role}-{member}-{on}", parent=parent, **sides)


def found(*steps: EngineStep, before: Facts | None = None, after: Facts | None = None) -> list[Consequence]:
    return list(people(change(before or facts(), after or facts(), steps=steps)))


def listed(before: Facts, after: Facts, steps: Iterable[EngineStep] | None = None, *jobs: VertexJob) -> Consequence:
    """Return what is told of a member who is listed, or not, in the stack file; the engine was asked where it has
    steps."""
    (person,) = people(change(before, after, steps=steps, jobs=jobs))
    return person


def with_members(*members: str) -> Facts:
    return facts(members=members)


def kinds(some: Iterable[Consequence]) -> Mapping[str, str]:
    return {consequence.subject: consequence.kind for consequence in some}


def test_what_another_stack_needs_no_more_goes_by_itself() -> None:  # N1
    """With the schedule, as nobody edits anything for it; what is not the workspace's own is a person's doing."""
    before = replace(with_members(TEAM), shared={ADA: ("prod",)})
    own = [grant("delete", ADA, role, parent=WORKSPACE) for role in SUBMITTER_ROLES.values()]
    (lapsed,) = found(*own, before=before, after=with_members(TEAM))
    assert (lapsed.kind, lapsed.grade, lapsed.subject) == ("access-lapsed", Grade.NOTE, f"member {ADA}")
    assert "another stack" in lapsed.so
    (gone,) = found(grant("delete", ADA, "roles/viewer"), before=before, after=with_members(TEAM))
    assert gone.kind == "access-gone"


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


def test_an_account_that_is_only_made_now_has_the_name_that_the_program_gives_it() -> None:
    (consequence,) = found(grant("create", UNKNOWN, "roles/editor", name="robot-edits"))
    assert "`robot-edits`" in consequence.who


def test_what_components_publish_may_be_unreadable() -> None:
    acts, on = "gcp:serviceaccount/iAMMember:IAMMember", {"serviceAccountId": TRAINER}
    steps = [grant("create", BOB, role, parent=WORKSPACE) for role in SUBMITTER_ROLES.values()]
    steps.append(grant("create", BOB, ACT_AS, acts, parent=WORKSPACE, **on))
    (person,) = people(change(None, None, steps=steps, unread=("the catalog could not be read",)))
    assert person.kind == "submitter-added"


OF_PROJECT = Grant(ADA, "", f"project `{PROJECT}`")
OF_BUCKET = Grant(ADA, "", "bucket `results`", "bucket", "results")


def on_project(role: str) -> Grant:
    return replace(OF_PROJECT, role=f"roles/{role}")


def on_bucket(role: str) -> Grant:
    return replace(OF_BUCKET, role=f"roles/{role}")


def test_every_role_that_a_workspace_grants_is_known() -> None:
    given = {*SUBMITTER_ROLES.values(), ACT_AS, WRITES_METRICS}
    given |= {f"roles/storage.object{word}" for word in ("Viewer", "Creator", "User")}
    assert [role for role in given if role in allowed(replace(OF_PROJECT, role=role))] == []
    assert allowed(on_project("owl.keeper")) == f"do what `roles/owl.keeper` allows on {OF_PROJECT.on}"


SMALL, LARGE = on_bucket("storage.objectViewer"), on_bucket("storage.objectUser")
LOGS = on_project("logging.viewer")
ENDING = replace(LOGS, condition="until May")


@pytest.mark.parametrize(
    ("gets", "loses", "phrases"),
    [
        (LARGE, SMALL, ["may read, overwrite and delete every object of bucket `results`"]),
        (SMALL, LARGE, ["may only read every object of bucket `results`"]),
        (
            LOGS,
            SMALL,
            [f"may read every log of project `{PROJECT}`", "can no longer read any object of bucket `results`"],
        ),
        (LOGS, ENDING, [f"may read every log of project `{PROJECT}`, without condition `until May` now"]),
        (ENDING, LOGS, [f"may only read every log of project `{PROJECT}`, under condition `until May`"]),
        (on_bucket("storage.admin"), None, ["may do what `roles/storage.admin` allows on bucket `results`"]),
    ],
)
def test_a_right_is_told_unless_another_covers_it(gets: Grant | None, loses: Grant | None, phrases: list[str]) -> None:
    assert list(rights([gets] if gets else [], [loses] if loses else [])) == phrases


def test_only_the_same_thing_is_covered() -> None:
    assert covers(LARGE, SMALL) and not covers(SMALL, LARGE) and not covers(LARGE, replace(SMALL, on="bucket `other`"))


def test_an_edit_of_who_is_urgent_names_those_who_stay() -> None:
    eve, ml = "user:eve@acme.example", "group:ml@acme.example"
    (told,) = people(change(facts(urgent=(eve,)), facts(urgent=(eve, ml))))
    assert [(edit.before, edit.after) for edit in told.edits] == [(eve, f"{eve}, {ml}")]
