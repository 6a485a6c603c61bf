"""People who get in and who are shut out, by member; roles of a workspace in words, any other by its id. # P5 # N5"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from slipway.deploying.deployment.workspace_plan import ACT_AS, SUBMITTER_ROLES, WRITES_METRICS
from slipway.deploying.engine.grants import Grant
from slipway.deploying.engine.preview import EngineStep
from slipway.model.facts import Facts
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.resources.people import people
from slipway.reviewing.rules.resources.roles import allowed, covers
from tests.slipway.reviewing.builders import PROJECT, TRAINER, change, facts, step

WORKSPACE = "slipway:index:Workspace"
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


def kinds(some: Iterable[Consequence]) -> Mapping[str, str]:
    return {consequence.subject: consequence.kind for consequence in some}


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


def test_only_the_same_thing_is_covered() -> None:
    assert covers(LARGE, SMALL) and not covers(SMALL, LARGE) and not covers(LARGE, replace(SMALL, on="bucket `other`"))


def test_an_edit_of_who_is_urgent_names_those_who_stay() -> None:
    eve, ml = "user:eve@acme.example", "group:ml@acme.example"
    (told,) = people(change(facts(urgent=(eve,)), facts(urgent=(eve, ml))))
    assert [(edit.before, edit.after) for edit in told.edits] == [(eve, f"{eve}, {ml}")]
