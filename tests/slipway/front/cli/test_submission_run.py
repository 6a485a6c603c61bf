"""Exactly one job for a request: through lost answers, lagging lists, rate limits, kills and repetitions."""

import json
import signal
import threading
from pathlib import Path
from typing import Any

from .stack import JOBS, Stack
from .test_fallback import FETCHING, packaged

CREATE = r"^POST .*/customJobs$"


def lost(times: int = 1) -> dict[str, Any]:
    return {"kind": "lost-answer", "match": CREATE, "times": times}


def lagging(seconds: float) -> dict[str, Any]:
    return {"kind": "lagging-list", "match": "customJobs", "seconds": seconds}


def test_an_answer_that_stays_unknown_is_said_with_the_way_on_and_going_on_makes_no_second_job(stack: Stack) -> None:
    words = ("submit", "hello", "-p", "code=print('a b')")
    with stack.faults(lost(), lagging(3600)):
        done = stack.run(*words, "--request-id", "unknown-1", SLIPWAY_LOOK_FOR="2s")
    assert done.code == 75
    assert "whether hello-" in done.err and "was accepted is unknown" in done.err
    assert "-p 'code=print('\"'\"'a b'\"'\"')' --request-id unknown-1" in done.err
    again = stack.well(*words, "--request-id", "unknown-1", "--output", "json", SLIPWAY_LOOK_FOR="2s")
    assert again.json["fresh"] is False and len(stack.jobs()) == 1


def test_the_same_request_twice_is_one_job_from_another_machine_too(stack: Stack, tmp_path: Path) -> None:
    words = ("submit", "hello", "--request-id", "nightly-1")
    first, second = (stack.well(*words, "--output", "json").json for _ in range(2))
    assert (first["fresh"], second["fresh"]) == (True, False) and first["job"]["name"] == second["job"]["name"]
    stack.folder = tmp_path / "another"
    (stack.folder / ".git").mkdir(parents=True)
    again = stack.well(*words)
    assert "with request id nightly-1: nothing" in again.out and "is sent again" in again.out
    assert len(stack.jobs()) == 1


def test_a_damaged_journal_is_named_and_done_without_where_the_claim_answers(stack: Stack) -> None:
    """The same command failed for ever."""
    words, look = ("submit", "hello", "--request-id", "nightly-1"), {"SLIPWAY_LOOK_FOR": "1s"}
    file, sent = stack.journal("nightly-1"), stack.well(*words, "--output", "json", **look).json
    for damage in ("", '{"request_id"', "[]", sent["job"]["name"]):
        file.write_text(damage)
        again = stack.well(*words, "--output", "json", **look)
        assert again.json["job"]["name"] == sent["job"]["name"] and not again.json["fresh"]
        assert f"the journal of request nightly-1 can't be read ({file}: " in again.err
        assert json.loads(file.read_text())["job"] == sent["job"]["name"], "and it is mended"
    file.unlink()
    file.mkdir()
    assert stack.well(*words, "--output", "json", **look).json["job"]["name"] == sent["job"]["name"]
    assert file.is_file() and len(stack.jobs()) == 1


def test_a_dry_run_ends_as_sending_by_the_same_id_would(stack: Stack) -> None:
    """It planned a job for an id that was used before."""
    words = ("submit", "hello", "--request-id", "nightly-1")
    stack.run(*words)
    known = stack.well(*words, "--dry-run")
    assert "nightly-1: nothing is sent again" in known.err and known.json["displayName"]
    entry = stack.journal("nightly-1").read_text()
    for flags in ((), ("--dry-run",)):
        other = stack.run(*words, "-p", "code=print(2)", *flags)
        assert other.code == 2 and "used before, for something else" in other.err
        assert "arguments: print('hello') then, print(2) now" in other.err
    assert stack.journal("nightly-1").read_text() == entry and len(stack.jobs()) == 1


def test_interrupted_while_it_looks_says_that_it_is_unknown(stack: Stack) -> None:
    words = ("submit", "hello", "--request-id", "interrupted-1")
    with stack.faults(lost(), lagging(3600)), stack.started(*words) as sending:
        assert sending.stderr is not None and "gave no answer" in sending.stderr.readline()
        sending.send_signal(signal.SIGINT)
        assert sending.wait() == 75
        assert "interrupted while sending" in sending.stderr.read()
    stack.well(*words)
    assert len(stack.jobs()) == 1


def test_two_at_once_with_one_id_are_one_job(stack: Stack) -> None:
    codes: list[int] = []

    def send() -> None:
        with stack.started("submit", "hello", "--request-id", "twins-1") as sending:
            codes.append(sending.wait())

    with stack.faults({"kind": "delay", "match": CREATE, "seconds": 1.0}):
        threads = [threading.Thread(target=send) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(stack.jobs()) == 1 and 0 in codes


def test_of_two_jobs_of_one_request_the_one_that_has_the_claim_counts(stack: Stack) -> None:
    """Two machines at once can both send; the launchers' claim decides, and so does whoever comes later."""
    packaged(stack)
    body = stack.well("submit", "hello", "--request-id", "twice-1", "--dry-run").json
    with stack.faults(FETCHING):  # without its package a job fails
        first, winner = (stack.cloud.rest("POST", JOBS, body)["name"].rsplit("/", 1)[-1] for _ in range(2))
        stack.write("claims/twice-1", winner.encode())
        done = stack.well("submit", "hello", "--request-id", "twice-1", "--output", "json")
    assert done.json["job"]["id"] == winner and done.json["copies"] == [first]


def claimed(stack: Stack, request_id: str) -> Any:
    """A run that fails and has the claim of a request: a job of that request is a copy, which ends well at once. It is
    made of a template that failed with the same parameters."""
    task = stack.spec()["workerPoolSpecs"][0]["containerSpec"]
    args = task["args"]
    task["args"] = [argument.replace("${code}", "import sys, time; time.sleep(1); sys.exit(3)") for argument in args]
    stack.publish()
    runs = stack.sends("hello")
    task["args"] = args
    for place in range(2):
        task = stack.spec(place=place)["workerPoolSpecs"][0]["containerSpec"]
        task["args"] += ["--claim", f"gs://w-{stack.name}/claims/${{slipway.request}}"]
    stack.publish()
    stack.write(f"claims/{request_id}", runs["id"].encode())
    return runs


def test_who_waits_for_a_copy_waits_for_the_job_that_runs_the_submission(stack: Stack) -> None:
    runs = claimed(stack, "another")
    stack.well("submit", "hello", "--request-id", "copy-1")
    stack.write("claims/copy-1", runs["id"].encode())
    for _ in range(2):
        done = stack.run("submit", "hello", "--request-id", "copy-1", "--wait", "--output", "json")
        assert done.code == 4 and f"{runs['displayName']} failed" in done.err, done.err
        assert done.json["job"]["id"] == runs["id"] and f"was a copy of {runs['id']}" in done.err


def test_of_two_jobs_of_one_name_the_one_that_ran_is_shown(stack: Stack) -> None:
    runs = claimed(stack, "copy-2")
    body = json.loads(stack.run("submit", "hello", "--request-id", "copy-2", "--dry-run").out)
    copy = stack.cloud.rest("POST", JOBS, {**body, "displayName": runs["displayName"]})
    stack.until(lambda: all(job["state"] in ("JOB_STATE_SUCCEEDED", "JOB_STATE_FAILED") for job in stack.jobs()))
    shown = stack.run("jobs", "show", runs["displayName"], "--output", "json")
    assert shown.json["job"]["id"] == runs["id"]
    assert f"2 jobs are called {runs['displayName']}; this is {runs['id']}, which runs the submission" in shown.err
    number = copy["name"].rsplit("/", 1)[-1]
    assert stack.shown(number)["id"] == number
