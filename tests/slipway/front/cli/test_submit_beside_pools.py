"""`slipway submit` on machines of its own: their quota, what is known of it, and what a run costs."""

import re
from collections.abc import Iterator

import pytest

from .catalogs import L4
from .stack import SPOT_CPUS, Stack
from .test_sweep import points

ANY = {"reservationAffinityType": "ANY_RESERVATION"}
G2 = {**L4, "machineType": "g2-standard-12"}
SPOT = ("submit", "hello", "--capacity", "spot")


@pytest.fixture
def roomy(stack: Stack) -> Iterator[Stack]:
    """With quota for sixteen Spot machines."""
    with stack.settings(quota=SPOT_CPUS):
        yield stack


def test_a_spot_job_runs_beside_the_pool_and_earlier_ones_tell_what_one_costs(roomy: Stack) -> None:  # Z8, N9
    done = roomy.well(*SPOT, "--wait")
    assert "spot: runs on 1 machine of its own" in done.out and "quota suffices" in done.out
    assert re.search(r"\n  this run: at most \$\d+\.\d\d in 7 days, its timeout\n", done.out)
    assert roomy.jobs()[0]["jobSpec"].get("persistentResourceId") is None
    for _ in range(2):
        roomy.well(*SPOT, "--wait")
    done = roomy.well(*SPOT, "--output", "json")
    said = " ".join(done.err.split())
    assert re.search(r"this run: under \$0.01 in \d.*\(3 earlier runs in 30 days\), at most \$\d", said), said
    told = done.json["run"]
    assert told["earlierRuns"] == 3 and told["timeoutSeconds"] == 7 * 24 * 3600 and told["usdComplete"] is True
    assert float(told["usd"]["least"]) <= float(told["usd"]["usualMost"]) < float(told["usd"]["most"])
    assert roomy.run("submit", "hello", "--output", "json").json["run"] is None, "its machines are paid for anyway"


def test_without_the_role_for_quota_it_is_not_checked_and_never_refused(stack: Stack) -> None:  # P5
    with stack.without("roles/cloudquotas.viewer"):
        done = stack.run(*SPOT)
    assert "quota of vCPUs and PD" in done.out and "SSD GB not read: " in done.out
    assert "roles/cloudquotas.viewer" in done.out
    # The service itself refuses what is beyond its limit.
    assert done.code == 5 and "custom_model_training_preemptible_cpus" in done.err
    more = "slipway quota --request custom_model_training_preemptible_cpus=4 --contact EMAIL"
    assert f"  fix: ask for more: {more}\n" in done.err


def test_quota_that_was_granted_since_the_deployment_counts_where_it_can_be_read(stack: Stack) -> None:  # P5
    stack.offer(place=1).update(available=False, why="quota: short by 3")
    stack.publish()
    done = stack.run(*SPOT)
    assert done.code == 5 and "quota: short by 3" in done.err
    stack.offer(place=1).update(lacksQuota=True)
    stack.publish()
    with stack.without("roles/cloudquotas.viewer"):
        done = stack.run(*SPOT)
    assert done.code == 5 and "short by 3 (" in done.err and "can't be read now" in done.err
    with stack.settings(quota=SPOT_CPUS):
        planned, done = stack.well(*SPOT, "--dry-run"), stack.well(*SPOT)
    assert planned.json["jobSpec"]["scheduling"]["strategy"] == "SPOT" and "quota suffices" in done.out


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
    pool = stack.offer("crew")
    stack.beside_pools("crew", "flex-start", "spot", "on-demand", "reservation")
    for worker in stack.spec("crew")["workerPoolSpecs"]:
        worker["machineSpec"] = G2
    for worker in stack.spec("crew", 3)["workerPoolSpecs"]:
        worker["machineSpec"] = {**worker["machineSpec"], "reservationAffinity": ANY}
    stack.catalog["templates"]["crew"]["offers"].insert(0, pool)
    stack.publish()
    words = ("submit", "crew", "-p", "workers=9", *(("--capacity", type_) if type_ else ()))
    with stack.settings(quota={"custom_model_training_cpus": 39}):
        planned, done = stack.run(*words, "--dry-run"), stack.run(*words)
        swept = stack.run(*words[:2], "--sweep", points(stack, 2), *words[2:])
    assert planned.code == done.code == swept.code == 5 and stack.jobs() == []
    assert planned.err.partition("error:")[2] == done.err.partition("error:")[2]
    for why in [LACKS[type_]] if type_ else LACKS.values():
        assert why in " ".join(done.err.split()) and why in " ".join(swept.err.split())
