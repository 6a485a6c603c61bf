"""A stack's work bucket is another one by the time that something is sent again: still each request runs once. # N7

Its claim is where the first request has it, as that one's job may start at any moment.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from slipway.using.submission.request import attempt_id

from . import test_sweep as _sweep
from .stack import PROJECT, REGION, SPOT_CPUS, Stack, held
from .test_fallback import FETCHING, MOVE, gone, packaged, sent
from .test_submission_run import lagging, lost
from .test_sweep import every_job, points
from .test_sweep_gone import delete

_token = _sweep._token

SOON = {"SLIPWAY_LOOK_FOR": "1s"}


@pytest.fixture
def stack(small: Stack) -> Stack:
    return small


@pytest.fixture
def full(stack: Stack) -> None:
    held(stack)


@pytest.fixture
def launched(stack: Stack) -> Iterator[Stack]:
    """Its jobs have a launcher, and stay while they fetch their package."""
    packaged(stack)
    with stack.settings(quota=SPOT_CPUS):
        yield stack


def move(stack: Stack) -> None:
    """Publish the catalog with another work bucket, as an `up` does after an edit."""
    stack.cloud.rest("POST", f"/storage/v1/b?project={PROJECT}", {"name": f"w2-{stack.name}", "location": REGION})
    roles = stack.cloud.rest("GET", f"/storage/v1/b/w-{stack.name}/iam")["bindings"]
    policy = stack.cloud.rest("GET", f"/storage/v1/b/w2-{stack.name}/iam")
    stack.cloud.rest("PUT", f"/storage/v1/b/w2-{stack.name}/iam", {**policy, "bindings": roles})
    stack.catalog["storage"]["work"] = f"w2-{stack.name}"
    for offer in stack.catalog["templates"]["hello"]["offers"]:
        package = offer["request"]["jobSpec"]["workerPoolSpecs"][0]["pythonPackageSpec"]
        package["args"] = [one.replace(f"gs://w-{stack.name}/", f"gs://w2-{stack.name}/") for one in package["args"]]
    stack.publish()


def claims(jobs: list[dict[str, Any]]) -> list[str]:
    return [job["jobSpec"]["workerPoolSpecs"][0]["pythonPackageSpec"]["args"][1] for job in jobs]


def test_a_request_whose_answer_was_lost_keeps_its_claim(launched: Stack) -> None:
    """The second job had its claim in the new bucket, and both ran."""
    words = ("submit", "hello", "--request-id", "r1")
    with launched.faults(lost(), lagging(3600), FETCHING):
        assert launched.run(*words, **SOON).code == 75
        move(launched)
        launched.well(*words, **SOON)
    assert claims(launched.jobs()) == [f"gs://w-{launched.name}/claims/r1"] * 2
    output = launched.jobs()[0]["jobSpec"]["baseOutputDirectory"]["outputUriPrefix"]
    assert output.startswith(f"gs://w2-{launched.name}/jobs/"), "only the claim stays"


def test_a_request_that_was_sent_is_the_same_one(launched: Stack, tmp_path: Any) -> None:
    """It was `used before, for something else`, and to be sent by another id: once more."""
    package = launched.catalog["templates"]["hello"]["offers"][0]["request"]["jobSpec"]["workerPoolSpecs"][0]
    package["pythonPackageSpec"]["args"] += ["--", "--output=${slipway.output}"]
    launched.publish()
    words = ("submit", "hello", "--request-id", "r1")
    with launched.faults(FETCHING):
        launched.well(*words)
        move(launched)
        for _ in range(2):
            again = launched.well(*words)
            assert "nothing is sent again" in again.out, again.err
            launched.folder = tmp_path / "another machine"
            (launched.folder / ".git").mkdir(parents=True, exist_ok=True)
    assert len(launched.jobs()) == 1


@pytest.mark.usefixtures("full")
def test_a_job_that_waits_is_given_up_by_the_claim_that_it_has(launched: Stack, tmp_path: Any) -> None:
    """The claim was taken in the new bucket: the job on the pool ran as well, once it got its machine."""
    waiting = ("submit", "hello", "--wait-for", "pool=1h", "--then", "spot", "--request-id", "r1")
    with launched.faults(FETCHING):
        with launched.started(*waiting) as submitting:
            launched.until(lambda: len(sent(launched, "r1")) == 1)
            submitting.kill()
        move(launched)
        launched.folder = tmp_path / "another machine"
        (launched.folder / ".git").mkdir(parents=True)
        launched.well("submit", "hello", *MOVE, "--request-id", "r1")
        first, second = sent(launched, "r1")
    assert launched.read("claims/r1") == b"moved" and gone(first)
    assert claims([second]) == [f"gs://w2-{launched.name}/claims/{attempt_id('r1', 1)}"], "it was never sent before"


@pytest.mark.usefixtures("full")
def test_the_runs_of_a_sweep_keep_their_claims(launched: Stack) -> None:
    words = ("submit", "hello", "--sweep", points(launched, 3))
    with launched.faults(lost(times=3), lagging(3600)):
        with launched.started(*words, SLIPWAY_LOOK_FOR="1h") as sending:
            launched.until(lambda: launched.cloud.rest("GET", "/vertex-local/faults")["faults"][0]["times"] == 0)
            sending.kill()
        move(launched)
        launched.well(*words, **SOON)
    jobs = every_job(launched)
    sent_twice = [f"gs://w-{launched.name}/claims/{job['labels']['slipway-request']}" for job in jobs]
    assert claims(jobs) == sent_twice and len(jobs) == 6


@pytest.mark.usefixtures("full")
def test_a_run_that_has_begun_and_was_deleted_is_not_sent_again(launched: Stack) -> None:
    words = ("submit", "hello", "--sweep", points(launched, 3))
    launched.well(*words)
    delete(launched, "1")
    move(launched)
    again = launched.run(*words, "--output", "json")
    assert again.code == 4 and (again.json["gone"], again.json["accepted"]) == ([1], [])
    retried = launched.run(*words, "--retry-failed", "--output", "json")
    assert [(one["run"], one["attempt"]) for one in retried.json["accepted"]] == [(1, 1)]
    (job,) = [job for job in every_job(launched) if job["labels"]["slipway-run"] == "1-1"]
    assert claims([job])[0].startswith(f"gs://w2-{launched.name}/claims/"), "that one was never sent before"
