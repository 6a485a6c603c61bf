"""Preview and `up` say in a few lines what happens to clusters, jobs and templates. # N1 # D7"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from syrupy.assertion import SnapshotAssertion

from slipway.cloud.clusters import PersistentResource
from slipway.cloud.jobs import VertexJob
from slipway.cluster import ClusterSpec, CurrentCluster, PoolSpec
from slipway.deployment.actions import of_current
from slipway.deployment.plan import Plan
from slipway.deployment.summary import made_otherwise, outliving, overdue, shared_grants, untold_grants, workspace
from slipway.deployment.workspace_plan import (
    RetiringWorkspaceResource,
    SharedGrant,
    WorkspacePlan,
    trainer_display_name,
)
from slipway.generations.action import Action, What, Why
from slipway.live import Live
from slipway.machines.spec import Disk, MachineSpec
from slipway.prices import price_in_words, total
from slipway.state import State, StateGrant, StateResource

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


def told(of: WorkspacePlan) -> list[str]:
    return list(workspace(Plan(workspace=of), NOW, "acme-dev-catalog"))


def test_what_becomes_of_accounts_and_buckets_and_late_clusters(snapshot: SnapshotAssertion) -> None:
    """What no job needs goes, but people's results stay."""
    tune = job("tune-27b", "JOB_STATE_RUNNING", 14, **{"slipway-user": "ada"})
    digits = job("digits", "JOB_STATE_QUEUED", None)
    retiring = (
        RetiringWorkspaceResource("trainer", "trainer", "old@acme.iam.gserviceaccount.com", (tune,)),
        RetiringWorkspaceResource("catalog", "catalog", "acme-catalog", (tune, digits)),
        RetiringWorkspaceResource("work", "work", "acme-work", (), Why.IN_USE),
    )
    released = (
        RetiringWorkspaceResource("catalog", "catalog", "acme-catalog"),
        RetiringWorkspaceResource("work", "work", "acme-work"),
        RetiringWorkspaceResource("catalog", "catalog.theirs", "theirs", adopted=True),
    )
    late = replace(RETIRES, jobs=(job("tune-27b", "JOB_STATE_RUNNING", 14),), overdue=True)
    page = (*told(WorkspacePlan(retiring=retiring)), *told(WorkspacePlan(released=released)), overdue(late))
    assert "\n".join(page) == snapshot


def test_grants_that_stay_for_another_stack_are_told_and_how_to_end_what_nobody_can_tell(
    snapshot: SnapshotAssertion,
) -> None:  # N1 P5
    team, trainer = "group:ml@acme.example", "serviceAccount:t@acme.iam.gserviceaccount.com"
    unread = ("gs://acme-prod-catalog/catalog.json: denied; it needs roles/storage.objectViewer",)
    needed = SharedGrant(StateGrant("submit", "roles/aiplatform.user", team), ("dev", "prod"))
    untold = [
        SharedGrant(StateGrant(role, f"roles/{role}", trainer, on), unread=unread)
        for role, on in (("viewer", ""), ("user", "gs://acme-work"), ("actor", "t@acme.iam.gserviceaccount.com"))
    ]
    (later,), (at_the_end,) = untold_grants([needed, *untold]), untold_grants([needed, *untold], "acme")
    assert "\n\n".join((shared_grants([needed, *untold]), later, at_the_end)) == snapshot
    assert (shared_grants(untold), untold_grants([needed])) == ("", ())


def test_prices_in_words() -> None:
    gpus = PoolSpec("gpu", MachineSpec("a3-highgpu-8g", "NVIDIA_H100_80GB", 8, Disk("pd-ssd", 500)), 2, 2, False, 2)
    assert price_in_words(total((ClusterSpec("h100", (gpus,)),), "europe-nowhere1")) == "price unknown"
    assert price_in_words(total((ClusterSpec("h100", (gpus,)),), "us-central1")) == "$202.28/h ($147,666 a month)"


def test_an_alternative_that_costs_less_has_the_minus_that_all_sums_have() -> None:
    larger = replace(CPU, pools=(replace(WORKERS, min=2),))
    made = CurrentCluster(replace(CPU, alternative=1), "cpu-1a2b3c4", "", import_=True)
    for asked, change in ((larger, "−$0.46/h"), (CPU, "+$0.00/h")):
        first = CurrentCluster(asked, "cpu-0000000", "", import_=False)
        (words,) = made_otherwise(Plan((of_current(first),)), Plan((of_current(made),)), (), "us-central1")
        assert f" a month) ({change} idle)" in words


def test_a_destruction_tells_what_it_leaves_and_how_to_delete_results(snapshot: SnapshotAssertion) -> None:  # N13
    """Buckets, accounts and clusters that somebody else made outlive the stack; its own account does not."""
    buckets = (
        StateResource("catalog", "acme-dev-catalog", "acme-dev", "us-central1"),
        StateResource("work", "acme-dev-work", "acme-dev", "us-central1"),
    )
    theirs, own = "ml-training@acme-dev.iam.gserviceaccount.com", "dev-trainer@acme-dev.iam.gserviceaccount.com"
    adopted = State(
        buckets=buckets,
        spared=frozenset({"acme-dev-catalog", "acme-dev-work"}),
        adopted=("team-a",),
        called={theirs: "", own: trainer_display_name("dev")},
    )
    assert "\n\n".join(map(outliving, (State(buckets=buckets), adopted))) == snapshot
    assert outliving(State()) == ""
