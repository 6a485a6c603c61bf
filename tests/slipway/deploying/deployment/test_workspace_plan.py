"""The workspace."""

from dataclasses import replace

import pytest

from slipway.deploying.deployment.summary import kept_settings, lost
from slipway.deploying.deployment.workspace_plan import (
    RetiringWorkspaceResource,
    WorkspacePlan,
    metric_writers,
    plan_workspace,
)
from slipway.deploying.generations.action import Why
from slipway.google.jobs import VertexJob
from slipway.google.live import Live, Unknown
from slipway.google.snapshot import lacks, made_by_us
from slipway.model.origin import Origin
from slipway.model.state import State, StateGrant, StateResource
from tests.builders.templates import job_template

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
EVALS, OF_EVALS = "evals@acme.iam.gserviceaccount.com", "trainer.evals"
WITH_EVALS = replace(KNOWN, accounts=(*KNOWN.accounts, StateResource(OF_EVALS, EVALS, "acme")))
UNREAD = Unknown("SLIPWAY_LIVE=skip", "none", "none")


def needing(*names: str, state: str = "JOB_STATE_RUNNING") -> VertexJob:
    """A job that runs as the account and uses the buckets that are among the names."""
    accounts = [name for name in names if "@" in name]
    return replace(job("cpu", state=state), service_account="".join(accounts), buckets=frozenset(names) - {*accounts})


def test_a_bucket_that_somebody_else_made_stays_theirs() -> None:  # N13
    """Once it is the engine's it looks like ours; then its logical name tells."""
    assert plan_workspace(State(), WANTED, (), by_hand={"acme-catalog"}).adopted == {"acme-catalog"}
    assert plan_workspace(KNOWN, WANTED, (), by_hand={"acme-catalog"}).adopted == set()


def test_a_bucket_of_the_program_itself_is_nobody_else_s() -> None:  # N33
    wanted = {"catalog": "acme-catalog", "trainer": OLD}
    assert plan_workspace(State(), wanted, (), by_hand={"acme-results"}).adopted == set()


def test_an_adopted_bucket_keeps_its_settings_as_long_as_the_engine_knows_it_by_a_dot() -> None:  # N13
    first = plan_workspace(State(), WANTED, (), by_hand={"acme-catalog"})
    assert first.adopted == {"acme-catalog"} and first.logical["catalog"] == "catalog.acme-catalog"
    known = replace(KNOWN, buckets=(StateResource("catalog.acme-catalog", "acme-catalog", "acme"), *KNOWN.buckets[1:]))
    # Its owner may give it rules like ours, and take those of one that we made away.
    again = plan_workspace(known, WANTED, (), by_hand={"acme-work"})
    assert again.adopted == {"acme-catalog"} and again.logical == {**PLAIN, **first.logical}


def test_a_work_bucket_elsewhere_retires() -> None:  # N1 N2
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
    theirs = plan_workspace(KNOWN, far, (), by_hand={"acme-work-us-east4"})
    assert theirs.logical["work us-east4"] == "work.acme-work-us-east4"


@pytest.mark.parametrize(("called", "theirs"), [("", True), ("of team a", True), ("Slipway trainer (dev)", False)])
def test_an_account_that_somebody_else_made_is_kept_when_it_is_not_asked_for_any_more(
    called: str, theirs: bool
) -> None:  # N13
    (released,) = plan_workspace(replace(WITH_EVALS, called={EVALS: called}), WANTED, ()).released
    assert (released.name, released.adopted) == (EVALS, theirs)


def test_one_that_is_made_where_an_adopted_bucket_was_deleted_is_the_stacks_own() -> None:  # N13
    """Else it would be left open to the public, without our rules, and stay when the stack goes."""
    theirs = StateResource("catalog.acme-catalog", "acme-catalog", "")
    known = replace(KNOWN, buckets=(theirs, KNOWN.buckets[1]))
    gone = plan_workspace(known, WANTED, (), there={"acme-work"})
    assert gone.logical == PLAIN and gone.lost == {"catalog": "acme-catalog"}
    assert not (gone.adopted or gone.retiring or gone.released)
    (warning,) = lost(gone.lost, Origin("prod"))
    assert "gs://acme-catalog" in warning and "slipway:workspace.catalogBucket" in warning
    for there in (None, {"acme-catalog", "acme-work"}):
        plan = plan_workspace(known, WANTED, (), there=there)
        assert plan.adopted == {"acme-catalog"} and plan.lost == {}


def test_nothing_happens_to_a_stack_that_asks_for_what_it_has() -> None:
    assert plan_workspace(State(), WANTED, ()) == WorkspacePlan(PLAIN)
    assert plan_workspace(KNOWN, WANTED, ()) == WorkspacePlan(PLAIN)


FAR = replace(
    KNOWN,
    buckets=(
        StateResource("work.acme-work-us-east4", "acme-work-us-east4", ""),
        StateResource("work.acme-work", "acme-work", ""),
    ),
)


@pytest.mark.parametrize(
    ("known", "asked", "words"),
    [
        (KNOWN, {"catalog": "acme-2"}, ["bucket gs://acme-catalog can't become bucket gs://acme-2", "catalogBucket"]),
        (KNOWN, {"work": "acme-2"}, ["bucket gs://acme-work can't become bucket gs://acme-2", "workBucket"]),
        (KNOWN, {"trainer": NEW}, [f"account {OLD} can't become account {NEW}", "put trainer: old back"]),
        (WITH_EVALS, {"trainer": EVALS}, [f"account {OLD} can't become account {EVALS}"]),
        (FAR, {"work": "acme-2", "work us-east4": "acme-2-us-east4"}, ["bucket gs://acme-work can't become"]),
    ],
)
def test_another_name_of_a_deployed_bucket_or_account_is_refused(
    known: State, asked: dict[str, str], words: list[str]
) -> None:
    for seen in (live(), Live(UNREAD, UNREAD, UNREAD, UNREAD, skipped=True)):
        (refusal,) = planned((), seen, known=known, workspace={**WANTED, **asked}).refusals
        assert all(word in str(refusal.error) for word in words), refusal
        assert f"Pulumi.{STACK}.yaml" in refusal.why and "a stack of its own" in refusal.fix and refusal.for_good


def test_two_buckets_that_are_exchanged_are_refused_and_what_is_not_deployed_may_have_any_name() -> None:
    asked = {**WANTED, "catalog": "acme-work", "work": "acme-catalog"}
    assert len(planned((), live(), known=KNOWN, workspace=asked).refusals) == 2
    half = replace(FAR, buckets=FAR.buckets[:1], accounts=())
    for name in ("acme-work", "acme-other"):
        asked = {**WANTED, "work": name, "work us-east4": "acme-work-us-east4"}
        assert not planned((), live(), known=half, workspace=asked).refusals


def test_another_trainer_has_a_logical_name_by_its_account() -> None:
    """So that templates may call it otherwise, and nothing is made anew."""
    for known, name in ((KNOWN, "evals"), (WITH_EVALS, "evals"), (WITH_EVALS, "judges")):
        plan = plan_workspace(known, {**WANTED, f"trainer {name}": EVALS}, ())
        assert plan.logical == {**PLAIN, f"trainer {name}": OF_EVALS}
        assert (plan.retiring, plan.released) == ((), ())


def test_another_trainer_stays_while_a_job_needs_it_with_its_roles_on_the_project() -> None:
    user, other = needing(EVALS), needing("elsewhere")
    grant = StateGrant(f"{OF_EVALS}-aiplatform.user", "roles/aiplatform.user", f"serviceAccount:{EVALS}")
    known = replace(WITH_EVALS, grants=(*KNOWN.grants, grant))
    (thing,) = plan_workspace(known, WANTED, (user, other)).retiring
    assert thing == RetiringWorkspaceResource("trainer", OF_EVALS, EVALS, (user,), Why.JOBS, {grant.name: grant.role})
    again = plan_workspace(known, {**WANTED, "trainer evals": EVALS}, (user,))
    assert again.grants == {"trainer evals": {grant.name: grant.role}} and not again.retiring
    for jobs in ((), (other,), (needing(EVALS, state="JOB_STATE_SUCCEEDED"),)):
        idle = plan_workspace(known, WANTED, jobs)
        assert [bucket.name for bucket in idle.released] == [EVALS] and idle.retiring == ()


def test_a_doubt_whether_all_jobs_are_listed_keeps_everything() -> None:
    (thing,) = plan_workspace(WITH_EVALS, WANTED, (), Why.IN_USE).retiring
    assert (thing.words, thing.jobs, thing.why) == (f"account {EVALS}", (), Why.IN_USE)


def decided(seen: Live) -> WorkspacePlan:
    return planned((), seen, known=WITH_EVALS, workspace=WANTED).workspace


def test_machines_in_use_by_a_job_that_no_list_shows_may_need_anything() -> None:
    used = cluster("cpu-1a2b3c4", "1a2b3c4", used=1)
    assert decided(Live((used,), (), {}, None)).retiring[0].why is Why.IN_USE
    assert decided(Live((used,), (job("cpu-1a2b3c4"),), {}, None)).retiring == ()
    assert decided(Live((), (), {}, None)).released[0].name == EVALS
    assert decided(Live(UNREAD, UNREAD, UNREAD, UNREAD, skipped=True)).retiring[0].why is Why.UNREAD


def test_only_those_who_write_to_vertex_ai_may() -> None:  # P5 W8
    assert metric_writers([job_template()]) == set()
    assert metric_writers([job_template(), job_template(experiment="digits")]) == {""}
    assert metric_writers([job_template(tensorboard="7", service_account="x@acme.iam.gserviceaccount.com")]) == set()
    assert metric_writers([job_template(trainer="evals", tensorboard="7")]) == {"evals"}


KEY = "projects/acme/locations/us-central1/keyRings/r/cryptoKeys/k"
GOOD = {
    "iamConfiguration": {"uniformBucketLevelAccess": {"enabled": True}, "publicAccessPrevention": "enforced"},
    "encryption": {"defaultKmsKeyName": KEY},
}


def test_what_is_missing_is_told_with_the_command_that_sets_it() -> None:
    bad = {"retentionPolicy": {"retentionPeriod": "86400"}, "iamConfiguration": {"publicAccessPrevention": "inherited"}}
    every = lacks(bad, catalog=True)
    assert lacks(GOOD, catalog=False) == () and lacks(GOOD, catalog=True) == ("--versioning",)
    (said,) = kept_settings(["acme", "fine"], {"acme": every, "fine": (), "other": every}, "")
    assert said.startswith("bucket gs://acme was there before")
    assert [word for word in said.split() if word.startswith("--")] == [
        "--uniform-bucket-level-access",
        "--public-access-prevention",
        "--versioning",
        "--clear-retention-period",
    ]


def test_a_bucket_without_a_key_is_told_where_the_stack_has_one() -> None:
    keyless = {"acme": lacks({**GOOD, "encryption": {}}, catalog=False)}
    assert not [*kept_settings(["acme"], keyless, "")]
    (said,) = kept_settings(["acme"], keyless, KEY)
    assert said.endswith(f"gcloud storage buckets update gs://acme --default-encryption-key={KEY}")


def test_a_work_bucket_of_ours_is_no_catalog_of_ours_which_a_destruction_empties() -> None:
    for prefix, catalog in (("packages/", True), ("claims/", False)):
        bucket = {"lifecycle": {"rule": [{"condition": {"age": 1}}, {"condition": {"matchesPrefix": [prefix]}}]}}
        assert made_by_us(bucket, catalog=catalog) and not made_by_us(bucket, catalog=not catalog)
    assert not made_by_us({}, catalog=True)
