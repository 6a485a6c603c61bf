"""`slipway submit` on machines of its own: their quota, what is known of it, and what a run costs."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from .catalogs import L4, NO_L4
from .stack import SLEEP, SPOT_CPUS, Stack
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
    assert re.search(r" \(here: \d+(–\d+)? s, 3 times ", said), "how long it was waited for them"
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


def test_a_price_that_lacks_a_part_names_it(stack: Stack) -> None:  # Z8
    machine = {"machineType": "n1-standard-4", "acceleratorType": "NVIDIA_TESLA_T4", "acceleratorCount": 1}
    stack.beside_pools("hello", "on-demand", machine=machine)
    stack.publish()
    said = "prices are without the T4s, whose price no list has"
    quota = {"custom_model_training_nvidia_t4_gpus": 1, "custom_model_training_cpus": 40}
    with stack.settings(quota=quota):
        planned = stack.well("submit", "hello", "--dry-run")
    assert said in planned.err and said in stack.well("templates", "show", "hello").out
    assert "prices are" not in stack.well("templates", "show", "crew").out


LACKS = (
    "cpu/workers: needs 10 machines, the pool's maximum is 3",
    "custom_model_training_preemptible_nvidia_l4_gpus us-central1: needs 10, limit 0",
    "custom_model_training_preemptible_cpus us-central1: needs 40, limit 1",
    "custom_model_training_cpus us-central1: needs 40, limit 39",
    "the stack declares no reservation of 10 n1-standard-4",
)


def test_a_type_without_what_it_needs_is_no_choice_for_dry_run_and_sending_alike(stack: Stack) -> None:  # N3
    """A reservation was taken in a stack that has none."""
    pool = stack.offer("crew")
    stack.beside_pools("crew", "flex-start", "spot", "on-demand", "reservation")
    for worker in stack.spec("crew")["workerPoolSpecs"]:
        worker["machineSpec"] = G2
    for worker in stack.spec("crew", 3)["workerPoolSpecs"]:
        worker["machineSpec"] = {**worker["machineSpec"], "reservationAffinity": ANY}
    stack.catalog["templates"]["crew"]["offers"].insert(0, pool)
    stack.publish()
    words = ("submit", "crew", "-p", "workers=9")
    with stack.settings(quota={"custom_model_training_cpus": 39}):
        planned, done = stack.run(*words, "--dry-run"), stack.run(*words)
        swept = stack.run(*words[:2], "--sweep", points(stack, 2), *words[2:])
    assert planned.code == done.code == swept.code == 5 and stack.jobs() == []
    assert planned.err.partition("error:")[2] == done.err.partition("error:")[2]
    for why in LACKS:
        assert why in " ".join(done.err.split()) and why in " ".join(swept.err.split())


# A job that got no machines, or lost them too often: what to do now, with the commands to type (W2, X2, X6).


QUOTA = {
    "custom_model_training_preemptible_cpus": 64,
    "custom_model_training_preemptible_nvidia_l4_gpus": 8,
    "custom_model_training_nvidia_l4_gpus": 8,
}
CODE = "print('it is $(HOME)')"


@pytest.fixture
def scarce(stack: Stack) -> Iterator[Stack]:
    """`crew` on L4 machines by three offers, where there are none for it, and a service that tries quickly."""
    stack.beside_pools("crew", "on-demand", "flex-start", "spot", machine=L4)
    stack.publish()
    quick = {"stockout_retry_seconds": 0.1, "spot_restart_seconds": 0.1}
    with stack.scenario(supply=[NO_L4]), stack.settings(quota=QUOTA, **quick):
        yield stack


def submitted(stack: Stack, offer: str, *words: str, **more: str) -> Any:
    return stack.run("submit", "crew", "-p", f"code={CODE}", "-p", "workers=4", "--capacity", offer, *words, **more)


def commands(text: str) -> list[str]:
    return [line.strip().split("   ")[0].removeprefix("fix: ") for line in text.splitlines() if " submit crew " in line]


QUOTED = "slipway submit crew -p 'code=print('\"'\"'it is $(HOME)'\"'\"')'"


def test_a_stock_out_says_what_can_be_tried_with_the_jobs_parameters(scarce: Stack) -> None:  # Z4
    done = submitted(scarce, "on-demand", "--follow", "--yes")
    assert done.code == 4 and "service has stopped trying. What" in done.err
    assert commands(done.err) == [
        f"{QUOTED} -p workers=4 --capacity flex-start",
        f"{QUOTED} -p workers=4 --capacity spot",
        f"{QUOTED} -p workers=2 --capacity on-demand",
        f"{QUOTED} -p workers=4 --capacity on-demand --catalog gs://BUCKET",
    ]
    name = scarce.jobs()[0]["displayName"]
    for again in (scarce.run("jobs", "wait", name), scarce.run("jobs", "logs", name, "--follow")):
        assert again.code == 4 and commands(again.err) == commands(done.err)
    shown = scarce.well("jobs", "show", name)
    assert commands(shown.out) == commands(done.err) and shown.out.count("  stock-out  ") == 3
    assert [action["command"] for action in scarce.shown(name)["next"]] == commands(done.err)

    # A template that is gone leaves the sentence alone.
    del scarce.catalog["templates"]["crew"]
    scarce.publish()
    done = scarce.run("jobs", "wait", name)
    assert done.code == 4 and commands(done.err) == []
    assert "the service has stopped trying" in done.err


def test_a_flex_start_wait_that_is_over_offers_a_longer_one(scarce: Stack) -> None:  # W2
    done = submitted(scarce, "flex-start", "--wait-for", "flex-start=1s", "--wait", "--yes")
    assert done.code == 4 and "machines did not arrive within" in done.err and "its maximum wait" in done.err
    assert [command.partition("--capacity ")[2] for command in commands(done.err)[:3]] == [
        "flex-start --wait-for flex-start=0",
        "spot",
        "on-demand",
    ]


def test_a_spot_job_that_was_preempted_too_often_offers_machines_that_stay(scarce: Stack) -> None:  # X1, X2
    preempted = {"preempt": [{"job": "crew", "after": 0, "times": -1}]}
    with scarce.scenario(spot=preempted), scarce.settings(spot_restarts=1):
        done = scarce.run(
            "submit", "crew", "-p", f"code={SLEEP}", "-p", "workers=2", "--capacity", "spot", "--wait", "--yes"
        )
    assert done.code == 4 and "STOCKOUT: Spot VMs were preempted" in done.err
    assert "job was restarted 1 times." in done.err and "service restarts it no more" in done.err
    offered = [command.partition("--capacity ")[2] for command in commands(done.err)]
    assert offered == ["flex-start", "on-demand", "spot", "spot --catalog gs://BUCKET"]
    assert "restarts   1, 2 preemptions\n" in scarce.well("jobs", "show", scarce.jobs()[0]["displayName"]).out


def test_a_dry_run_tells_what_google_says_of_spot_machines_and_nothing_else_asks(roomy: Stack) -> None:  # N23
    done = roomy.well(*SPOT, "--dry-run", "--output", "json")
    missing = "Google's advice on Spot was not read: Required 'compute.advice.capacity' permission"
    assert missing in done.err and "ask for roles/compute.viewer on project" in done.err
    assert done.json["googleAdvice"] == []
    with roomy.granted("roles/compute.viewer"):
        done = roomy.well(*SPOT, "--dry-run", "--output", "json")
    assert (
        "  Google: Spot obtainability 0.7 in us-central1 for 1 n1-standard-4 (most stay 1 h), preempted 12 % "
        in done.err
    )
    (advice,) = done.json["googleAdvice"]
    assert (advice["machineType"], advice["obtainability"], advice["days"]) == ("n1-standard-4", 0.7, 30)
    assert "Google" not in roomy.well("submit", "hello", "--capacity", "pool", "--dry-run").err
    assert "Google:" not in roomy.well(*SPOT, "--wait").out


def test_advice_that_does_not_come_keeps_nobody_from_a_dry_run(roomy: Stack) -> None:  # N23
    with roomy.faults({"kind": "unavailable", "match": "advice"}):
        done = roomy.well(*SPOT, "--dry-run")
    assert "Google's advice on Spot was not read: " in done.err and "spot: runs on 1 machine of its own" in done.err
