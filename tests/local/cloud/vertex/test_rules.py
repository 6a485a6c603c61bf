"""The pure parts: placement, lives of jobs and clusters, filters, environment (vertex-rules 2, 3.4, 3.5)."""

import json
import signal
import sqlite3
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.cloud.nodes import addresses, environment
from local.cloud.nodes.environment import Place
from local.cloud.nodes.spec import Status
from local.cloud.supply import machines
from local.cloud.supply.shape import Shape
from local.cloud.training_settings import TrainingSettings
from local.cloud.vertex import conditions
from local.cloud.vertex.clusters.records import Pool
from local.cloud.vertex.jobs import life as job_life
from local.cloud.vertex.jobs.records import Demand, Job, Replica, Run
from local.cloud.vertex.scheduling import placement
from local.cloud.wire import ApiError
from tests.local.cloud.vertex.conftest import START

SMALL, LARGE = (Shape(machine, None, 0, "pd-ssd", 100) for machine in ("n1-standard-4", "n1-standard-8"))
RULES = TrainingSettings()

# --- machines (7.1)


@pytest.mark.parametrize(
    ("machine", "accelerator", "count", "region", "field"),
    [
        ("a2-highgpu-1g", None, 0, "us-central1", "accelerator_type"),
        ("a2-highgpu-1g", "NVIDIA_TESLA_A100", 2, "us-central1", "accelerator_count"),
        ("a2-highgpu-1g", "NVIDIA_TESLA_T4", 1, "us-central1", "accelerator_type"),
        ("n2-standard-4", "NVIDIA_TESLA_T4", 1, "us-central1", "accelerator_type"),
        ("n1-standard-32", "NVIDIA_TESLA_T4", 1, "us-central1", "accelerator_count"),
        ("n1-standard-4", "NVIDIA_TESLA_T4", 1, "us-south1", "accelerator_type"),
        ("n1-standard-4", None, 1, "us-central1", "accelerator_count"),
        ("", None, 0, "us-central1", "machine_type"),
    ],
)
def test_a_machine_that_does_not_fit_its_accelerator_or_region(
    machine: str, accelerator: str | None, count: int, region: str, field: str
) -> None:
    assert [item for item, _ in machines.table().mistakes(machine, accelerator, count, region)] == [field]


@pytest.mark.parametrize(
    ("machine", "accelerator", "count"),
    [("a3-highgpu-8g", "NVIDIA_H100_80GB", 8), ("n1-standard-4", "NVIDIA_TESLA_T4", 4), ("e2-standard-4", None, 0)],
)
def test_machines_that_fit(machine: str, accelerator: str | None, count: int) -> None:
    assert machines.table().mistakes(machine, accelerator, count, "us-central1") == []


# --- placement

SIZES = st.lists(st.tuples(st.sampled_from([SMALL, LARGE]), st.integers(1, 5)), min_size=1, max_size=4)


@given(pools=SIZES, wanted=SIZES, taken=st.integers(0, 3))
def test_each_replica_gets_a_free_machine_of_its_shape_or_none_gets_any(
    pools: list[tuple[Shape, int]], wanted: list[tuple[Shape, int]], taken: int
) -> None:
    has = [Pool(f"p{at}", shape, size) for at, (shape, size) in enumerate(pools)]
    used = {pool.id: min(taken, pool.replicas) for pool in has}
    demands = [Demand(at, shape, count) for at, (shape, count) in enumerate(wanted)]
    placed = placement.place(demands, has, used)
    free = Counter[Shape]()
    for pool in has:
        free[pool.shape] += pool.replicas - used[pool.id]
    needs = Counter[Shape]()
    for demand in demands:
        needs[demand.shape] += demand.count
    fits = all(free[shape] >= count for shape, count in needs.items())
    assert (placed is not None) == fits
    if placed is not None:
        by_id = {pool.id: pool for pool in has}
        assert Counter(index for index, _ in placed) == Counter({item.index: item.count for item in demands})
        assert all(by_id[pool].shape == demands[index].shape for index, pool in placed)
        taken_now = Counter(pool for _, pool in placed)
        assert all(used[name] + count <= by_id[name].replicas for name, count in taken_now.items())


def test_a_job_that_does_not_fit_beside_others_makes_no_pool_grow() -> None:
    pools = [Pool("p", SMALL, 1, 1, 4)]
    assert placement.wanted([Demand(0, SMALL, 2)], pools, Counter(p=1)) == Counter(p=2)
    assert placement.wanted([Demand(0, SMALL, 4)], pools, Counter(p=1)) == Counter()


# --- the life of a job


def job(workers: int = 1, **changes: Any) -> tuple[Job, Run]:
    replicas = (
        Replica(0, 0, "p", "127.1.0.1", 2222, 7777),
        *(Replica(1, n, "p", f"127.1.0.{n + 2}", 2222, 7777) for n in range(workers)),
    )
    run = Run(
        number=1,
        name="projects/1/locations/us-central1/customJobs/7",
        state="JOB_STATE_PENDING",
        cluster="c",
        spot=False,
        demands=(Demand(0, SMALL, 1),),
        timeout_s=100,
        may_retry=True,
        email="a@b",
        replicas=replicas,
    )
    run = replace(run, **changes)
    return Job({"name": run.name, "state": run.state}, run), run


def seen(chief: Status, *workers: Status) -> Mapping[str, Status]:
    return {"workerpool0-0": chief} | {f"workerpool1-{n}": status for n, status in enumerate(workers)}


STARTING, RUNNING, DONE, STOPPED = (Status(phase) for phase in ("starting", "running", "exited", "stopped"))


def test_a_job_runs_once_all_its_replicas_do() -> None:
    waiting, run = job()
    assert job_life.advanced(waiting, run, seen(RUNNING, STARTING), START, RULES) is waiting
    after = job_life.advanced(waiting, run, seen(RUNNING, RUNNING), START, RULES)
    assert (after.body["state"], after.body["startTime"]) == ("JOB_STATE_RUNNING", "2026-11-20T10:00:00.000000Z")


def test_the_chief_s_success_is_the_job_s_once_the_others_have_been_ended() -> None:
    running, run = job(state="JOB_STATE_RUNNING", start_time="2026-11-20T09:59:00.000000Z")
    closing = job_life.advanced(running, run, seen(DONE, RUNNING), START, RULES)
    assert closing.body["state"] == "JOB_STATE_RUNNING"
    assert closing.run
    over = job_life.advanced(closing, closing.run, seen(DONE, STOPPED), START, RULES)
    assert (over.body["state"], over.run) == ("JOB_STATE_SUCCEEDED", None)
    assert "error" not in over.body


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (1, "The replica workerpool1-0 exited with a non-zero status of 1. Termination reason: Error."),
        (137, "The replica workerpool1-0 ran out of memory and exited with a non-zero status of 137."),
    ],
)
def test_a_failure_of_user_code_fails_the_job_in_the_service_s_words(code: int, words: str) -> None:
    running, run = job(state="JOB_STATE_RUNNING")
    closing = job_life.advanced(running, run, seen(RUNNING, Status("exited", code)), START, RULES)
    assert closing.run and closing.run.outcome
    assert closing.run.outcome.message == words
    assert closing.run.outcome.state == "JOB_STATE_FAILED"


@pytest.mark.parametrize("code", [int(signal.SIGABRT), 128 + signal.SIGABRT, 128 + signal.SIGSEGV])
def test_a_crash_is_tried_again_three_times_unless_retries_are_off(code: int) -> None:
    running, run = job(state="JOB_STATE_RUNNING")
    attempts = 0
    while True:
        after = job_life.advanced(running, run, seen(Status("exited", code), STOPPED), START, RULES)
        attempts += 1
        if after.run is None:
            break
        assert (after.body["state"], after.run.attempt, after.run.replicas) == ("JOB_STATE_QUEUED", attempts + 1, ())
        running, run = after, replace(after.run, replicas=run.replicas, state="JOB_STATE_RUNNING")
    assert attempts == 4
    assert after.body["state"] == "JOB_STATE_FAILED"
    once, run = job(state="JOB_STATE_RUNNING", may_retry=False)
    assert job_life.advanced(once, run, seen(Status("exited", code), STOPPED), START, RULES).run is None


def test_lost_machines_give_three_attempts_in_all() -> None:
    first, run = job(state="JOB_STATE_RUNNING")
    assert job_life.advanced(first, run, seen(Status("lost"), STOPPED), START, RULES).body["state"].endswith("QUEUED")
    last, run = job(state="JOB_STATE_RUNNING", attempt=3)
    over = job_life.advanced(last, run, seen(Status("lost"), STOPPED), START, RULES)
    assert over.body["error"] == {"code": 13, "message": "Internal error occurred for the current attempt."}


def test_user_code_that_fails_at_once_has_run_all_the_same() -> None:
    waiting, run = job()
    over = job_life.advanced(waiting, run, seen(Status("exited", 3), DONE), START, RULES)
    assert (over.body["state"], over.body["startTime"]) == ("JOB_STATE_FAILED", "2026-11-20T10:00:00.000000Z")
    halfway = job_life.advanced(waiting, run, seen(Status("exited", 3), STARTING), START, RULES)
    assert "startTime" not in halfway.body


def test_what_keeps_user_code_from_starting_is_told() -> None:
    waiting, run = job()
    over = job_life.advanced(waiting, run, seen(Status("unready", message="No image."), STOPPED), START, RULES)
    assert over.body["state"] == "JOB_STATE_FAILED"
    assert over.body["error"]["message"] == "The replica workerpool0-0 could not start. No image."
    assert "startTime" not in over.body


@pytest.mark.parametrize("state", ["JOB_STATE_CANCELLED", "JOB_STATE_FAILED"])
def test_a_timeout_counts_from_running(state: str) -> None:
    rules = TrainingSettings(timeout_state=state)
    running, run = job(state="JOB_STATE_RUNNING", start_time="2026-11-20T10:00:00.000000Z")
    both = seen(RUNNING, RUNNING)
    assert job_life.advanced(running, run, both, START + timedelta(seconds=99), rules) is running
    closing = job_life.advanced(running, run, both, START + timedelta(seconds=100), rules)
    assert closing.run
    over = job_life.advanced(closing, closing.run, seen(STOPPED, STOPPED), START, rules)
    assert (over.body["state"], "timeout of 100 s" in over.body["error"]["message"]) == (state, True)


def test_cancelling_ends_replicas_first_and_does_not_undo_a_success() -> None:
    running, run = job(state="JOB_STATE_RUNNING")
    closing = job_life.cancelled(running, run, START, "why")
    assert closing.body["state"] == "JOB_STATE_CANCELLING"
    assert closing.run
    over = job_life.advanced(closing, closing.run, seen(STOPPED, DONE), START, RULES)
    assert (over.body["state"], over.body["error"]["message"]) == ("JOB_STATE_CANCELLED", "why")
    succeeded = job_life.advanced(running, run, seen(DONE, RUNNING), START, RULES)
    assert succeeded.run
    assert job_life.cancelled(succeeded, succeeded.run, START, "late") is succeeded


# --- the filter of lists


@pytest.fixture(scope="module")
def database() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE jobs (display_name, state, cluster, create_time, body)")
    rows = [
        ("train-a", "JOB_STATE_RUNNING", "cpu", "2026-11-20T10:00:00.000000Z", {"team": "ml", "slipway-request": "r1"}),
        ("train-b", "JOB_STATE_FAILED", None, "2026-11-20T11:00:00.000000Z", {"team": "web"}),
        ("100%_x", "JOB_STATE_QUEUED", "gpu", "2026-11-20T12:00:00.000000Z", {}),
    ]
    for name, state, cluster, moment, labels in rows:
        body = json.dumps({"labels": labels} if labels else {})
        connection.execute("INSERT INTO jobs VALUES (?, ?, ?, ?, ?)", (name, state, cluster, moment, body))
    return connection


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", "train-a train-b 100%_x"),
        ('display_name="train-a"', "train-a"),
        ('displayName!="train-a"', "train-b 100%_x"),
        ('display_name:"train-*"', "train-a train-b"),
        ('display_name:"%_"', "100%_x"),
        ('state="JOB_STATE_RUNNING" OR state="JOB_STATE_QUEUED"', "train-a 100%_x"),
        ("state=JOB_STATE_FAILED", "train-b"),
        ("NOT state=JOB_STATE_FAILED", "train-a 100%_x"),
        ("-state=JOB_STATE_FAILED", "train-a 100%_x"),
        ('labels.slipway-request="r1"', "train-a"),
        ("labels.team:*", "train-a train-b"),
        ("labels.team!=ml", "train-b 100%_x"),
        ('create_time>"2026-11-20T10:30:00Z"', "train-b 100%_x"),
        ('create_time<="2026-11-20T12:00:00+01:00"', "train-a train-b"),
        ('job_spec.persistent_resource_id="gpu"', "100%_x"),
        ("labels.team:* AND (state=JOB_STATE_FAILED OR state=JOB_STATE_QUEUED)", "train-b"),
        # OR binds tighter than AND (AIP-160).
        ("labels.team=ml OR labels.team=web AND state=JOB_STATE_FAILED", "train-b"),
        ("labels.team=ml state=JOB_STATE_RUNNING", "train-a"),
    ],
)
def test_a_filter_finds(database: sqlite3.Connection, text: str, names: str) -> None:
    found = conditions.condition(text)
    rows = database.execute(f"SELECT display_name FROM jobs WHERE {found.sql}", found.values)
    assert [name for (name,) in rows] == names.split()


@pytest.mark.parametrize(
    "text",
    [
        "colour=red",
        "state",
        "state=",
        "state>JOB",
        "(state=x",
        "state=x)",
        "labels.a<b",
        'create_time>"noon"',
        "=",
        '"',
    ],
)
def test_a_filter_that_can_not_be_read_is_refused(text: str) -> None:
    with pytest.raises(ApiError, match="Invalid filter"):
        conditions.condition(text)


@given(st.text(max_size=40))
def test_no_text_breaks_the_filter(text: str) -> None:
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE jobs (display_name, state, cluster, create_time, body)")
    try:
        found = conditions.condition(text)
    except ApiError as error:
        assert error.code == 400
    else:
        database.execute(f"SELECT * FROM jobs WHERE {found.sql}", found.values)


# --- the environment of a replica (checklist 10)

SPEC = {"workerPoolSpecs": [], "baseOutputDirectory": {"outputUriPrefix": "gs://b/run/"}}
PLACES = [Place(0, 0, "127.1.0.1", 2222, 7777), *(Place(1, n, f"127.1.0.{n + 2}", 2222, 7777) for n in range(2))]


def test_a_replica_finds_the_others_and_itself() -> None:
    found = environment.variables(PLACES, PLACES[2], job_id="7", region="us-central1", spec=SPEC)
    cluster = json.loads(found["CLUSTER_SPEC"])
    assert cluster["cluster"] == {
        "workerpool0": ["127.1.0.1:2222"],
        "workerpool1": ["127.1.0.2:2222", "127.1.0.3:2222"],
    }
    assert cluster["task"] == {"type": "workerpool1", "index": 1}
    assert cluster["environment"] == "cloud"
    assert cluster["job"] == SPEC
    assert cluster["open_ports"] == [7777]
    assert json.loads(found["TF_CONFIG"])["task"] == {"type": "worker", "index": 1, "cloud": ""}
    assert (found["RANK"], found["WORLD_SIZE"]) == ("2", "3")
    assert (found["MASTER_ADDR"], found["MASTER_PORT"]) == ("127.1.0.1", "2222")


def test_the_project_is_its_number_and_outputs_lie_under_the_base() -> None:
    found = environment.variables(PLACES, PLACES[0], job_id="7", region="us-central1", spec=SPEC)
    assert found["CLOUD_ML_PROJECT_ID"] == "100000000001"
    assert (found["CLOUD_ML_JOB_ID"], found["CLOUD_ML_REGION"]) == ("7", "us-central1")
    assert found["AIP_MODEL_DIR"] == "gs://b/run/model/"
    assert found["AIP_CHECKPOINT_DIR"] == "gs://b/run/checkpoints/"
    assert found["AIP_TENSORBOARD_LOG_DIR"] == "gs://b/run/logs/"


def test_a_single_replica_is_the_chief_and_has_no_tf_config() -> None:
    found = environment.variables(PLACES[:1], PLACES[0], job_id="7", region="us-central1", spec={})
    assert json.loads(found["CLUSTER_SPEC"])["cluster"] == {"chief": ["127.1.0.1:2222"]}
    assert not {"TF_CONFIG", "RANK", "MASTER_ADDR", "AIP_MODEL_DIR"} & found.keys()


def test_an_evaluator_is_never_part_of_the_tensorflow_cluster() -> None:
    evaluator = Place(3, 0, "127.1.0.9", 2222, 7777)
    found = environment.tf_config([*PLACES, evaluator], evaluator, {})
    assert "evaluator" not in found["cluster"]
    assert found["task"]["type"] == "evaluator"


@pytest.mark.parametrize(
    ("text", "result"),
    [("$(A)/x", "1/x"), ("$$(A)", "$(A)"), ("$(B)", "$(B)"), ("$A", "$A"), ("$(A)$(A)", "11"), ("$$$(A)", "$$(A)")],
)
def test_references_are_expanded(text: str, result: str) -> None:
    assert environment.expanded(text, {"A": "1"}) == result


@given(st.sets(st.integers(1, 10**6), min_size=2, max_size=50))
def test_replicas_have_addresses_of_their_own(numbers: set[int]) -> None:
    found = [addresses.address(number, min(numbers), "linux") for number in sorted(numbers)]
    assert len({host for host, _, _ in found}) == len(numbers)
    assert found == sorted(found), "as the service's names, the chief's before those of the workers"
    assert all(host.startswith("127.") and not host.startswith("127.0.") for host, _, _ in found)
    elsewhere = addresses.address(min(numbers), min(numbers), "darwin")
    assert elsewhere[0] == "127.0.0.1"
    assert elsewhere[1] != elsewhere[2]


def test_jobs_that_listen_on_every_address_do_not_meet() -> None:
    """PyTorch's store does, wherever it is told to be."""
    ports = [addresses.address(number, first, "linux")[1:] for number, first in ((1, 1), (2, 1), (3, 3))]
    assert ports[0] == ports[1], "in a job the same, as in the service"
    assert not set(ports[0]) & set(ports[2])


def test_two_clouds_do_not_count_from_the_same_number() -> None:
    assert addresses.beginning(Path("/a/state")) != addresses.beginning(Path("/b/state"))
