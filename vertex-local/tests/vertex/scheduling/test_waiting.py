"""Waiting for machines: stock-out, the flex-start queue, reservations, clusters; and the quota that each draws
(W1, W2, W4, W6, Z6, Z7; vertex-rules 3.4, 4). What may not be combined: `contracts/refused_machines.txt`."""

from typing import Any

import pytest

from tests.vertex.scheduling.conftest import A100, ANY, HELD, SPECIFIC, Stage, gpu, reserved
from vertex_local.testing.bodies import autoscaled, job_body, pool, worker
from vertex_local.testing.calling import CLUSTERS, JOBS
from vertex_local.wire import ApiError

WORDS = "Resources are insufficient in region: us-central1. Try a different region or use a different accelerator."
N1 = "n1-standard-4"


# --- stock-out (Z7)


def test_a_stock_out_is_tried_three_times_and_then_told_in_the_service_s_words(stage: Stage) -> None:
    stage.supply((0, N1, "standard", 1))
    job = stage.submit(worker(), worker())
    assert stage.state(job) == "PENDING"
    assert stage.used() == {}, "what it does not have it does not draw"
    stage.step(59)
    assert len(stage.said(job)) == 1
    stage.step(1)
    assert stage.state(job) == "PENDING"
    stage.step(60)
    assert (stage.state(job), stage.error(job)) == ("FAILED", WORDS)
    assert stage.body(job)["error"]["code"] == 8
    assert [f"(try {n} of 3)" in line for n, line in enumerate(stage.said(job), 1)] == [True] * 3
    assert "startTime" not in stage.body(job)


def test_machines_that_come_meanwhile_are_taken(stage: Stage) -> None:
    stage.supply((0, N1, "any", 0), (90, N1, "any", 1))
    job = stage.submit()
    stage.step(60)
    stage.step(60)
    assert (stage.state(job), stage.machines_used()) == ("RUNNING", {(N1, "standard"): 1})


def test_a_stock_out_stands_in_nobody_s_way(stage: Stage) -> None:
    stage.supply((0, N1, "standard", 1))
    large = stage.submit(worker(), worker())
    small = stage.submit()
    stage.step()
    assert (stage.state(large), stage.state(small)) == ("PENDING", "RUNNING")


def test_machines_of_a_job_s_own_take_as_long_as_the_setting_says(stage: Stage) -> None:  # B4
    stage.set(machine_seconds=120, speed=2)
    job = stage.submit()
    for seconds in (0, 59):
        stage.step(seconds)
        assert (stage.state(job), bool(stage.used())) == ("PENDING", True), "it draws quota for them"
    stage.step(1)
    assert stage.state(job) == "RUNNING"


# --- flex-start (W1, W2)


def flex(stage: Stage, *workers: Any, **scheduling: Any) -> str:
    return stage.submit(*(workers or [gpu()]), strategy="FLEX_START", **scheduling)


def test_a_flex_start_job_gets_all_its_machines_at_once(stage: Stage) -> None:
    stage.supply((0, "a3-highgpu-8g", "flex-start", 2), (100, "a3-highgpu-8g", "flex-start", 3))
    job = flex(stage, gpu(), gpu(replicas=2))
    assert (stage.state(job), stage.machines_used()) == ("PENDING", {})
    assert "Waiting until 2026-11-21T10:00:00" in stage.said(job)[0]
    stage.step(100)
    assert (stage.state(job), stage.machines_used()) == ("RUNNING", {("a3-highgpu-8g", "flex-start"): 3})


def test_first_come_first_served_by_machine(stage: Stage) -> None:
    stage.supply((0, "a3-highgpu-8g", "any", 1), (0, "a2-highgpu-1g", "any", 1))
    first, large, small = flex(stage), flex(stage, gpu(), gpu()), flex(stage)
    other = flex(stage, gpu(A100))
    stage.step()
    assert [stage.state(job) for job in (first, large, small, other)] == ["RUNNING", "PENDING", "PENDING", "RUNNING"]
    stage.ends(first)
    assert [stage.state(job) for job in (first, large, small)] == ["SUCCEEDED", "PENDING", "PENDING"]
    stage.calling.call("POST", f"/v1/{large}:cancel", {})
    stage.step()
    assert stage.state(small) == "RUNNING"


def test_the_wait_ends_after_its_time(stage: Stage) -> None:
    stage.supply((0, "a3-highgpu-8g", "any", 0))
    day, short, ever = flex(stage), flex(stage, maxWaitDuration="1800s"), flex(stage, maxWaitDuration="0s")
    stage.set(speed=100)
    stage.step(1799)
    assert stage.state(short) == "PENDING"
    stage.step(1)
    assert (stage.state(short), stage.body(short)["error"]["code"]) == ("FAILED", 4)
    assert "duration of 1800 s" in stage.error(short)
    assert WORDS in stage.error(short)
    stage.step(24 * 3600 - 1800)
    assert (stage.state(day), stage.state(ever)) == ("FAILED", "PENDING")
    stage.step(365 * 24 * 3600)
    assert stage.state(ever) == "PENDING"


def test_how_it_ends_is_a_setting_and_an_expired_job_can_be_deleted(stage: Stage) -> None:
    stage.set(flex_expiry_state="JOB_STATE_EXPIRED")
    stage.supply((0, "a3-highgpu-8g", "any", 0))
    job = flex(stage, maxWaitDuration="10s")
    stage.step(10)
    assert stage.state(job) == "EXPIRED"
    listed = stage.calling.call("GET", f'{JOBS}?filter=state="JOB_STATE_EXPIRED"')["customJobs"]
    assert [item["name"] for item in listed] == [job]
    assert stage.calling.call("DELETE", f"/v1/{job}")["done"] is True


def test_a_flex_start_job_draws_preemptible_gpus_and_cpus_while_it_has_machines(stage: Stage) -> None:
    """W6: never the on-demand metrics."""
    stage.set(**{"quota.custom_model_training_nvidia_h100_gpus": 0})
    stage.supply((0, "a3-highgpu-8g", "any", 0), (10, "a3-highgpu-8g", "any", 1))
    job = flex(stage)
    assert stage.used() == {}
    stage.step(10)
    assert stage.used() == {
        "custom_model_training_preemptible_nvidia_h100_gpus": 8,
        "custom_model_training_preemptible_cpus": 208,
        "custom_model_training_pd_ssd": 100,
    }
    stage.ends(job)
    assert stage.used() == {}


def test_waiting_for_quota_is_being_queued_and_too_little_quota_is_refused(stage: Stage) -> None:
    stage.set(**{"quota.custom_model_training_preemptible_nvidia_h100_gpus": 8})
    first, second = flex(stage), flex(stage)
    stage.step()
    assert (stage.state(first), stage.state(second)) == ("RUNNING", "QUEUED")
    body = job_body(gpu(), gpu(), spec={"scheduling": {"strategy": "FLEX_START"}})
    error = stage.calling.refused("POST", JOBS, body)
    assert error.message.endswith("/custom_model_training_preemptible_nvidia_h100_gpus")
    stage.ends(first)
    assert stage.state(second) == "RUNNING"


def test_a_long_line_keeps_nobody_from_other_machines(stage: Stage) -> None:
    stage.supply((0, "a3-highgpu-8g", "any", 0))
    for _ in range(120):
        flex(stage)
    job = stage.submit()
    assert stage.state(job) == "PENDING"
    stage.step()
    assert stage.state(job) == "RUNNING"


# --- reservations (Z6)


def held(stage: Stage, count: int, **more: Any) -> None:
    stage.scenario(reservations={HELD: {"machine": "a3-highgpu-8g", "count": count}}, **more)


def reserved_count(stage: Stage, job: str) -> int:
    return sum(replica.reservation == HELD for replica in stage.run(job).replicas)


def test_a_reservation_is_drawn_and_given_back(stage: Stage) -> None:
    held(stage, 2)
    job = stage.submit(reserved(SPECIFIC), reserved(SPECIFIC))
    more = stage.submit(reserved(SPECIFIC))
    stage.step()
    assert (reserved_count(stage, job), stage.state(more)) == (2, "PENDING")
    assert "STOCKOUT" in stage.said(more)[0]
    stage.ends(job)
    stage.step(60)
    assert (stage.state(more), reserved_count(stage, more)) == ("RUNNING", 1)
    stage.ends(more)
    assert stage.used() == {}


def test_any_reservation_first_and_then_other_machines(stage: Stage) -> None:
    limit = {"region": "us-central1", "machine": "a3-highgpu-8g", "machines": 1}
    held(stage, 1, supply=[limit])
    job = stage.submit(reserved(ANY), reserved(ANY))
    stage.step()
    assert (stage.state(job), reserved_count(stage, job)) == ("RUNNING", 1)
    assert stage.machines_used() == {("a3-highgpu-8g", "standard"): 1}
    assert stage.state(stage.submit(reserved(ANY))) == "PENDING"


def test_what_reserved_machines_draw_is_a_setting(stage: Stage) -> None:
    held(stage, 1)
    stage.submit(reserved(SPECIFIC))
    assert stage.used()["custom_model_training_nvidia_h100_gpus"] == 8
    stage.set(reservation_quota="none")
    assert stage.used() == {}


def calendar(stage: Stage, **more: Any) -> None:
    window = {"machine": "a3-highgpu-8g", "count": 1, "from": 100, "until": 400}
    stage.scenario(reservations={HELD: window}, **more)


def test_a_reservation_in_calendar_mode_comes_and_goes_with_what_runs_on_it(stage: Stage) -> None:
    calendar(stage)
    with pytest.raises(ApiError, match="held can't be used: it does not exist"):
        stage.submit(reserved(SPECIFIC))
    stage.step(100)
    job = stage.submit(reserved(SPECIFIC))
    stage.step(299)
    assert (stage.state(job), reserved_count(stage, job)) == ("RUNNING", 1)
    stage.step(1)
    stage.step()
    assert (stage.state(job), reserved_count(stage, job)) == ("PENDING", 0)
    assert "has ended, and its VMs were deleted" in stage.said(job)[-3]
    for _ in range(2):
        stage.step(60)
    assert (stage.state(job), stage.error(job)) == ("FAILED", WORDS), "a job that names it gets no other machines"
    with pytest.raises(ApiError, match="it does not exist"):
        stage.submit(reserved(SPECIFIC))
    anywhere = stage.submit(reserved(ANY))
    stage.step()
    assert (stage.state(anywhere), reserved_count(stage, anywhere)) == ("RUNNING", 0)


def test_whether_training_may_use_one_in_calendar_mode_is_a_setting(stage: Stage) -> None:
    calendar(stage)
    stage.set(calendar_reservations="refused")
    stage.step(100)
    with pytest.raises(ApiError, match="calendar mode"):
        stage.submit(reserved(SPECIFIC))
    job = stage.submit(reserved(ANY))
    stage.step()
    assert (stage.state(job), reserved_count(stage, job)) == ("RUNNING", 0)
    held(stage, 1)
    stage.submit(reserved(SPECIFIC))


# --- persistent resources draw the same machines


def test_a_cluster_without_machines_ends_in_error_and_holds_none(stage: Stage) -> None:
    stage.supply((0, N1, "standard", 3))
    assert stage.calling.cluster("one")["state"] == "RUNNING"
    failed = stage.calling.cluster("two")
    assert (failed["state"], failed["error"]) == ("ERROR", {"code": 8, "message": WORDS})
    assert stage.machines_used() == {(N1, "standard"): 2}
    stage.calling.call("DELETE", f"{CLUSTERS}/one")
    stage.calling.call("DELETE", f"{CLUSTERS}/two")
    assert stage.calling.cluster("two")["state"] == "RUNNING"


def test_a_cluster_that_will_fail_takes_no_machines_meanwhile(stage: Stage) -> None:
    stage.set(create_seconds=60)
    stage.supply((0, N1, "any", 1))
    stage.calling.cluster("late")
    assert stage.machines_used() == {}
    job = stage.submit()
    stage.step()
    assert stage.state(job) == "RUNNING"
    stage.calling.advance(60)
    assert stage.calling.call("GET", f"{CLUSTERS}/late")["state"] == "ERROR"


def test_a_failed_cluster_that_is_rebooted_needs_machines_and_quota_like_a_new_one(stage: Stage) -> None:
    stage.supply((0, N1, "any", 0), (60, N1, "any", 2))
    assert stage.calling.cluster("cpu")["state"] == "ERROR"
    stage.calling.call("POST", f"{CLUSTERS}/cpu:reboot", {})
    stage.step()
    assert (stage.calling.call("GET", f"{CLUSTERS}/cpu")["state"], stage.used()) == ("ERROR", {})
    stage.set(**{"quota.custom_model_training_cpus": 4})
    assert stage.calling.refused("POST", f"{CLUSTERS}/cpu:reboot", {}).code == 429
    stage.set(**{"quota.custom_model_training_cpus": 8})
    stage.step(60)
    stage.calling.call("POST", f"{CLUSTERS}/cpu:reboot", {})
    stage.step()
    assert stage.calling.call("GET", f"{CLUSTERS}/cpu")["state"] == "RUNNING"


def test_pools_grow_as_far_as_there_are_machines(stage: Stage) -> None:
    stage.supply((0, N1, "any", 2), (60, N1, "any", 3))
    stage.calling.cluster("cpu", resourcePools=[autoscaled(1, 4)])
    jobs = [stage.calling.job(cluster="cpu", displayName=f"j{n}")["name"] for n in range(4)]
    stage.step()
    assert [stage.state(job) for job in jobs] == ["RUNNING", "RUNNING", "QUEUED", "QUEUED"]
    stage.step(60)
    assert [stage.state(job) for job in jobs] == ["RUNNING", "RUNNING", "RUNNING", "QUEUED"]
    assert stage.machines_used() == {(N1, "standard"): 3}


def test_pools_of_one_cluster_share_the_machines(stage: Stage) -> None:
    stage.supply((0, N1, "any", 3))
    pools = [pool(N1, 1, id="a"), pool(N1, 3, id="b")]
    assert stage.calling.cluster("cpu", resourcePools=pools)["state"] == "ERROR"
