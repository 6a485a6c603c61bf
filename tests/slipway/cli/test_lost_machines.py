"""A job that got no machines, or lost them too often: what to do now, with the commands to type (W2, X2, X6)."""

import json
import shlex
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from .stack import REGION, SLEEP, Stack

L4 = {"machineType": "g2-standard-4", "acceleratorType": "NVIDIA_L4", "acceleratorCount": 1}
QUOTA = {
    "custom_model_training_preemptible_cpus": 64,
    "custom_model_training_preemptible_nvidia_l4_gpus": 8,
    "custom_model_training_nvidia_l4_gpus": 8,
}
SCHEDULING = {
    "on-demand": {"strategy": "STANDARD"},
    "flex-start": {"strategy": "FLEX_START", "maxWaitDuration": "86400s", "timeout": "3600s"},
    "spot": {"strategy": "SPOT"},
}
CODE = "print('it is $(HOME)')"


@pytest.fixture
def scarce(stack: Stack) -> Iterator[Stack]:
    """`crew` on L4 machines by three offers, where there are none for it, and a service that tries quickly."""
    template = stack.catalog["templates"]["crew"]
    offers = []
    for name, scheduling in SCHEDULING.items():
        offer = deepcopy(template["offers"][1]) | {"capacityType": name}
        offer["request"]["labels"]["slipway-capacity-type"] = name
        offer["request"]["jobSpec"]["scheduling"] = scheduling
        for spec in offer["request"]["jobSpec"]["workerPoolSpecs"]:
            spec["machineSpec"] = L4
        offers.append(offer)
    template["offers"] = offers
    stack.publish()
    no = {"at": 0, "region": REGION, "machine": "g2-standard-4", "strategy": "any", "machines": 0}
    stack.cloud.rest("POST", "/slipway/scenario", {"supply": [no]})
    with stack.settings(quota=QUOTA, stockout_retry_seconds=0.1, spot_restart_seconds=0.1):
        yield stack
    stack.cloud.rest("DELETE", "/slipway/scenario")


def submitted(stack: Stack, offer: str, *words: str, **more: str) -> Any:
    return stack.run("submit", "crew", "-p", f"code={CODE}", "-p", "workers=4", "--capacity", offer, *words, **more)


def commands(text: str) -> list[str]:
    return [line.strip().split("   ")[0].removeprefix("fix: ") for line in text.splitlines() if " submit crew " in line]


QUOTED = "slipway submit crew -p 'code=print('\"'\"'it is $(HOME)'\"'\"')'"


def test_a_stock_out_says_what_can_be_tried_with_the_jobs_parameters(
    scarce: Stack, snapshot: SnapshotAssertion
) -> None:  # Z4
    done = submitted(scarce, "on-demand", "--follow")
    assert done.code == 4
    assert "are insufficient in region: us-central1." in done.err
    assert "service has stopped trying. What" in done.err
    assert commands(done.err) == snapshot
    name = scarce.jobs()[0]["displayName"]
    for again in (scarce.run("jobs", "wait", name), scarce.run("jobs", "logs", name, "--follow")):
        assert again.code == 4 and commands(again.err) == commands(done.err)
    shown = scarce.run("jobs", "show", name)
    assert shown.code == 0 and commands(shown.out) == commands(done.err)
    assert shown.out.count("  stock-out  ") == 3
    document = scarce.run("jobs", "show", name, "--output", "json").json["job"]
    assert [one["command"] for one in document["next"]] == commands(done.err)
    assert document["restarts"] == 0


def test_what_is_offered_can_be_typed(scarce: Stack) -> None:  # Z4
    name = "".join(submitted(scarce, "on-demand", "--wait").out.split("job ")[1].split()[:1])
    before = scarce.jobs()[0]["jobSpec"]["workerPoolSpecs"]
    document = scarce.run("jobs", "show", name, "--output", "json").json["job"]
    assert [one["what"].split(":")[0] for one in document["next"]][2] == "fewer machines"
    words = shlex.split(document["next"][0]["command"])[1:]
    request = json.loads(scarce.run(*words, "--dry-run").out)
    assert request["jobSpec"]["scheduling"]["strategy"] == "FLEX_START"
    after = request["jobSpec"]["workerPoolSpecs"]
    assert [one["containerSpec"]["args"] for one in after] == [one["containerSpec"]["args"] for one in before]
    assert [str(one["replicaCount"]) for one in after] == [str(one["replicaCount"]) for one in before]


def test_a_flex_start_wait_that_is_over_offers_a_longer_one(scarce: Stack, snapshot: SnapshotAssertion) -> None:  # W2
    done = submitted(scarce, "flex-start", "--wait-for", "flex-start=1s", "--wait")
    assert done.code == 4 and "machines did not arrive within" in done.err and "its maximum wait" in done.err
    assert commands(done.err)[:3] == snapshot


def test_a_spot_job_that_was_preempted_too_often_offers_machines_that_stay(scarce: Stack) -> None:  # X1, X2
    scarce.cloud.rest("POST", "/slipway/scenario", {"spot": {"preempt": [{"job": "crew", "after": 0, "times": -1}]}})
    with scarce.settings(spot_restarts=1):
        done = scarce.run("submit", "crew", "-p", f"code={SLEEP}", "-p", "workers=2", "--capacity", "spot", "--wait")
    assert (
        done.code == 4 and "STOCKOUT: Spot VMs were preempted" in done.err and "job was restarted 1 times." in done.err
    )
    assert "service restarts it no more" in done.err
    assert [one.partition("--capacity ")[2] for one in commands(done.err)] == [
        "flex-start",
        "on-demand",
        "spot",
        "spot --catalog gs://BUCKET",
    ]
    name = scarce.jobs()[0]["displayName"]
    assert "restarts   1, 2 preemptions\n" in scarce.run("jobs", "show", name).out


def test_a_template_that_is_gone_leaves_the_sentence_alone(scarce: Stack) -> None:
    assert submitted(scarce, "on-demand", "--wait").code == 4
    del scarce.catalog["templates"]["crew"]
    scarce.publish()
    done = scarce.run("jobs", "wait", scarce.jobs()[0]["displayName"])
    assert done.code == 4 and commands(done.err) == []
    assert "the service has stopped trying" in done.err


def test_a_failure_of_the_code_gets_no_such_advice(stack: Stack) -> None:
    done = stack.run("submit", "hello", "-p", "code=raise SystemExit('Resources are insufficient')", "--wait")
    assert done.code == 4 and "--catalog gs://" not in done.err
