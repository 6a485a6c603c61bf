"""A failed job says why where its failure is told: by `--wait`, `--follow`, `jobs show` and Python's exception."""

from dataclasses import replace

import pytest

import slipway
from slipway.base.errors import ResourceError
from slipway.google.jobs import VertexJob
from slipway.using.context import Context
from slipway.using.jobs.failure import Failure, read_failure
from tests.slipway.front.cli.past import FAILS, Past
from tests.slipway.front.cli.stack import SLEEP, Stack

CREW = """import os, sys, time
if os.environ['CLUSTER_SPEC'].count('"type": "workerpool1"'):
    print('worker gives up', file=sys.stderr); raise SystemExit(3)
print('chief waits', file=sys.stderr); time.sleep(600)"""
TENSOR = f"ValueError: the tensor {'x' * 200} has no rank"
MISSING = f"/{'a' * 150}/python: can't open file '/{'b' * 150}/trian.py': [Errno 2] No such file or directory"


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("ValueError: bad", ["ValueError: bad (main)"]),
        (TENSOR, ["ValueError: the tensor xxx", "xxx…xxx", "xxx has no rank (main)"]),
        (MISSING, ["/trian.py': [Errno 2] No such file or directory (main)"]),
    ],
)
def test_a_long_line_is_told_with_both_of_its_ends(line: str, parts: list[str]) -> None:
    told = Failure("main", ("first", line)).brief
    assert all(part in told for part in parts) and len(told) <= len("… (main)") + 120


def test_the_last_errors_of_the_replica_that_failed_are_told_with_its_failure(
    past: Past, log_queries: list[str]
) -> None:
    words = ("submit", "hello", "-p", f"code={FAILS}", "--request-id", "failing")
    waited = past.run(*words, "--wait")
    assert waited.code == 4 and len(log_queries) == 1, "one query"
    told = waited.err.partition("  why: ")[2].partition("  fix: ")[0]
    why = [line.strip() for line in told.splitlines()]
    assert why[:4] == [
        "The replica workerpool0-0 exited with a non-zero status of 1. Termination reason: Error.",
        "the last lines of main:",
        "warned",
        "Traceback (most recent call last):",
    ]
    assert why[-1] == "ValueError: the data is not there" and "fine" not in told
    for again in (("jobs", "wait", past.failed), ("jobs", "logs", past.failed, "--follow"), (*words, "--follow")):
        assert told.rstrip() in past.run(*again).err, again
    shown = past.stack.well("jobs", "show", past.failed)
    assert "of main:\n  warned\n  Traceback" in shown.out and "ValueError: the data is not" in shown.out
    document = past.stack.shown(past.failed)["failure"]
    assert document["role"] == "main" and document["lines"][-1] == "ValueError: the data is not there"
    assert document["memory"] is None and document["why"] is None


def test_python_s_exception_has_them_too(past: Past, monkeypatch: pytest.MonkeyPatch) -> None:  # N12
    for key, value in past.stack.env().items():
        monkeypatch.setenv(key, value)
    monkeypatch.chdir(past.stack.folder)
    with pytest.raises(ResourceError, match="the data is not there"):
        slipway.submit("hello", code_=FAILS, request_id="failing").wait()


def test_of_several_replicas_it_is_the_one_that_the_service_names(stack: Stack) -> None:
    done = stack.run("submit", "crew", "-p", f"code={CREW}", "-p", "workers=2", "--wait")
    assert done.code == 4 and "The replica workerpool1-" in done.err
    assert "the last lines of workers-" in done.err and "worker gives up" in done.err and "chief waits" not in done.err


def test_a_replica_that_failed_before_the_last_one_began_is_read_too(past: Past) -> None:
    """The service has no time at which such a job began."""
    stack = past.stack
    body = stack.cloud.rest("GET", f"/v1/{stack.shown(past.failed)['name']}")
    body.pop("startTime", None)
    context, job = Context(environ=stack.env(), folder=stack.folder), VertexJob.read(body)
    failure = read_failure(context, job)
    assert failure is not None and failure.who == "main" and failure.lines[-1].startswith("ValueError: the data is")
    assert read_failure(context, replace(job, error="Resources are insufficient")) is None, "it never ran"


def test_a_job_that_wrote_no_error_shows_its_last_lines_and_one_that_wrote_nothing_none(stack: Stack) -> None:
    loud = stack.run("submit", "hello", "-p", "code=print('begun'); raise SystemExit(3)", "--wait")
    assert "last lines of main:\n         begun" in loud.err and "a non-zero status of 3" in loud.err
    silent = stack.run("submit", "hello", "-p", "code=raise SystemExit('Resources are insufficient')", "--wait")
    assert silent.code == 4 and "--catalog gs://" not in silent.err, "its own words are no stock-out"
    silent = stack.run("submit", "hello", "-p", "code=raise SystemExit(3)", "--wait")
    assert silent.code == 4 and "the last lines" not in silent.err


def test_who_ran_out_of_memory_is_told_how_much_it_used(stack: Stack) -> None:
    """What a process that was killed wrote last tells nothing."""
    flag = stack.folder / "sampled"
    waits = f"while not os.path.exists({str(flag)!r}): time.sleep(0.05)"
    code = f"import os, time\nprint('begun')\nheld = bytearray(10**8)\n{waits}\nos._exit(137)"
    name = stack.sends("hello", "-p", f"code={code}")["displayName"]
    with stack.settings(monitoring_seconds=0.1):
        stack.until(lambda: bool(stack.shown(name)["usage"]["series"]))
    flag.touch()
    done = stack.run("jobs", "wait", name)
    assert done.code == 4 and "ran out of memory" in done.err
    assert " % of the memory of" in done.err and "n1-standard-4, as far as" in done.err and "begun" not in done.err
    assert 0 < stack.shown(name)["failure"]["memory"] <= 1


def test_who_was_killed_before_its_memory_was_sampled_shows_its_last_lines_and_what_to_do(stack: Stack) -> None:
    code = "import os\nprint('epoch 3', flush=True)\nos._exit(137)"
    done = stack.run("submit", "hello", "-p", f"code={code}", "--wait")
    assert done.code == 4 and "was not sampled" in done.err and "last lines of main:\n         epoch 3" in done.err
    assert "a smaller batch" in done.err.partition("  fix: ")[2]
    name = stack.jobs()[0]["displayName"]
    text, failure = stack.well("jobs", "show", name).out, stack.shown(name)["failure"]
    assert "epoch 3" in text and "fix: " in text and "a smaller batch" in text
    assert failure["lines"] == ["epoch 3"] and failure["memory"] is None and "not sampled" in failure["why"]


def test_a_log_that_may_not_or_can_not_be_read_is_named_and_hides_nothing(past: Past) -> None:  # P5
    with past.stack.without("roles/logging.viewer"):
        denied = past.run("jobs", "wait", past.failed)
    assert f"roles/logging.viewer on project {past.stack.project}" in denied.err
    with past.stack.faults({"kind": "unavailable", "match": "entries:list"}):
        away = past.run("jobs", "wait", past.failed)
    assert "more is not known: " in away.err
    for done in (denied, away):
        assert done.code == 4 and "Termination reason: Error." in done.err


def test_what_was_cancelled_has_no_last_lines(stack: Stack, log_queries: list[str]) -> None:
    name = stack.sends("hello", "-p", f"code={SLEEP}")["displayName"]
    stack.until(lambda: stack.jobs()[0]["state"] == "JOB_STATE_RUNNING")
    stack.well("jobs", "cancel", name)
    assert stack.run("jobs", "wait", name).code == 8 and log_queries == []
