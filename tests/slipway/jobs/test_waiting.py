"""Why a job waits, in words; and how long earlier ones did: from what is listed, and from no less than three."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.cloud.clusters import PersistentResource, ResourcePool
from slipway.cloud.jobs import VertexJob, WorkerPool
from slipway.jobs.verdict import Outcome, Verdict
from slipway.jobs.waiting import WaitRange, earlier_filter, wait_range, wait_reason, with_wait_range
from slipway.machines.spec import MachineSpec
from tests.slipway.submission.conftest import job as a_job

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
N1 = MachineSpec("n1-standard-8")
POOL = ResourcePool("workers", N1, 2, 2, 1, 2)
CLUSTER = PersistentResource("projects/1/locations/r/persistentResources/cpu-1", "RUNNING", {}, (POOL,), NOW)
WAITING = replace(
    VertexJob.read(
        {"name": "projects/1/locations/r/customJobs/1", "displayName": "digits", "state": "JOB_STATE_QUEUED"}
    ),
    worker_pools=(WorkerPool(N1, 2),),
    persistent_resource_id="cpu-1",
    create_time=NOW,
)
HOLDER = replace(
    WAITING,
    name="projects/1/locations/r/customJobs/2",
    display_name="tune",
    state="JOB_STATE_RUNNING",
    start_time=NOW - timedelta(minutes=3),
    labels={"slipway-user": "ada"},
)


def why(job: VertexJob = WAITING, cluster: PersistentResource | None = CLUSTER, *others: VertexJob) -> str:
    return wait_reason(job, cluster, "cpu", (job, *others), NOW)


def test_a_full_pool_and_who_has_it() -> None:  # N9
    assert why(WAITING, CLUSTER, HOLDER) == (
        "pool full: cpu/workers has 2 of 2 machines busy with tune (ada, 3 min), this needs 2"
    )


def test_a_pool_that_grows() -> None:  # N9
    growing = replace(CLUSTER, state="UPDATING", pools=(replace(POOL, replicas=1, used=0),))
    assert why(WAITING, growing) == "pool grows: cpu/workers has 1 free, needs 2, grows 1 → 2 of 2 machines"


def test_free_machines_that_others_wait_for_as_well() -> None:  # N9
    other = replace(WAITING, name="projects/1/locations/r/customJobs/3")
    idle = replace(CLUSTER, pools=(replace(POOL, used=0),))
    assert why(WAITING, idle) == "queued by the service"
    assert why(WAITING, idle, other) == "queued by the service: machines are free, 1 other job waits as well"


def test_an_earlier_job_may_start_first_and_a_later_one_is_only_another() -> None:  # N9
    idle = replace(CLUSTER, pools=(replace(POOL, used=0),))
    other = replace(WAITING, name="projects/1/locations/r/customJobs/3", create_time=NOW - timedelta(minutes=1))
    assert why(WAITING, idle, other) == (
        "queued by the service: cpu/workers has 0 of 2 machines busy, this needs 2; "
        "1 job that waits already may start first"
    )
    later = replace(other, create_time=NOW + timedelta(minutes=1))
    assert why(WAITING, idle, later) == "queued by the service: machines are free, 1 other job waits as well"


def test_a_cluster_that_is_still_made() -> None:  # N9
    assert why(WAITING, replace(CLUSTER, state="PROVISIONING")) == "cluster cpu is PROVISIONING"


def test_a_cluster_that_failed_meanwhile() -> None:
    assert why(WAITING, replace(CLUSTER, state="ERROR", error="no machines")) == "cluster cpu is ERROR: no machines"


def test_getting_ready_is_no_waiting_for_machines() -> None:
    assert why(replace(WAITING, state="JOB_STATE_PENDING"), CLUSTER) == "accepted, getting ready to run"
    lost = replace(WAITING, state="JOB_STATE_PENDING", start_time=NOW, persistent_resource_id="", strategy="SPOT")
    assert why(lost, None) == "lost its machines, waits for others"


def test_beside_the_pools_the_service_names_two_causes_and_tells_not_which() -> None:  # N9
    said = why(replace(WAITING, persistent_resource_id=""), None)
    assert said == "queued by the service: its quota is in use, or there are no machines"


def test_a_cluster_that_cannot_be_read_is_said() -> None:
    assert "can't be read" in why(WAITING, None)


@pytest.mark.parametrize("state", ["QUEUED", "PENDING", "PAUSED", "UPDATING", "SOMETHING_NEW"])
def test_every_state_has_words(state: str) -> None:
    assert why(replace(WAITING, state=f"JOB_STATE_{state}"), None)


def earlier(seconds: float | None, *, capacity_type: str = "pool", on: str = "cpu-1", days: float = 1) -> VertexJob:
    """A job made so many days ago that started after `seconds`, or never."""
    made = NOW - timedelta(days=days)
    start = None if seconds is None else made + timedelta(seconds=seconds)
    return replace(a_job(on=on), create_time=made, start_time=start, labels={"slipway-capacity-type": capacity_type})


def test_the_range_is_from_the_shortest_to_the_longest_wait() -> None:  # Z3, N9
    found = wait_range([earlier(240), earlier(540), earlier(300)], "pool", "cpu-1", NOW)
    assert found == WaitRange(240, 540, 3)
    assert str(found) == "here: 4–9 min, 3 times in 30 days"


@pytest.mark.parametrize(
    ("shortest", "longest", "said"),
    [(2, 40, "2–40 s"), (960, 3 * 3600, "16 min–3 h"), (300, 302, "5 min"), (3600, 11520, "1 h–3 h 12 min")],
)
def test_units_are_said_once_where_they_are_the_same(shortest: float, longest: float, said: str) -> None:
    assert str(WaitRange(shortest, longest, 7)) == f"here: {said}, 7 times in 30 days"


def test_fewer_than_three_say_nothing() -> None:  # N9
    assert wait_range([earlier(240), earlier(540)], "pool", "cpu-1", NOW) is None
    assert wait_range([], "spot", "", NOW) is None


@pytest.mark.parametrize(
    "other",
    [
        earlier(9999, capacity_type="spot"),
        earlier(9999, on="cpu-2"),
        earlier(9999, days=31),
        earlier(None),
        replace(earlier(9999), create_time=None),
        replace(earlier(9999), labels={}),
    ],
    ids=["another capacity_type", "another cluster", "too old", "never started", "no creation", "not ours"],
)
def test_what_is_not_comparable_is_left_out(other: VertexJob) -> None:
    assert wait_range([earlier(1), other, earlier(2), earlier(3)], "pool", "cpu-1", NOW) == WaitRange(1, 3, 3)


@given(st.lists(st.floats(0, 86400), max_size=20))
def test_nothing_is_said_that_was_not_seen(seconds: list[float]) -> None:
    found = wait_range([earlier(one, capacity_type="spot", on="") for one in seconds], "spot", "", NOW)
    if found is None:
        assert len(seconds) < 3
    else:
        assert found.count == len(seconds)
        assert min(abs(found.shortest - one) for one in seconds) < 1e-3
        assert all(found.shortest - 1e-3 <= one <= found.longest + 1e-3 for one in seconds)


@pytest.mark.parametrize(
    ("capacity_type", "outcome", "told"),
    [
        ("pool", Outcome.SCALES, True),
        ("pool", Outcome.FULL, True),
        ("pool", Outcome.STARTS, False),
        ("pool", Outcome.NEVER, False),
        ("pool", Outcome.UNKNOWN, False),
        ("spot", Outcome.BESIDE, True),
        ("flex-start", Outcome.BESIDE, True),
        ("flex-start", Outcome.WAITS, True),
        ("flex-start", Outcome.NEVER, False),
        ("on-demand", Outcome.BESIDE, False),
    ],
)
def test_the_range_stands_where_machines_are_waited_for(capacity_type: str, outcome: Outcome, told: bool) -> None:
    verdict = Verdict(outcome, "the verdict", ("why",), holder="somebody")
    said = "the verdict (here: 4–9 min, 11 times in 30 days)" if told else "the verdict"
    assert with_wait_range(verdict, capacity_type, WaitRange(240, 540, 11)) == replace(verdict, text=said)
    assert with_wait_range(verdict, capacity_type, None) == verdict


def test_only_the_stacks_jobs_of_the_template_are_asked_for() -> None:
    assert earlier_filter("prod", "dask-digits") == (
        'labels.slipway-stack="prod" AND labels.slipway-template="dask-digits"'
    )
