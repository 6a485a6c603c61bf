"""Preview and `up` say in a few lines what happens to clusters, jobs and templates. # N1 # D7"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from slipway.cloud.clusters import PersistentResource
from slipway.cloud.jobs import VertexJob
from slipway.cluster import Adoption, ClusterSpec, CurrentCluster, PoolSpec
from slipway.deployment.actions import of_current, resting
from slipway.deployment.alternatives import MayBecome
from slipway.deployment.plan import Plan
from slipway.deployment.schedule import Due
from slipway.deployment.summary import neighbours, outliving, overdue, pool_in_words, summary
from slipway.deployment.workspace_plan import WorkspacePlan, trainer_display_name
from slipway.generations.action import Action, What
from slipway.generations.dormant import DormantCluster
from slipway.generations.retiring import RetiringWorkspaceResource, Why
from slipway.labels import STACK_LABEL, Revision
from slipway.live import Live, Unknown
from slipway.machines.spec import Disk, MachineSpec
from slipway.prices import Price, price_in_words, total
from slipway.quota.report import OfferVerdict, QuotaReport
from slipway.season import Season
from slipway.state import State, StateResource
from slipway.template.case import Case
from slipway.template.proof import Placement

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
WORKERS = PoolSpec("workers", MachineSpec("n1-standard-8"), min=1, max=4, autoscaled=True, replicas=1)
CPU = ClusterSpec("cpu", (WORKERS,))
OLD = PersistentResource("cpu-0000000", "RUNNING", {"slipway-name": "cpu"}, ())
RETIRES = Action("cpu", OLD.id, What.RETIRE, Why.JOBS, living=OLD)
NOTHING_LIVES = Live(clusters=(), jobs=(), limits={}, catalog=None)


def job(name: str, state: str, minutes: int | None, **labels: str) -> VertexJob:
    start = NOW - timedelta(minutes=minutes) if minutes is not None else None
    created = NOW - timedelta(hours=2)
    return VertexJob(name, name, state, labels, persistent_resource_id=OLD.id, create_time=created, start_time=start)


def told(plan: Plan, placements: tuple[Placement, ...] = (), **verdicts: OfferVerdict) -> list[str]:
    report = QuotaReport(offers={"dask-digits": verdicts})
    given = {"dask-digits": placements} if placements else {}
    return summary(
        "dev", Revision("3f9c2e1", False), plan, given, report, "us-central1", NOW, catalog="acme-dev-catalog"
    ).splitlines()


def test_a_cluster_to_be_created_with_its_pools_and_price() -> None:
    assert told(Plan((of_current(CurrentCluster(CPU, "cpu-1a2b3c4", "1a2b3c4", import_=False)),))) == [
        "dev @ 3f9c2e1",
        "cluster cpu: cpu-1a2b3c4, to be created · $0.46/h idle, $1.86/h at most",
        "  pool workers: n1-standard-8 × 1–4, pd-ssd 100 GB",
    ]


def test_a_cluster_that_is_there_says_its_state() -> None:
    lines = told(Plan((of_current(CurrentCluster(CPU, "cpu-1a2b3c4", "1a2b3c4", import_=True, state="UPDATING")),)))
    assert lines[1].startswith("cluster cpu: cpu-1a2b3c4, updating · ")


def test_a_retiring_cluster_names_its_jobs() -> None:
    jobs = (
        job("tune-27b", "JOB_STATE_RUNNING", 14, **{"slipway-user": "ada"}),
        job("digits", "JOB_STATE_QUEUED", None),
    )
    assert told(Plan((replace(RETIRES, jobs=jobs),)))[1] == (
        "cluster cpu: cpu-0000000 retires when its 2 jobs have ended: "
        "tune-27b (by ada, running 14 min) and digits (queued 2 h)"
    )


def test_a_retiring_cluster_without_jobs_says_why() -> None:
    assert told(Plan((replace(RETIRES, why=Why.UNPUBLISHED),)))[1] == (
        "cluster cpu: cpu-0000000 retires with a later deployment (the published catalog does not list it yet)"
    )


def test_a_failed_one_says_why_and_when_it_goes() -> None:  # N2
    failed = replace(OLD, state="ERROR", error="Resources are insufficient in region: r.")
    assert told(Plan((replace(RETIRES, what=What.CLEAR, living=failed),)))[1] == (
        "cluster cpu-0000000 failed (Resources are insufficient in region: r.): it holds nothing, and goes before its "
        "successor is made"
    )
    assert told(Plan((replace(RETIRES, why=Why.UNPUBLISHED, living=failed),)))[1] == (
        "cluster cpu: cpu-0000000 failed (Resources are insufficient in region: r.): it holds nothing; this deployment "
        "takes it over, and the next one deletes it"
    )


def test_a_cluster_with_dates_says_what_is_due_and_a_dormant_one_why() -> None:  # B6
    current = CurrentCluster(CPU, "cpu-1a2b3c4", "1a2b3c4", import_=True, state="RUNNING")
    ends = Due("cpu", current.id, "season-ends", "", NOW + timedelta(days=30), per_hour=Price(Decimal("0.5")))
    begins = replace(CPU, name="h100", season=Season(begins=NOW + timedelta(hours=12)))
    idle = replace(CPU, name="idle", season=Season(idle_limit=timedelta(hours=4)))
    dormant = (DormantCluster(begins, "h100-1", "season"), DormantCluster(idle, "idle-1", "idle", NOW))
    plan = Plan((of_current(current), *map(resting, dormant)))
    revision, report = Revision("3f9c2e1", False), QuotaReport()
    lines = summary("dev", revision, plan, {}, report, "us-central1", NOW, "acme-dev-catalog", (ends,)).splitlines()
    assert lines[3:] == [
        "  season ends 2026-12-20 12:00 UTC, in 30 days: $0.50/h, $360.00 until then",
        "cluster h100 is out of season until 2026-11-21 · $0.46/h idle, $1.86/h at most from then on",
        plan.dormant[1].words,
    ]


def test_an_offer_on_a_dormant_cluster_is_no_lack() -> None:  # B6
    offers = (Placement("pool", CPU, (WORKERS,), dormant="cluster cpu is out of season"), Placement("spot"))
    verdicts = {
        "pool cpu": OfferVerdict(False, "cluster cpu is out of season", dormant=True),
        "spot": OfferVerdict(True),
    }
    assert told(Plan(), offers, **verdicts)[1] == "template dask-digits: pool cpu dormant · spot"


def test_what_is_deleted_is_said() -> None:
    assert told(Plan((replace(RETIRES, what=What.DELETE_LAST, why=Why.IDLE),)))[1] == (
        "cluster cpu-0000000 is idle and not asked for any more: it will be deleted"
    )


def test_accounts_and_buckets_retire_in_words() -> None:
    tune = job("tune-27b", "JOB_STATE_RUNNING", 14, **{"slipway-user": "ada"})
    digits = job("digits", "JOB_STATE_QUEUED", None)
    account = RetiringWorkspaceResource("trainer", "trainer", "old@acme.iam.gserviceaccount.com", (tune,))
    bucket = RetiringWorkspaceResource("catalog", "catalog", "acme-catalog", (tune, digits))
    doubtful = RetiringWorkspaceResource("work", "work", "acme-work", (), Why.IN_USE)
    lines = told(Plan(workspace=WorkspacePlan(retiring=(account, bucket, doubtful))))
    assert lines[1].startswith(
        "account old@acme.iam.gserviceaccount.com retires when the job that needs it has ended: "
    )
    assert lines[1].endswith("tune-27b (by ada, running 14 min)")
    assert lines[2].startswith("bucket gs://acme-catalog retires when the 2 jobs that need it have ended: tune-27b (by")
    assert lines[2].endswith("digits (queued 2 h)")
    assert (
        lines[3] == "  the catalog is in gs://acme-dev-catalog: whoever submits types slipway use gs://acme-dev-catalog"
    )
    assert lines[4] == f"bucket gs://acme-work retires with a later deployment ({Why.IN_USE.words})"


def test_what_no_job_needs_goes_but_peoples_results_stay() -> None:
    released = (
        RetiringWorkspaceResource("catalog", "catalog", "acme-catalog"),
        RetiringWorkspaceResource("work", "work", "acme-work"),
    )
    assert "\n".join(told(Plan(workspace=WorkspacePlan(released=released)))[1:]) == (
        "bucket gs://acme-catalog is not asked for any more and no job needs it: it will be deleted\n"
        "  the catalog is in gs://acme-dev-catalog: whoever submits types slipway use gs://acme-dev-catalog\n"
        "bucket gs://acme-work is not asked for any more: it stays, with people's results, and no longer belongs "
        "to this stack\n  to delete it and all in it: gcloud storage rm --recursive gs://acme-work"
    )


def test_what_was_not_read_comes_first() -> None:
    assert told(Plan(notes=("live clusters were not read",)))[0] == "live clusters were not read"


def test_a_templates_offers_with_what_lacks_quota() -> None:
    lines = told(
        Plan(),
        (Placement("pool", CPU, (WORKERS,)), Placement("spot")),
        pool=OfferVerdict(True),
        spot=OfferVerdict(False, "quota"),
    )
    assert lines[1] == "template dask-digits: pool cpu · spot unavailable"


def test_kinds_and_cases_have_their_offers() -> None:  # N3 W5 Z1
    case = Case(when={"model": ("2b", "9b")})
    offers = (
        Placement("pool", CPU, (WORKERS,), case=case, qualifier="(model=2b or 9b)"),
        Placement("spot", case=case, qualifier="(model=2b or 9b)"),
        Placement("spot", kind="training-pipeline", qualifier="as training-pipeline"),
    )
    verdicts = {
        offer.label: OfferVerdict(offer.capacity_type == "pool" or offer.kind == "training-pipeline")
        for offer in offers
    }
    assert told(Plan(), offers, **verdicts)[1:] == [
        "template dask-digits:",
        "  model=2b or 9b: pool cpu · spot unavailable",
        "  as training-pipeline: spot",
    ]


def test_what_a_template_refuses_by_itself_is_no_news() -> None:
    refused = Case(when={"model": ("27b",)})
    offers = (Placement("spot", case=refused, qualifier="(model=27b)"), Placement("pool", CPU, (WORKERS,)))
    verdicts = {offers[0].label: OfferVerdict(False, "27b needs an A100", intended=True), "pool": OfferVerdict(True)}
    assert told(Plan(), offers, **verdicts)[1:] == ["template dask-digits: pool cpu"]


def test_a_generation_that_is_late_is_a_warning_with_a_way_on() -> None:
    late = replace(RETIRES, jobs=(job("tune-27b", "JOB_STATE_RUNNING", 14),), overdue=True)
    assert overdue(late).splitlines() == [
        "cluster cpu-0000000 should have retired by now: tune-27b still on it",
        "  fix: slipway jobs show tune-27b, or go on waiting",
    ]


def test_another_stack_in_the_project_is_a_warning() -> None:  # D6 P5
    def cluster(stack: str) -> PersistentResource:
        return replace(OLD, labels={STACK_LABEL: stack})

    alone = replace(NOTHING_LIVES, clusters=(cluster("prod"), replace(OLD, labels={})))
    assert neighbours("prod", alone) == ()
    (warning,) = neighbours("prod", replace(alone, clusters=(cluster("prod"), cluster("dev"))))
    assert warning.startswith("stack dev lives in this project as well")
    assert "pulumi up --stack dev" in warning


def test_nothing_is_said_of_neighbours_that_can_not_be_read() -> None:
    assert neighbours("prod", replace(NOTHING_LIVES, clusters=Unknown("no", "list", "roles/aiplatform.viewer"))) == ()


def test_pools_and_prices_in_words() -> None:
    gpus = PoolSpec("gpu", MachineSpec("a3-highgpu-8g", "NVIDIA_H100_80GB", 8, Disk("pd-ssd", 500)), 2, 2, False, 2)
    assert pool_in_words(gpus) == "a3-highgpu-8g with NVIDIA_H100_80GB × 8 × 2, pd-ssd 500 GB"
    assert price_in_words(total((ClusterSpec("h100", (gpus,)),), "europe-nowhere1")) == "price unknown"
    assert price_in_words(total((ClusterSpec("h100", (gpus,)),), "us-central1")) == "$202.28/h"


def test_a_destruction_tells_which_bucket_it_leaves_and_how_to_delete_it() -> None:
    buckets = (
        StateResource("catalog", "acme-dev-catalog", "acme-dev", "us-central1"),
        StateResource("work", "acme-dev-work", "acme-dev", "us-central1"),
    )
    assert outliving(State(buckets=buckets)).splitlines() == [
        "bucket gs://acme-dev-work stays, with people's results",
        "  to delete it and all in it: gcloud storage rm --recursive gs://acme-dev-work",
    ]
    adopted = State(buckets=buckets, spared=frozenset({"acme-dev-catalog", "acme-dev-work"}))  # N13
    assert outliving(adopted).splitlines()[2:] == ["bucket gs://acme-dev-catalog stays: it was there before the stack"]
    assert outliving(State()) == ""


def test_an_alternative_that_costs_less_has_the_minus_that_all_sums_have() -> None:
    larger = replace(CPU, pools=(replace(WORKERS, min=2),))
    less = MayBecome(CurrentCluster(CPU, "cpu-1a2b3c4", "", import_=False))
    assert less.words(larger, "us-central1").endswith(" at most (−$0.46/h idle)")
    assert less.words(CPU, "us-central1").endswith(" at most (+$0.00/h idle)")


def test_an_account_that_somebody_else_made_outlives_the_stack_and_its_own_does_not() -> None:  # N13
    theirs, own = "ml-training@acme-dev.iam.gserviceaccount.com", "dev-trainer@acme-dev.iam.gserviceaccount.com"
    called = {theirs: "", own: trainer_display_name("dev")}
    assert outliving(State(called=called)) == f"account {theirs} stays: it was there before the stack"


def test_an_adopted_cluster_says_that_nothing_becomes_of_it_and_one_that_is_left_that_it_is_kept() -> None:  # N13
    theirs = replace(CPU, adopted=Adoption("team-a"))
    assert told(Plan((of_current(CurrentCluster(theirs, "team-a", "", import_=True, state="RUNNING")),)))[1:] == [
        "cluster cpu: team-a, adopted, running; no deployment changes or deletes it",
        "  pool workers: n1-standard-8 × 1–4, pd-ssd 100 GB",
    ]
    assert told(Plan((Action("cpu", "team-a", What.LEAVE),)))[1:] == [
        "cluster cpu: team-a is kept, as it was adopted, and not offered"
    ]
    assert outliving(State(adopted=("team-a",))) == (
        "cluster team-a is kept, as it was adopted: it was there before the stack"
    )
