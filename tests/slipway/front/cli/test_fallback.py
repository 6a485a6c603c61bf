"""A job that waits falls back to the next offer: never two runs, none lost, none ended just after its start."""

import shlex
import signal
from typing import Any

import pytest

from slipway.using.submission.request import attempt_id

from .stack import SLEEP, SPOT_CPUS, Stack, held

CANCEL = r"^POST .*:cancel$"
CREATE = r"^POST .*/customJobs$"
MOVE = ("--wait-for", "pool=1s", "--then", "spot")
FETCHING = {"kind": "hold", "match": r"none\.tar\.gz"}
"""Keeps a job of `packaged` from failing while a test looks at it."""


def packaged(stack: Stack) -> None:
    """`hello` as a package with a launcher. There is none: a job that gets as far as to fetch it fails."""
    for offer in stack.catalog["templates"]["hello"]["offers"]:
        spec = offer["request"]["jobSpec"]["workerPoolSpecs"][0]
        del spec["containerSpec"]
        spec["pythonPackageSpec"] = {
            "executorImageUri": "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:latest",
            "packageUris": [f"gs://c-{stack.name}/packages/none.tar.gz"],
            "pythonModule": "slipway_launcher",
            "args": ["--claim", f"gs://w-{stack.name}/claims/${{slipway.request}}", "--module", "digits.task"],
        }
    stack.publish()


def sent(stack: Stack, request_id: str) -> list[dict[str, Any]]:
    """The jobs of a submission's first two sendings, in order."""
    wanted = [attempt_id(request_id, number) for number in range(2)]
    found = {job["labels"]["slipway-request"]: job for job in stack.jobs()}
    return [found[id_] for id_ in wanted if id_ in found]


def gone(job: dict[str, Any]) -> bool:
    return job["state"] in ("JOB_STATE_CANCELLING", "JOB_STATE_CANCELLED") and "startTime" not in job


@pytest.mark.parametrize("launcher", [True, False], ids=["package", "image"])
def test_a_wait_that_runs_out_moves_the_job_on(full: Stack, launcher: bool) -> None:  # N3
    if launcher:
        packaged(full)
    with full.faults(FETCHING):
        done = full.run("submit", "hello", *MOVE, "--request-id", "r1", "--output", "json")
        assert done.code == 0, done.err
        first, second = sent(full, "r1")
        assert gone(first) and second["labels"]["slipway-capacity-type"] == "spot"
        assert full.read("claims/r1") == b"moved"
        assert done.json["requestId"] == "r1" and done.json["attemptId"] == attempt_id("r1", 1)
        assert done.json["job"]["name"] == second["name"]
        assert "waits here up to 1 s" in done.err and "then moves on to spot" in done.err
        sure = ", and none of its code runs" if launcher else ", unless it has just begun"
        assert "did not start on pool cpu" in done.err and "next is spot" in done.err
        assert f"that job is cancelled{sure}" in done.err, "it is no failure"
        assert f"fell back  to {second['displayName']} (spot)" in full.run("jobs", "show", first["displayName"]).out
        again = full.run("submit", "hello", *MOVE, "--request-id", "r1", "--output", "json")
        assert again.code == 0 and again.json["fresh"] is False and len(sent(full, "r1")) == 2
        assert again.json["job"]["name"] == second["name"]


def test_a_job_that_starts_in_time_is_kept(stack: Stack) -> None:  # N3
    with stack.settings(quota=SPOT_CPUS):
        done = stack.run("submit", "hello", "--wait-for", "pool=5m", "--then", "spot", "--request-id", "r1")
    assert done.code == 0, done.err
    assert len(sent(stack, "r1")) == 1 and stack.read("claims/r1") == b""


def test_a_job_that_has_just_started_is_kept(full: Stack) -> None:  # N3
    """The launcher of a replica was first; the service does not tell yet."""
    packaged(full)
    with full.started("submit", "hello", *MOVE, "--request-id", "r1", "--output", "json") as waiting:
        with full.faults({"kind": "hold", "match": r"^GET .*/customJobs/\d"}):
            full.until(lambda: len(sent(full, "r1")) == 1)
            full.write("claims/r1", b"4711")
        assert waiting.wait() == 0
    assert [job["state"] for job in sent(full, "r1")] == ["JOB_STATE_QUEUED"]
    assert full.read("claims/r1") == b"4711"


def test_it_stays_while_no_other_offer_can_run(small: Stack) -> None:  # N3
    holder = held(small)
    with small.started("submit", "hello", *MOVE, "--request-id", "r1") as waiting:
        assert waiting.stderr is not None
        while "can run now" not in (line := waiting.stderr.readline()):
            assert line
        assert "after pool cpu can run now" in line
        small.run("jobs", "cancel", holder)
        assert waiting.wait() == 0
        assert waiting.stdout is not None
        short = "quota custom_model_training_preemptible_cpus us-central1: needs 4, limit 1"
        told = waiting.stdout.read()
        assert "until it starts\n" in told and f"spot can never run: {short}\n" in told
        assert waiting.stderr.readline() == f"  {short}\n"
    assert len(sent(small, "r1")) == 1 and "startTime" in sent(small, "r1")[0]


def test_ctrl_c_leaves_it_in_the_queue_and_the_printed_command_goes_on(full: Stack) -> None:  # N3
    words = ("submit", "hello", "--wait-for", "pool=10m", "--then", "spot")
    with full.started(*words) as waiting:
        assert waiting.stderr is not None
        while "waiting" not in (line := waiting.stderr.readline()):
            assert line
        waiting.send_signal(signal.SIGINT)
        assert waiting.wait() == 130
        said = waiting.stderr.read()
    assert "stopped waiting" in said and "Traceback" not in said
    again = shlex.split(said.partition("to go on: slipway ")[2])
    assert again[: len(words)] == list(words) and again[-2] == "--request-id"
    with full.started(*again):
        full.cancel_all()
    assert len(full.jobs()) == 2


def test_an_image_that_began_while_it_was_given_up_is_said_and_nothing_more_is_sent(full: Stack) -> None:  # N3
    """As left behind by a process that was killed after its cancel had arrived: the job shows a start time."""
    done = full.run(
        "submit", "hello", "-p", f"code={SLEEP}", "--capacity", "spot", "--request-id", "r1", "--output", "json"
    )
    name = done.json["job"]["name"]
    full.until(lambda: full.cloud.rest("GET", f"/v1/{name}")["state"] == "JOB_STATE_RUNNING")
    full.write("claims/r1", b"moved")
    full.cloud.rest("POST", f"/v1/{name}:cancel", {})
    words = ("submit", "hello", "-p", f"code={SLEEP}", "--wait-for", "spot=1s", "--then", "pool", "--request-id", "r1")
    again = full.run(*words)
    assert again.code == 8, again.err
    assert "began just when its wait" in again.err and len(sent(full, "r1")) == 1


def test_the_last_one_refused_the_same_command_is_told_not_to_go_back_and_another_one_does(full: Stack) -> None:  # N3
    """The quota for Spot is taken away once the job was given up for it: the same command met that for ever."""
    words = ("submit", "hello", *MOVE, "--request-id", "r1")
    with full.faults({"kind": "delay", "match": CANCEL, "seconds": 60.0}), full.started(*words) as sending:
        full.until(lambda: len(full.jobs()) == 2 and full.read(claim(full)) == b"moved")
        sending.kill()
    with full.settings(quota={"custom_model_training_preemptible_cpus": 1}):
        refused = full.run(*words)
    assert refused.code == 5 and "needs 4, limit 1" in refused.err
    goes_on, anew = refused.err.rstrip().splitlines()[-2:]
    assert goes_on.endswith("--request-id r1")
    assert shlex.split(anew.partition("the first capacity type again: slipway ")[2]) == list(words[:-2])


def claim(stack: Stack) -> str:
    return f"claims/{stack.jobs()[0]['labels']['slipway-request']}"
