"""`slipway jobs cancel` and `jobs wait`, of one job and of several; and which job is meant by a text."""

import json
from typing import Any

import pytest

from slipway.google.vertex import Vertex
from tests.slipway.front.cli.past import Past
from tests.slipway.front.cli.stack import SLEEP, Stack, held

pytestmark = pytest.mark.smoke


def sent(stack: Stack, code: str = SLEEP, *words: str, **variables: str) -> str:
    return str(stack.sends("hello", "-p", f"code={code}", *words, **variables)["displayName"])


def states(stack: Stack) -> dict[str, str]:
    return {job["displayName"]: job["state"].removeprefix("JOB_STATE_") for job in stack.jobs()}


def test_an_ended_job_is_not_cancelled(past: Past) -> None:
    done = past.run("jobs", "cancel", past.fine)
    assert done.code == 4 and f"job {past.fine} has ended" in done.err and "nothing to cancel" in done.err
    assert "why: succeeded" in done.err
    row = past.run("pools", "--output", "json").json["pools"][0]
    assert row["busy"] == 0 and row["idleSince"] is not None


def test_a_job_that_ends_meanwhile_is_not_cancelled(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    cancel, name = Vertex.cancel, sent(stack)

    def late(vertex: Vertex, job: str) -> None:
        cancel(vertex, job)
        stack.all_end()
        cancel(vertex, job)

    monkeypatch.setattr(Vertex, "cancel", late)
    done = stack.run("jobs", "cancel", name)
    assert done.code == 4 and f"job {name} has ended, there is nothing to cancel" in done.err, done.err
    assert f"fix: slipway jobs show {name}" in done.err


@pytest.mark.parametrize("verb", ["show", "logs", "wait", "cancel"])
def test_an_unknown_job_is_an_error_with_the_nearest_name(past: Past, verb: str) -> None:
    done = past.run("jobs", verb, past.fine[:-1])
    assert done.code == 4 and f"error: no job '{past.fine[:-1]}'" in done.err
    assert f"fix: {past.fine}, if that was" in done.err


HOME = "projects/standing-stacks/locations"


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("4711", 4, "no job '4711'"),
        ('a"b', 4, "no job"),
        (f"{HOME}/europe-west4/customJobs/4", 2, "the catalog's stack in us-central1"),
        ("projects/another/locations/us-central1/customJobs/4", 2, "the catalog's stack in standing-stacks"),
        ("projects/standing-stacks/persistentResources/4", 2, "invalid job name"),
    ],
)
def test_what_names_no_job_here(standing: Stack, text: str, code: int, said: str) -> None:
    done = standing.run("jobs", "show", text)
    assert done.code == code and said in done.err


def test_waiting_goes_on_when_the_service_is_away_for_a_while_and_ends_after_the_time_that_is_set(stack: Stack) -> None:
    def away(times: int) -> dict[str, Any]:
        return {"kind": "unavailable", "match": r"^GET .*/customJobs/\d+$", "times": times}

    name = sent(stack, "import time; time.sleep(1)")
    with stack.faults(away(6)):
        done = stack.well("jobs", "wait", name)
    assert "no contact" in done.err and "Ctrl-C loses nothing" in done.err
    name = sent(stack)
    with stack.faults(away(100)):
        done = stack.run("jobs", "wait", name, SLIPWAY_NO_CONTACT="1s")
    assert done.code == 4 and f"{name} goes on; come back" in done.err


def test_several_jobs_are_cancelled_and_waited_for_in_one_command(stack: Stack) -> None:
    first, second = sent(stack), sent(stack)
    late = stack.run("jobs", "wait", first, second, "--timeout", "1s")
    assert late.code == 9 and f"error: job {first} has not ended after" in late.err, "a time is that of all together"
    done = stack.well("jobs", "cancel", first, second, first)
    assert done.out == f"cancelling {first} and {second}\n" and f"slipway jobs wait {first} {second}" in done.err
    waited = stack.run("jobs", "wait", first, second)
    assert waited.code == 8 and f"error: job {first} was cancelled\n" in waited.err
    assert f"       also: job {second} was cancelled\n" in waited.err
    document = stack.run("jobs", "wait", first, second, "--output", "json")
    assert document.code == 8 and [job["displayName"] for job in document.json["jobs"]] == [first, second]


@pytest.mark.parametrize("text", ["name", "chosen", "request"])
def test_a_job_just_sent_is_cancelled_though_no_list_shows_it(stack: Stack, text: str) -> None:
    """`no job of that name`, exit code 4, and the job ran afterwards."""
    held(stack)
    with stack.faults({"kind": "lagging-list", "match": "GET .*/customJobs", "seconds": 60}):
        name = sent(stack, SLEEP, "--capacity", "pool", "--request-id", "mine", "--name", "chosen")
        typed = {"name": name, "chosen": "chosen", "request": "mine"}[text]
        unknown = stack.run("jobs", "cancel", typed, SLIPWAY_JOURNAL="other")
        assert unknown.code == 4 and "a list may hide a job for a minute" in unknown.err
        assert f"cancelling {name}\n" in stack.well("jobs", "cancel", typed).out
    stack.until(lambda: states(stack)[name] == "CANCELLED")


def test_the_copies_of_a_job_are_cancelled_with_it(stack: Stack) -> None:
    """The same request was sent from two machines, and none of its jobs has begun: one that stays would run it."""
    held(stack)
    words = ("submit", "hello", "--capacity", "pool", "--request-id", "twice")
    names = [stack.well(*words, "--output", "json").json["job"]["displayName"]]
    with stack.faults({"kind": "lagging-list", "match": "GET .*/customJobs", "seconds": 60}):
        found = stack.well(*words, "--output", "json", SLIPWAY_JOURNAL="other").json
        assert found["fresh"] is False, "its claim names it"
        stack.write("claims/twice/accepted", b"")  # The first command was killed before it noted that.
        names += [stack.well(*words, "--output", "json", SLIPWAY_JOURNAL="third").json["job"]["displayName"]]
    first, second = names
    assert first == second
    done = stack.well("jobs", "cancel", first)
    assert done.out == f"cancelling {first}\n" and "all 2 jobs of request twice are cancelled" in done.err
    stack.until(
        lambda: [job["state"] for job in stack.jobs() if job["displayName"] == first] == ["JOB_STATE_CANCELLED"] * 2
    )
    again = stack.run("jobs", "cancel", first)
    assert again.code == 4 and f"job {first} has ended" in again.err


def test_the_code_is_that_of_the_first_that_failed_and_all_are_waited_for(stack: Stack) -> None:
    good, bad, going = sent(stack, "print(1)"), sent(stack, "raise SystemExit(3)"), sent(stack)
    assert stack.well("jobs", "wait", good, "--output", "json").json["job"]["ended"] is True, "of one its document"
    unknown = stack.run("jobs", "cancel", going, "nosuch")
    assert unknown.code == 4 and "no job 'nosuch'" in unknown.err and states(stack)[going] != "CANCELLING"
    done = stack.run("jobs", "cancel", good, going)
    assert done.code == 4 and f"job {good} has ended" in done.err and done.out == f"cancelling {going}\n"
    done = stack.run("jobs", "wait", going, good, bad)
    assert done.code == 4 and f"error: job {bad} failed\n" in done.err
    assert f"also: job {going} was cancelled\n" in done.err and states(stack)[good] == "SUCCEEDED"
    assert stack.run("jobs", "cancel").code == stack.run("jobs", "wait").code == 2


def test_a_job_is_found_by_the_id_of_its_request(past: Past) -> None:
    """The id is what a script knows, and what a submission is told by."""
    for verb in ("show", "logs", "wait"):
        done = past.run("jobs", verb, "nightly")
        assert done.code == 0 and done.err.startswith("note: nightly is a request") and past.fine in done.err


def test_what_others_run_is_cancelled_when_that_is_confirmed(stack: Stack) -> None:
    mine, theirs = sent(stack), sent(stack, SLIPWAY_USER="Bob")
    refused = stack.run("jobs", "cancel", mine, theirs)
    assert refused.code == 5 and f"error: {theirs} (bob, " in refused.err and "you are ada" in refused.err
    assert f"fix: slipway jobs cancel {mine} {theirs} --yes\n" in refused.err
    assert stack.well("jobs", "cancel", mine).out == f"cancelling {mine}\n"
    for answer, code in (("n", 130), ("y", 0)):
        done = stack.asked("jobs", "cancel", theirs, answer=answer)
        assert done.code == code and f"{theirs} (bob, " in done.err and "Cancel? [y/N]" in done.err
    assert stack.run("jobs", "wait", theirs).code == 8

    (stack.folder / "s.json").write_text(json.dumps({"grid": {"code": [SLEEP]}}))
    words = ("submit", "hello", "--capacity", "pool", "--sweep", "s.json", "--output", "json")
    sweep = stack.run(*words, SLIPWAY_USER="Bob").json["sweep"]
    refused = stack.run("jobs", "cancel", "--sweep", sweep)
    assert refused.code == 5 and f"fix: slipway jobs cancel --sweep {sweep} --yes\n" in refused.err
    stack.well("jobs", "cancel", "--sweep", sweep, "--yes")
