"""What `pulumi preview` says first: the findings, and where nothing is deployed, what will be. # N5 # D7"""

from dataclasses import replace

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.authoring.stack.stack import Stack
from slipway.deploying.deployment.deployment import Deployment
from slipway.deploying.deployment.plan import Plan
from slipway.deploying.deployment.workspace_plan import ACT_AS
from slipway.google.catalog.document import PublishedCatalog
from slipway.google.clusters import PersistentResource
from slipway.google.live import Live, Unknown
from slipway.google.quota.report import QuotaReport
from slipway.google.quota.request import QuotaRequest
from slipway.model.facts import Facts, TrainerFacts
from slipway.model.labels import UNKNOWN_COMMIT, Revision
from slipway.model.origin import Program
from slipway.model.state import State, StatePreference
from slipway.reviewing.preview_text import UNTOUCHED, preview_text
from tests.builders.stacks import workspace_entry
from tests.slipway.reviewing.builders import (
    H100,
    NOW,
    PROJECT,
    REGION,
    STACK,
    TEAM,
    cluster,
    facts,
    kept,
    living,
    pool,
    quota,
    template,
)

SETTINGS = workspace_entry((TEAM,), "acme-catalog", "acme-work", "trainer")
KNOWN = State(submitters=(TEAM,), catalog_bucket="acme-catalog")
OLD, NEW = (cluster("h100", pool("h100", H100, 1, high)) for high in (4, 6))


def deployment(before: Facts | None, after: Facts, used: int = 0) -> Deployment:
    published = None
    if before is not None:
        submitters = {before.catalog.trainer: tuple(before.submitters)}
        submitters |= {trainer.account: tuple(trainer.submitters) for trainer in before.trainers.values()}
        published = PublishedCatalog(whole=replace(before.catalog, submitters=submitters, code=before.code or None))
    return Deployment(
        stack=Stack(STACK, PROJECT, REGION, SETTINGS),
        revision=Revision("3f9c2e1", dirty=False),
        live=Live((living(OLD, used=used),), (), {}, published),
        plan=Plan(),
        report=QuotaReport(),
        catalog=after.catalog,
        packages={},
        writers=frozenset(),
        facts=after,
        violations=(),
        warnings=(),
    )


def said(before: Facts | None, after: Facts, known: State | Unknown = KNOWN, used: int = 0) -> str:
    return "\n".join(preview_text(deployment(before, after, used), known, NOW, preview=True))


@pytest.mark.parametrize("known", [KNOWN, State(), Unknown("cut", "the engine", "none")], ids=["known", "lost", "cut"])
def test_nothing_changes_whatever_the_engine_knows(known: State | Unknown) -> None:
    """A state that was lost takes nobody's access."""
    assert said(facts(OLD), facts(OLD), known) == f"prod @ 3f9c2e1\n✓ {UNTOUCHED}"


def test_nothing_changes_by_up_in_a_program_that_may_run_for_a_destruction() -> None:
    program = Program(STACK, "ml")
    same = replace(facts(OLD), catalog=replace(facts(OLD).catalog, program=program))
    own = deployment(same, same)
    own = replace(own, stack=replace(own.stack, program=program))
    said = preview_text(own, KNOWN, NOW, preview=False)[0]
    assert "pulumi up changes no clusters" in said and "pulumi destroy deletes them" in said


def test_what_is_in_no_commit_has_none_in_its_title() -> None:
    outside = replace(deployment(facts(OLD), facts(OLD)), revision=Revision(UNKNOWN_COMMIT, dirty=None))
    assert preview_text(outside, KNOWN, NOW, preview=False)[0].startswith("prod\n")


def test_notes_come_first_and_what_no_catalog_tells_of_is_told(snapshot: SnapshotAssertion) -> None:  # N1
    lost = replace(deployment(None, facts(NEW, kept(OLD))), plan=Plan(notes=("the catalog is damaged",)))
    (told,) = preview_text(lost, KNOWN, NOW, preview=True)
    assert told == snapshot
    (again,) = preview_text(lost, KNOWN, NOW, preview=False)
    assert "\nsettings\n" in told and "\nsettings\n" not in again, "details are in the preview, before the `up`"


def test_another_stack_s_catalog_is_no_state_before() -> None:
    foreign = facts(OLD)
    foreign = replace(foreign, catalog=replace(foreign.catalog, stack="dev"))
    assert "cluster h100 entry: – → h100: 1–4 a3-highgpu-8g" in said(foreign, facts(OLD))


def test_who_may_submit_is_the_engine_s_knowledge() -> None:
    other = facts(OLD, members=("user:ada@acme.example",))
    assert "group ml@acme.example can no longer submit jobs" in said(facts(OLD), other)


def test_who_submits_as_a_trainer_of_their_own_alone_loses_nothing() -> None:
    risk = TrainerFacts("risk", "risk@acme-ml.iam.gserviceaccount.com", {"group:risk@acme.example": ACT_AS})
    both = replace(facts(OLD), trainers={"risk": risk})
    known = replace(KNOWN, submitters=(TEAM, "group:risk@acme.example"))
    assert said(both, both, known) == f"prod @ 3f9c2e1\n✓ {UNTOUCHED}"


def test_code_that_nobody_reviewed_is_told_of_before_it_is_allowed() -> None:
    own = template("script", code_flag=True)
    allowed = said(facts(OLD, template("script")), facts(OLD, own, code=True))
    assert "unreviewed code" in allowed and "slipway:workspace.code: false → true" in allowed
    assert UNTOUCHED in said(facts(OLD, code=True), facts(OLD, code=True))


def test_rules_are_those_of_the_last_deployment() -> None:
    strict, milder = (replace(facts(OLD), policy={"mandatory": {"mostCost": most}}) for most in (12, 20))
    told = said(facts(OLD), milder, replace(KNOWN, checks=strict.checks))
    assert "⛔ policy mandatory.mostCost: " in told and "slipway:policy.mandatory.mostCost: 12 → 20" in told
    assert UNTOUCHED in said(facts(OLD), milder), "no deployment has told them yet"


def test_what_retires_already_is_said_apart(snapshot: SnapshotAssertion) -> None:
    there, gone = cluster("h100", id="h100-0000000"), kept(OLD, why="in-use")
    told = said(facts(there, retiring=(OLD.id,)), facts(there, gone), used=1)
    assert "taken over" not in told
    assert told == snapshot


def test_a_cluster_that_a_killed_deployment_left_is_told_before_it_is_deleted() -> None:
    """Pulumi's state alone has it, no catalog, so that this deployment deletes it."""
    there = cluster("h100", id="h100-0000000")

    def told(after: Facts, *living: PersistentResource) -> str:
        planned = deployment(facts(there), after)
        live = replace(planned.live, clusters=living, in_state=frozenset({OLD.id}))
        return "\n".join(preview_text(replace(planned, live=live), KNOWN, NOW, preview=True))

    assert f"{OLD.id}: delete" in told(facts(there), living(OLD))
    assert f"{OLD.id}: delete" not in told(facts(there, kept(OLD, why="in-use")), living(OLD, used=1))
    assert OLD.id not in told(facts(there)), "somebody deleted it by hand"


def test_more_quota_is_told_of_once(snapshot: SnapshotAssertion) -> None:  # Z2
    asked = facts(OLD, quota=replace(quota(mode="request"), requests={"custom_model_training_cpus": 16}))
    request = QuotaRequest("custom_model_training_cpus", REGION, "CPUs", "cpus", 16)
    planned = replace(deployment(facts(OLD), asked), report=QuotaReport(requests=(request,)))

    def says(known: State) -> str:
        return "\n".join(preview_text(planned, known, NOW, preview=True))

    assert says(KNOWN) == snapshot
    before = replace(KNOWN, preferences=(StatePreference("cpus", "CPUs", REGION, 8),))
    assert says(before) == snapshot
    assert UNTOUCHED in says(replace(KNOWN, preferences=(StatePreference("cpus", "CPUs", REGION, 16),)))
