"""`slipway submit` on machines of its own: their quota, what is known of it, and what a run costs."""

import re
from copy import deepcopy

import pytest

from .stack import Stack
from .test_sweep import points

ANY = {"reservationAffinityType": "ANY_RESERVATION"}
L4 = {"machineType": "g2-standard-12", "acceleratorType": "NVIDIA_L4", "acceleratorCount": 1}


def test_a_spot_job_runs_beside_the_pool_when_quota_allows(stack: Stack) -> None:
    quota = {"quota.custom_model_training_preemptible_cpus": 64}
    before = stack.cloud.rest("GET", "/slipway/settings")["quota"]
    stack.cloud.rest("POST", "/slipway/settings", quota)
    try:
        done = stack.run("submit", "hello", "--capacity", "spot", "--wait")
    finally:
        stack.cloud.rest("POST", "/slipway/settings", {"quota": before})
    assert done.code == 0, done.err
    assert "spot: runs on 1 machine of its own" in done.out and "quota suffices" in done.out
    assert re.search(r"\n  this run: at most \$\d+\.\d\d in 7 days, its timeout\n", done.out)
    assert stack.jobs()[0]["jobSpec"].get("persistentResourceId") is None


def test_what_a_run_usually_costs_is_told_by_earlier_ones_before_it_is_sent(stack: Stack) -> None:  # Z8, N9
    before = stack.cloud.rest("GET", "/slipway/settings")["quota"]
    with stack.settings(quota={**before, "custom_model_training_preemptible_cpus": 64}):
        for _ in range(3):
            assert stack.run("submit", "hello", "--capacity", "spot", "--wait").code == 0
        said = stack.run("submit", "hello", "--capacity", "spot").out
        told = stack.run("submit", "hello", "--capacity", "spot", "--output", "json").json["run"]
        pool = stack.run("submit", "hello", "--output", "json").json
    assert re.search(r"this run: under \$0.01 in \d.*\(3 earlier runs in 30 days\), at most \$\d", said), said
    assert told["earlierRuns"] == 3 and told["timeoutSeconds"] == 7 * 24 * 3600 and told["usdComplete"] is True
    assert float(told["usd"]["least"]) <= float(told["usd"]["usualMost"]) < float(told["usd"]["most"])
    assert pool["run"] is None, "its machines are paid for anyway"


def test_a_spot_job_beyond_its_quota_is_refused_with_the_metric(stack: Stack) -> None:  # D2, P3
    done = stack.run("submit", "hello", "--capacity", "spot")
    assert done.code == 5
    assert "custom_model_training_preemptible_cpus us-central1: " in done.err and "needs 4, limit 1" in done.err


def test_a_spot_job_beyond_the_quota_of_disks_is_refused_before_it_is_queued_for_ever(stack: Stack) -> None:  # P3, P5
    before = stack.cloud.rest("GET", "/slipway/settings")["quota"]
    limits = {"custom_model_training_preemptible_cpus": 64, "custom_model_training_pd_ssd": 99}
    with stack.settings(quota={**before, **limits}):
        done = stack.run("submit", "hello", "--capacity", "spot")
    assert done.code == 5 and stack.jobs() == []
    assert "custom_model_training_pd_ssd us-central1: " in done.err and "needs 100, limit 99" in done.err


def test_with_a_catalog_of_an_earlier_version_it_is_said_what_was_not_read(stack: Stack) -> None:  # P5
    del stack.catalog["quotas"]
    stack.publish()
    before = stack.cloud.rest("GET", "/slipway/settings")["quota"]
    with stack.settings(quota={**before, "custom_model_training_preemptible_cpus": 64}):
        done = stack.run("submit", "hello", "--capacity", "spot")
    assert done.code == 0, done.err
    assert "PD SSD GB not" in done.out and "until the next pulumi up" in done.out


def test_without_the_role_for_quota_it_is_not_checked_and_never_refused(stack: Stack) -> None:  # P5
    stack.grant("roles/cloudquotas.viewer", False)
    try:
        done = stack.run("submit", "hello", "--capacity", "spot")
    finally:
        stack.grant("roles/cloudquotas.viewer")
    assert (
        "quota of vCPUs and PD" in done.out
        and "SSD GB not read: " in done.out
        and "roles/cloudquotas.viewer" in done.out
    )
    # The service itself refuses what is beyond its limit.
    assert done.code == 5 and "custom_model_training_preemptible_cpus" in done.err
    more = "slipway quota --request custom_model_training_preemptible_cpus=4 --contact EMAIL"
    assert f"  fix: ask for more: {more}\n" in done.err


def test_an_unavailable_offer_says_why(stack: Stack) -> None:
    stack.catalog["templates"]["hello"]["offers"][1].update(available=False, why="quota: short by 3")
    stack.publish()
    done = stack.run("submit", "hello", "--capacity", "spot")
    assert done.code == 5 and "quota: short by 3" in done.err


def test_quota_that_was_granted_since_the_deployment_counts(stack: Stack) -> None:  # P5
    spot = stack.catalog["templates"]["hello"]["offers"][1]
    spot.update(available=False, why="quota: short by 3", lacksQuota=True)
    stack.publish()
    before = stack.cloud.rest("GET", "/slipway/settings")["quota"]
    stack.cloud.rest("POST", "/slipway/settings", {"quota.custom_model_training_preemptible_cpus": 64})
    try:
        planned = stack.run("submit", "hello", "--capacity", "spot", "--dry-run")
        done = stack.run("submit", "hello", "--capacity", "spot", "--wait")
    finally:
        stack.cloud.rest("POST", "/slipway/settings", {"quota": before})
    assert planned.json["jobSpec"]["scheduling"]["strategy"] == "SPOT"
    assert done.code == 0, done.err
    assert "quota suffices" in done.out


def test_an_offer_that_lacked_quota_stays_closed_when_the_limit_can_not_be_read(stack: Stack) -> None:
    spot = stack.catalog["templates"]["hello"]["offers"][1]
    spot.update(available=False, why="quota: short by 3", lacksQuota=True)
    stack.publish()
    stack.grant("roles/cloudquotas.viewer", False)
    try:
        done = stack.run("submit", "hello", "--capacity", "spot")
    finally:
        stack.grant("roles/cloudquotas.viewer")
    assert done.code == 5
    assert "short by 3 (" in done.err and "can't be read now" in done.err


LACKS = {
    "pool": "cpu/workers: needs 10 machines, the pool's maximum is 3",
    "flex-start": "custom_model_training_preemptible_nvidia_l4_gpus us-central1: needs 10, limit 0",
    "spot": "custom_model_training_preemptible_cpus us-central1: needs 40, limit 1",
    "on-demand": "custom_model_training_cpus us-central1: needs 40, limit 39",
    "reservation": "the stack declares no reservation of 10 n1-standard-4 under slipway:reservations",
}


@pytest.mark.parametrize("type_", [*LACKS, ""])
def test_a_type_without_what_it_needs_is_no_choice_for_dry_run_and_sending_alike(
    stack: Stack, type_: str
) -> None:  # N3
    """A reservation was taken in a stack that has none."""
    pool, spot = stack.catalog["templates"]["crew"]["offers"]
    flex, plain, reserved = (
        deepcopy({**spot, "capacityType": one}) for one in ("flex-start", "on-demand", "reservation")
    )
    flex["request"]["jobSpec"]["scheduling"] = {"strategy": "FLEX_START", "maxWaitDuration": "60s"}
    for one in (plain, reserved):
        one["request"]["jobSpec"]["scheduling"] = {"strategy": "STANDARD"}
    for worker in flex["request"]["jobSpec"]["workerPoolSpecs"]:
        worker["machineSpec"] = L4
    for worker in reserved["request"]["jobSpec"]["workerPoolSpecs"]:
        worker["machineSpec"] = {**worker["machineSpec"], "reservationAffinity": ANY}
    stack.catalog["templates"]["crew"]["offers"] = [pool, flex, spot, plain, reserved]
    stack.publish()
    words = ("submit", "crew", "-p", "workers=9", *(("--capacity", type_) if type_ else ()))
    before = stack.cloud.rest("GET", "/slipway/settings")["quota"]
    with stack.settings(quota={**before, "custom_model_training_cpus": 39}):
        planned, done = stack.run(*words, "--dry-run"), stack.run(*words)
        swept = stack.run(*words[:2], "--sweep", points(stack, 2), *words[2:])
    assert planned.code == done.code == swept.code == 5 and stack.jobs() == []
    assert planned.err.partition("error:")[2] == done.err.partition("error:")[2]
    for why in [LACKS[type_]] if type_ else LACKS.values():
        assert why in " ".join(done.err.split()) and why in " ".join(swept.err.split())
