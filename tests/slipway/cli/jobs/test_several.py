"""`jobs cancel A B` and `jobs wait A B`; and a job by the id of its request."""

import json
from typing import Any

from tests.slipway.cli.stack import SLEEP, Stack


def sent(stack: Stack, code: str = SLEEP, *words: str, **variables: str) -> str:
    done = stack.run("submit", "hello", "-p", f"code={code}", *words, "--output", "json", **variables)
    assert done.code == 0, done.err
    return str(done.json["job"]["displayName"])


def states(stack: Stack) -> dict[str, str]:
    return {job["displayName"]: job["state"].removeprefix("JOB_STATE_") for job in stack.jobs()}


def test_several_jobs_are_cancelled_and_waited_for_in_one_command(stack: Stack) -> None:
    first, second = sent(stack), sent(stack)
    done = stack.run("jobs", "cancel", first, second, first)
    assert done.code == 0 and done.out == f"cancelling {first} and {second}\n"
    assert f"slipway jobs wait {first} {second}" in done.err
    waited = stack.run("jobs", "wait", first, second)
    assert waited.code == 8 and f"error: job {first} was cancelled\n" in waited.err
    assert f"       also: job {second} was cancelled\n" in waited.err
    document = stack.run("jobs", "wait", first, second, "--output", "json")
    assert document.code == 8 and [job["displayName"] for job in document.json["jobs"]] == [first, second]


def test_the_code_is_that_of_the_first_that_failed_and_all_are_waited_for(stack: Stack) -> None:
    good, bad, cancelled = sent(stack, "print(1)"), sent(stack, "raise SystemExit(3)"), sent(stack)
    assert stack.run("jobs", "wait", good).code == 0
    assert stack.run("jobs", "cancel", cancelled).code == 0
    done = stack.run("jobs", "wait", cancelled, good, bad)
    assert done.code == 4 and f"error: job {bad} failed\n" in done.err
    assert f"also: job {cancelled} was cancelled\n" in done.err and states(stack)[good] == "SUCCEEDED"
    (one,) = [stack.run("jobs", "wait", good, "--output", "json").json["job"]]
    assert one["displayName"] == good, "of one job the document is as it was"


def test_a_time_is_that_of_all_of_them_together(stack: Stack) -> None:
    first, second = sent(stack), sent(stack)
    done = stack.run("jobs", "wait", first, second, "--timeout", "1s")
    assert done.code == 9 and f"error: job {first} has not ended after" in done.err
    stack.run("jobs", "cancel", first)
    assert stack.run("jobs", "wait", first).code == 8
    assert stack.run("jobs", "wait", first, second, "--timeout", "1s").code == 9


def test_nothing_is_cancelled_where_one_is_not_there_and_the_others_where_one_has_ended(stack: Stack) -> None:
    ended, going = sent(stack, "print(1)"), sent(stack)
    assert stack.run("jobs", "wait", ended).code == 0
    unknown = stack.run("jobs", "cancel", going, "nosuch")
    assert unknown.code == 4 and "no job 'nosuch'" in unknown.err and states(stack)[going] != "CANCELLING"
    done = stack.run("jobs", "cancel", ended, going)
    assert done.code == 4 and f"job {ended} has ended" in done.err and "nothing to cancel" in done.err
    assert done.out == f"cancelling {going}\n" and stack.run("jobs", "wait", going).code == 8
    assert stack.run("jobs", "cancel").code == stack.run("jobs", "wait").code == 2


def test_a_job_is_found_by_the_id_of_its_request(stack: Stack) -> None:
    """The id is what a script knows, and what a submission is told by."""
    name = sent(stack, SLEEP, "--request-id", "nightly")

    def told(verb: str, *words: str, code: int = 0) -> Any:
        done = stack.run("jobs", verb, "nightly", *words)
        assert done.code == code and done.err.startswith("note: nightly is a request")
        assert f" {name} (ada, " in done.err
        return done

    assert f"job        {name}\n" in told("show").out
    told("logs")
    assert told("cancel").out == f"cancelling {name}\n"
    told("wait", code=8)
    sent(stack, "print(1)", "--request-id", "hello")
    assert "template; this is its newest" in stack.run("jobs", "show", "hello").err
    other = stack.run("jobs", "show", "weekly")
    assert other.code == 4 and "no job 'weekly'" in other.err


def test_what_others_run_is_cancelled_when_that_is_confirmed(stack: Stack) -> None:
    mine, theirs = sent(stack), sent(stack, SLIPWAY_USER="Bob")
    refused = stack.run("jobs", "cancel", mine, theirs)
    assert refused.code == 5 and f"error: {theirs} (bob, " in refused.err and "you are ada" in refused.err
    assert f"fix: slipway jobs cancel {mine} {theirs} --yes\n" in refused.err
    assert stack.run("jobs", "cancel", mine).out == f"cancelling {mine}\n"
    for answer, code in (("n", 130), ("y", 0)):
        done = stack.asked("jobs", "cancel", theirs, answer=answer)
        assert done.code == code and f"{theirs} (bob, " in done.err and "Cancel? [y/N]" in done.err
    assert stack.run("jobs", "wait", theirs).code == 8


def test_a_sweep_of_somebody_else_is_cancelled_when_that_is_confirmed(stack: Stack) -> None:
    (stack.folder / "s.json").write_text(json.dumps({"grid": {"code": [SLEEP]}}))
    words = ("submit", "hello", "--capacity", "pool", "--sweep", "s.json", "--output", "json")
    sweep = stack.run(*words, SLIPWAY_USER="Bob").json["sweep"]
    refused = stack.run("jobs", "cancel", "--sweep", sweep)
    assert refused.code == 5 and f"fix: slipway jobs cancel --sweep {sweep} --yes\n" in refused.err
    assert stack.run("jobs", "cancel", "--sweep", sweep, "--yes").code == 0
