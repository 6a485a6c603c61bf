"""The workspace."""

from dataclasses import replace
from typing import Any

import pytest

from slipway.cloud.jobs import VertexJob
from slipway.deployment.snapshot import lacks, made_by_us
from slipway.deployment.summary import kept_settings, lost
from slipway.deployment.workspace_plan import RetiringWorkspaceResource, WorkspacePlan, metric_writers, plan_workspace
from slipway.generations.action import Why
from slipway.live import Live, Unknown
from slipway.state import State, StateGrant, StateResource
from slipway.template import JobTemplate, Package, WorkerPool

from .world import STACK, cluster, job, live, planned

OLD, NEW = "old@acme.iam.gserviceaccount.com", "new@acme.iam.gserviceaccount.com"
WANTED = {"catalog": "acme-catalog", "work": "acme-work", "trainer": OLD}
PLAIN = {"catalog": "catalog", "work": "work", "trainer": "trainer"}
KNOWN = State(
    buckets=(StateResource("catalog", "acme-catalog", "acme", "r"), StateResource("work", "acme-work", "acme", "r")),
    accounts=(StateResource("trainer", OLD, "acme"),),
    grants=(
        StateGrant("trainer-aiplatform.user", "roles/aiplatform.user", f"serviceAccount:{OLD}"),
        StateGrant("other", "roles/viewer", "serviceAccount:other@acme.iam.gserviceaccount.com"),
    ),
)


def needing(*names: str, state: str = "JOB_STATE_RUNNING") -> VertexJob:
    """A job that runs as the account and uses the buckets that are among the names."""
    accounts = [name for name in names if "@" in name]
    return replace(job("cpu", state=state), service_account="".join(accounts), buckets=frozenset(names) - {*accounts})


def test_the_first_ones_have_their_plain_names() -> None:
    assert plan_workspace(State(), WANTED, ()) == WorkspacePlan(PLAIN)


def test_a_bucket_that_somebody_else_made_stays_theirs() -> None:  # N13
    """Once it is the engine's it looks like ours; then the engine knows that it may not empty it."""
    assert plan_workspace(State(), WANTED, (), by_hand={"acme-catalog"}).adopted == {"acme-catalog"}
    assert plan_workspace(KNOWN, WANTED, (), by_hand={"acme-catalog"}).adopted == set()
    assert plan_workspace(replace(KNOWN, spared=frozenset({"acme-catalog"})), WANTED, ()).adopted == {"acme-catalog"}


def test_an_adopted_bucket_keeps_its_settings_as_long_as_the_engine_knows_it_by_a_dot() -> None:  # N13
    first = plan_workspace(State(), WANTED, (), by_hand={"acme-catalog"})
    assert first.untouched == {"acme-catalog"} and first.logical["catalog"] == "catalog.acme-catalog"
    known = replace(KNOWN, buckets=(StateResource("catalog.acme-catalog", "acme-catalog", "acme"), *KNOWN.buckets[1:]))
    # Its owner may give it rules like ours, and take those of one that we made away.
    again = plan_workspace(known, WANTED, (), by_hand={"acme-work"})
    assert again.untouched == {"acme-catalog"} <= again.adopted and again.logical == {**PLAIN, **first.logical}
    (gone,) = plan_workspace(known, {**WANTED, "catalog": "acme-other"}, ()).released
    assert gone.adopted and gone.logical == "catalog.acme-catalog"


def test_a_work_bucket_elsewhere_retires_as_the_others_and_is_no_successor_of_the_one_at_home() -> None:  # N1 N2
    far = {**WANTED, "work us-east4": "acme-work-us-east4"}
    first = plan_workspace(KNOWN, far, ())
    assert first.logical == {**PLAIN, "work us-east4": "work@acme-work-us-east4"}
    assert not (first.retiring or first.released)
    there = StateResource("work@acme-work-us-east4", "acme-work-us-east4", "acme")
    known = replace(KNOWN, buckets=(*KNOWN.buckets, there))
    assert plan_workspace(known, far, ()) == first
    (kept,) = plan_workspace(known, WANTED, (needing("acme-work-us-east4"),)).retiring
    assert (kept.role, kept.logical, kept.name) == ("work", "work@acme-work-us-east4", "acme-work-us-east4")
    (gone,) = plan_workspace(known, WANTED, ()).released
    assert gone.name == "acme-work-us-east4"
    other = plan_workspace(known, {**far, "work": "acme-w2", "work us-east4": "acme-w2-us-east4"}, ())
    assert other.logical["work"] == "work-acme-w2" and other.logical["work us-east4"] == "work@acme-w2-us-east4"
    assert {one.name for one in other.released} == {"acme-work", "acme-work-us-east4"}
    theirs = plan_workspace(KNOWN, far, (), by_hand={"acme-work-us-east4"})
    assert theirs.logical["work us-east4"] == "work.acme-work-us-east4"


@pytest.mark.parametrize(("called", "theirs"), [("", True), ("of team a", True), ("Slipway trainer (dev)", False)])
def test_an_account_that_somebody_else_made_is_kept_when_it_is_not_asked_for_any_more(
    called: str, theirs: bool
) -> None:  # N13
    (released,) = plan_workspace(replace(KNOWN, called={OLD: called}), {**WANTED, "trainer": NEW}, ()).released
    assert (released.name, released.adopted) == (OLD, theirs)


def test_one_that_is_made_where_an_adopted_bucket_was_deleted_is_the_stacks_own() -> None:  # N13
    """Else it would be left open to the public, without our rules, and stay when the stack goes."""
    theirs = StateResource("catalog.acme-catalog", "acme-catalog", "")
    known = replace(KNOWN, buckets=(theirs, KNOWN.buckets[1]), spared=frozenset({"acme-catalog", "acme-work"}))
    gone = plan_workspace(known, WANTED, (), there={"acme-work"})
    assert gone.logical == PLAIN and gone.lost == {"catalog": "acme-catalog"}
    assert not (gone.untouched or gone.retiring or gone.released) and gone.adopted == {"acme-work"}
    (warning,) = lost(gone.lost)
    assert "gs://acme-catalog" in warning and "slipway:workspace.catalogBucket" in warning
    for there in (None, {"acme-catalog", "acme-work"}):
        found = plan_workspace(known, WANTED, (), there=there)
        assert found.untouched == {"acme-catalog"} and found.lost == {}


def test_buckets_do_not_change_their_roles() -> None:
    """The engine deletes what a bucket was after it has become what it is."""
    asked = {**WANTED, "catalog": "acme-work", "work": "acme-catalog"}
    refusals = planned((), live(), known=KNOWN, workspace=asked).refusals
    assert ["gs://acme-work" in refusals[0].what, "gs://acme-catalog" in refusals[1].what] == [True, True]
    assert ["catalogBucket" in refusals[0].fix, "workBucket" in refusals[1].fix] == [True, True]
    assert all(one.for_good for one in refusals) and f"Pulumi.{STACK}.yaml" in refusals[0].why
    renamed = {**WANTED, "work": "acme-results"}
    assert not planned((), live(), known=KNOWN, workspace=renamed).refusals


def test_nothing_happens_to_a_stack_that_asks_for_what_it_has() -> None:
    assert plan_workspace(KNOWN, WANTED, ()) == WorkspacePlan(PLAIN)


@pytest.mark.parametrize(
    ("role", "new", "old", "logical"),
    [
        ("trainer", NEW, OLD, "trainer-new"),
        ("catalog", "acme-2", "acme-catalog", "catalog-acme-2"),
        ("work", "acme-2", "acme-work", "work-acme-2"),
    ],
)
def test_another_one_is_another_resource_and_the_old_one_stays_while_a_job_needs_it(
    role: str, new: str, old: str, logical: str
) -> None:
    """The old one keeps its logical name, so that the provider never replaces it."""
    asked = {**WANTED, role: new}
    user, other = needing(old), needing("elsewhere")
    found = plan_workspace(KNOWN, asked, (user, other))
    assert found.logical == {**PLAIN, role: logical}
    (thing,) = found.retiring
    assert (thing.role, thing.logical, thing.name, thing.jobs, thing.why) == (role, role, old, (user,), Why.JOBS)
    assert found.released == ()

    for jobs in ((), (other,), (needing(old, state="JOB_STATE_SUCCEEDED"),)):
        idle = plan_workspace(KNOWN, asked, jobs)
        assert [(one.role, one.name) for one in idle.released] == [(role, old)]
        assert idle.retiring == ()


@pytest.mark.parametrize("state", ["JOB_STATE_QUEUED", "JOB_STATE_CANCELLING", "PIPELINE_STATE_PENDING", "NEW_WORD"])
def test_every_job_that_has_not_ended_counts(state: str) -> None:
    assert plan_workspace(KNOWN, {**WANTED, "trainer": NEW}, (needing(OLD, state=state),)).retiring


def test_what_is_asked_for_again_is_the_same_resource_again() -> None:
    """There and back, while both are there."""
    both = replace(KNOWN, accounts=(*KNOWN.accounts, StateResource("trainer-new", NEW, "acme")))
    there = plan_workspace(both, {**WANTED, "trainer": NEW}, (needing(OLD),))
    assert there.logical["trainer"] == "trainer-new"
    back = plan_workspace(both, WANTED, (needing(NEW),))
    assert back.logical["trainer"] == "trainer"
    assert [(one.logical, one.name) for one in back.retiring] == [("trainer-new", NEW)]


def test_a_new_name_stays_when_the_old_one_is_gone() -> None:
    alone = replace(KNOWN, accounts=(StateResource("trainer-new", NEW, "acme"),))
    assert plan_workspace(alone, {**WANTED, "trainer": NEW}, ()).logical["trainer"] == "trainer-new"
    assert plan_workspace(alone, WANTED, ()).logical["trainer"] == "trainer", "the plain one is free"


def test_an_account_retires_with_its_roles_on_the_project() -> None:
    (thing,) = plan_workspace(KNOWN, {**WANTED, "trainer": NEW}, (needing(OLD),)).retiring
    grants = {"trainer-aiplatform.user": "roles/aiplatform.user"}
    assert thing == RetiringWorkspaceResource("trainer", "trainer", OLD, thing.jobs, Why.JOBS, grants)


def test_an_account_keeps_its_roles_on_the_project_while_jobs_run_as_it() -> None:
    """A template that wrote metrics is taken out: its running jobs still write them."""
    assert plan_workspace(KNOWN, WANTED, (needing(OLD),)).grants == {
        "trainer": {"trainer-aiplatform.user": "roles/aiplatform.user"}
    }
    assert plan_workspace(KNOWN, WANTED, ()).grants == {}


EVALS, OF_EVALS = "evals@acme.iam.gserviceaccount.com", "trainer.evals"
WITH_EVALS = replace(KNOWN, accounts=(*KNOWN.accounts, StateResource(OF_EVALS, EVALS, "acme")))


def test_another_trainer_has_a_logical_name_by_its_account() -> None:
    """So that templates may call it otherwise, and nothing is made anew."""
    for known, name in ((KNOWN, "evals"), (WITH_EVALS, "evals"), (WITH_EVALS, "judges")):
        found = plan_workspace(known, {**WANTED, f"trainer {name}": EVALS}, ())
        assert found.logical == {**PLAIN, f"trainer {name}": OF_EVALS}
        assert (found.retiring, found.released) == ((), ())


def test_another_trainer_retires_by_the_same_rule() -> None:
    user = needing(EVALS)
    (thing,) = plan_workspace(WITH_EVALS, WANTED, (user,)).retiring
    assert (thing.role, thing.logical, thing.name, thing.jobs) == ("trainer", OF_EVALS, EVALS, (user,))
    assert [one.name for one in plan_workspace(WITH_EVALS, WANTED, ()).released] == [EVALS]


@pytest.mark.parametrize(
    ("known", "trainer", "other", "logical", "of_other"),
    [
        (KNOWN, NEW, OLD, "trainer-new", "trainer"),
        (WITH_EVALS, EVALS, OLD, OF_EVALS, "trainer"),
        (WITH_EVALS, EVALS, NEW, OF_EVALS, "trainer.new"),
    ],
)
def test_an_account_that_becomes_another_trainers_is_the_same_resource(
    known: State, trainer: str, other: str, logical: str, of_other: str
) -> None:
    found = plan_workspace(known, {**WANTED, "trainer": trainer, "trainer evals": other}, ())
    assert (found.logical["trainer"], found.logical["trainer evals"]) == (logical, of_other)
    assert not {trainer, other} & {one.name for one in (*found.retiring, *found.released)}


def test_another_trainer_keeps_its_roles_while_jobs_run_as_it() -> None:
    grant = StateGrant(f"{OF_EVALS}-aiplatform.user", "roles/aiplatform.user", f"serviceAccount:{EVALS}")
    known = replace(WITH_EVALS, grants=(*KNOWN.grants, grant))
    asked = {**WANTED, "trainer evals": EVALS}
    assert plan_workspace(known, asked, (needing(EVALS),)).grants == {"trainer evals": {grant.name: grant.role}}
    assert plan_workspace(known, asked, ()).grants == {}


def test_a_doubt_whether_all_jobs_are_listed_keeps_everything() -> None:
    (thing,) = plan_workspace(KNOWN, {**WANTED, "catalog": "acme-2"}, (), Why.IN_USE).retiring
    assert (thing.words, thing.jobs, thing.why) == ("bucket gs://acme-catalog", (), Why.IN_USE)


def decided(seen: Live) -> WorkspacePlan:
    asked = {**WANTED, "trainer": NEW}
    return planned((), seen, known=KNOWN, workspace=asked).workspace


def test_machines_in_use_by_a_job_that_no_list_shows_may_need_anything() -> None:
    used = cluster("cpu-1a2b3c4", "1a2b3c4", used=1)
    assert decided(Live((used,), (), {}, None)).retiring[0].why is Why.IN_USE
    assert decided(Live((used,), (job("cpu-1a2b3c4"),), {}, None)).retiring == ()
    assert decided(Live((), (), {}, None)).released[0].name == OLD


def test_jobs_that_were_not_read_keep_everything() -> None:
    unread = Unknown("SLIPWAY_LIVE=skip", "none", "none")
    assert decided(Live(unread, unread, unread, unread, skipped=True)).retiring[0].why is Why.UNREAD


def template(**changes: Any) -> JobTemplate:
    code = Package("jobs/nap", "nap.task", "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:latest")
    return JobTemplate("nap", "sleeps", code, (WorkerPool("chief", "n1-standard-4"),), **changes)


@pytest.mark.parametrize(
    ("changes", "writers"),
    [
        ({}, set()),
        ({"experiment": "digits"}, {""}),
        ({"tensorboard": "7"}, {""}),
        ({"tensorboard": "7", "service_account": "other@acme.iam.gserviceaccount.com"}, set()),
        ({"trainer": "evals", "experiment": "scores"}, {"evals"}),
    ],
)
def test_only_those_who_write_to_vertex_ai_may(changes: dict[str, Any], writers: set[str]) -> None:  # P5 W8
    assert metric_writers([template(), template(**changes)]) == writers


GOOD = {"iamConfiguration": {"uniformBucketLevelAccess": {"enabled": True}, "publicAccessPrevention": "enforced"}}


def test_what_is_missing_is_told_with_the_command_that_sets_it() -> None:
    bad = {"retentionPolicy": {"retentionPeriod": "86400"}, "iamConfiguration": {"publicAccessPrevention": "inherited"}}
    every = lacks(bad, catalog=True)
    (said,) = kept_settings(["acme"], {"acme": every, "other": every})
    assert said.startswith("bucket gs://acme was there before")
    assert [word for word in said.split() if word.startswith("--")] == [
        "--uniform-bucket-level-access",
        "--public-access-prevention",
        "--versioning",
        "--clear-retention-period",
    ]


def test_versions_matter_to_a_catalog_alone_and_a_good_bucket_is_not_spoken_of() -> None:
    assert lacks(GOOD, catalog=False) == () and lacks(GOOD, catalog=True) == ("--versioning",)
    assert lacks({**GOOD, "versioning": {"enabled": True}}, catalog=True) == ()
    assert list(kept_settings(["acme"], {"acme": ()})) == []


def test_a_work_bucket_of_ours_is_no_catalog_of_ours_which_a_destruction_empties() -> None:
    for prefix, catalog in (("packages/", True), ("claims/", False)):
        bucket = {"lifecycle": {"rule": [{"condition": {"age": 1}}, {"condition": {"matchesPrefix": [prefix]}}]}}
        assert made_by_us(bucket, catalog=catalog) and not made_by_us(bucket, catalog=not catalog)
    assert not made_by_us({}, catalog=True)
