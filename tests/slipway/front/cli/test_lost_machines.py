"""A job that got no machines, or lost them too often: what to do now, with the commands to type (W2, X2, X6)."""

import shlex
from collections.abc import Iterator
from typing import Any

import pytest

from .catalogs import L4, NO_L4
from .stack import SLEEP, Stack

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
    done = submitted(scarce, "on-demand", "--follow")
    assert done.code == 4
    assert "are insufficient in region: us-central1." in done.err
    assert "service has stopped trying. What" in done.err
    assert commands(done.err) == [
        f"{QUOTED} -p workers=4 --capacity flex-start",
        f"{QUOTED} -p workers=4 --capacity spot",
        f"{QUOTED} -p workers=2 --capacity on-demand",
        f"{QUOTED} -p workers=4 --capacity on-demand --catalog gs://BUCKET",
    ]
    (job,) = scarce.jobs()
    name = job["displayName"]
    for again in (scarce.run("jobs", "wait", name), scarce.run("jobs", "logs", name, "--follow")):
        assert again.code == 4 and commands(again.err) == commands(done.err)
    shown = scarce.well("jobs", "show", name)
    assert commands(shown.out) == commands(done.err) and shown.out.count("  stock-out  ") == 3
    document = scarce.shown(name)
    assert [one["command"] for one in document["next"]] == commands(done.err) and document["restarts"] == 0

    # What is offered can be typed.
    assert [one["what"].split(":")[0] for one in document["next"]][2] == "fewer machines"
    request = scarce.well(*shlex.split(document["next"][0]["command"])[1:], "--dry-run").json
    assert request["jobSpec"]["scheduling"]["strategy"] == "FLEX_START"
    before, after = job["jobSpec"]["workerPoolSpecs"], request["jobSpec"]["workerPoolSpecs"]
    assert [one["containerSpec"]["args"] for one in after] == [one["containerSpec"]["args"] for one in before]
    assert [str(one["replicaCount"]) for one in after] == [str(one["replicaCount"]) for one in before]

    # A template that is gone leaves the sentence alone.
    del scarce.catalog["templates"]["crew"]
    scarce.publish()
    done = scarce.run("jobs", "wait", name)
    assert done.code == 4 and commands(done.err) == []
    assert "the service has stopped trying" in done.err


def test_a_flex_start_wait_that_is_over_offers_a_longer_one(scarce: Stack) -> None:  # W2
    done = submitted(scarce, "flex-start", "--wait-for", "flex-start=1s", "--wait")
    assert done.code == 4 and "machines did not arrive within" in done.err and "its maximum wait" in done.err
    assert [one.partition("--capacity ")[2] for one in commands(done.err)[:3]] == [
        "flex-start --wait-for flex-start=0",
        "spot",
        "on-demand",
    ]


def test_a_spot_job_that_was_preempted_too_often_offers_machines_that_stay(scarce: Stack) -> None:  # X1, X2
    preempted = {"preempt": [{"job": "crew", "after": 0, "times": -1}]}
    with scarce.scenario(spot=preempted), scarce.settings(spot_restarts=1):
        done = scarce.run("submit", "crew", "-p", f"code={SLEEP}", "-p", "workers=2", "--capacity", "spot", "--wait")
    assert done.code == 4 and "STOCKOUT: Spot VMs were preempted" in done.err
    assert "job was restarted 1 times." in done.err and "service restarts it no more" in done.err
    offered = [one.partition("--capacity ")[2] for one in commands(done.err)]
    assert offered == ["flex-start", "on-demand", "spot", "spot --catalog gs://BUCKET"]
    assert "restarts   1, 2 preemptions\n" in scarce.well("jobs", "show", scarce.jobs()[0]["displayName"]).out
