"""Trainers beside what else is told: each thing once, by whoever knows most of it. # P5 # N1 # N5"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from syrupy.assertion import SnapshotAssertion

from slipway.deploying.engine.preview import EngineStep
from slipway.model.catalog.model import Template
from slipway.model.facts import Facts, TrainerFacts
from slipway.model.findings.finding import Grade
from slipway.reviewing.clusters.jobs import unfinished
from slipway.reviewing.resources.data import data
from slipway.reviewing.resources.people import people
from slipway.reviewing.resources.trainers import trainers
from slipway.reviewing.review import review
from tests.slipway.reviewing.builders import (
    PROJECT,
    TEAM,
    change,
    cluster,
    facts,
    job,
    living,
    offer,
    request,
    step,
    template,
    worker_pool,
)

EVALS = f"evals@{PROJECT}.iam.gserviceaccount.com"
ADA, WORKSPACE = "user:ada@acme.example", "slipway:components:Workspace"
ACCOUNT, ON_ACCOUNT = "gcp:serviceaccount/account:Account", "gcp:serviceaccount/iAMMember:IAMMember"


def with_trainers(of: Mapping[str, tuple[str, ...]], *parts: Template, account: str = EVALS) -> Facts:
    """Who may act as each, by its name; they all have one account, as a test has one trainer."""
    known = facts(*parts)
    some = {name: TrainerFacts(name, account, dict.fromkeys(members, "role")) for name, members in of.items()}
    return replace(known, catalog=replace(known.catalog, trainers=dict.fromkeys(of, account)), trainers=some)


def acts(op: str, member: str) -> EngineStep:
    on = f"projects/p/serviceAccounts/{EVALS}"
    inputs = {"member": member, "role": "roles/iam.serviceAccountUser", "serviceAccountId": on}
    old, new = (inputs, None) if op == "delete" else (None, inputs)
    return step(op, ON_ACCOUNT, f"act-as-trainer.evals-{member}", parent=WORKSPACE, old=old, new=new)


def runs_as(account: str) -> Template:
    pool = worker_pool(env={"T__SECRET": "projects/p/secrets/hf/versions/1"})
    return template("lora", offer(request=request(pool, serviceAccount=account)))


def test_a_grant_that_the_stack_file_takes_back_is_told_once(snapshot: SnapshotAssertion) -> None:
    before, after = with_trainers({"evals": (ADA, TEAM)}), with_trainers({"evals": (TEAM,)})
    after = replace(after, submitters={**after.submitters, ADA: after.submitters[TEAM]})
    before = replace(before, submitters=after.submitters)
    told = change(before, after, steps=[acts("delete", ADA)])
    assert list(people(told)) == []
    (gone,) = trainers(told)
    assert (gone.kind, gone.grade) == ("trainer-access-gone", Grade.WARNING)
    assert gone.subject == f"member {ADA} trainer evals"
    assert gone.sentence == snapshot


def test_a_grant_that_the_program_takes_back_behind_the_stack_file_is_told_of_the_member() -> None:
    same = with_trainers({"evals": (TEAM,)})
    (lost,) = people(change(same, same, steps=[acts("delete", TEAM)]))
    assert lost.kind == "submitter-gone" and "stays a submitter" in lost.sentence


def test_who_comes_to_a_trainer_is_told_once_with_what_it_reads(snapshot: SnapshotAssertion) -> None:
    lora = runs_as(EVALS)
    before, after = with_trainers({"evals": ()}, lora), with_trainers({"evals": (TEAM,)}, lora)
    (one,) = review(change(before, after, steps=[acts("create", TEAM)])).consequences
    assert (one.kind, one.grade) == ("trainer-access-added", Grade.BLOCKING)
    assert one.field == "slipway:trainers.evals.submitters"
    assert one.sentence == snapshot


def test_an_account_of_the_stack_and_one_that_is_not_are_told_of_the_template(snapshot: SnapshotAssertion) -> None:
    """Whose people and secrets nobody knows."""
    other = "theirs@other.iam.gserviceaccount.com"
    after = with_trainers({"evals": (TEAM,)}, runs_as(other))
    before = with_trainers({"evals": (TEAM,)}, runs_as(EVALS))
    (one,) = review(change(before, after, clusters=[living(cluster())])).consequences
    assert one.kind == "account-changed"
    assert one.sentence == snapshot


def test_jobs_that_run_as_a_trainer_that_goes_are_named() -> None:
    mine = job(service_account=EVALS)
    told = change(with_trainers({"evals": (TEAM,)}), facts(), jobs=[mine])
    (lost,) = unfinished(told)
    assert (lost.kind, lost.subject, lost.grade) == ("jobs-lose-account", f"account {EVALS}", Grade.BLOCKING)
    assert list(unfinished(change(with_trainers({"evals": ()}), with_trainers({"judges": ()}), jobs=[mine]))) == []


def test_an_account_has_the_key_of_its_trainer() -> None:
    new = {"accountId": "evals", "project": PROJECT}
    made = step("create", ACCOUNT, "trainer.evals", new=new, parent=WORKSPACE)
    (one,) = data(change(facts(), with_trainers({"evals": ()}), steps=[made]))
    assert (one.kind, one.field) == ("account-created", "slipway:trainers.evals")
