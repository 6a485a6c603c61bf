"""A failed job says why where its failure is told: by `--wait`, `--follow`, `jobs show` and Python's exception."""

from dataclasses import replace
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

import slipway
from slipway.cloud.jobs import VertexJob
from slipway.cloud.logging import Logging
from slipway.context import Context
from slipway.errors import ResourceError
from slipway.jobs.failure import Failure, read_failure
from tests.slipway.cli.stack import PROJECT, Stack

BROKEN = "import sys; print('fine'); print('warned', file=sys.stderr); raise ValueError('the data is not there')"
CREW = """import os, sys, time
if os.environ['CLUSTER_SPEC'].count('"type": "workerpool1"'):
    print('worker gives up', file=sys.stderr); raise SystemExit(3)
print('chief waits', file=sys.stderr); time.sleep(600)"""


@pytest.mark.parametrize(
    ("line", "brief"),
    [
        ("ValueError: bad", "ValueError: bad (main)"),
        (f"ValueError: the tensor {'x' * 200} has no rank", "ValueError: the tensor xxx"),
        (f"ValueError: the tensor {'x' * 200} has no rank", "xxx…xxx"),
        (f"ValueError: the tensor {'x' * 200} has no rank", "xxx has no rank (main)"),
        (
            f"/{'a' * 150}/python: can't open file '/{'b' * 150}/trian.py': [Errno 2] No such file or directory",
            "/trian.py': [Errno 2] No such file or directory (main)",
        ),
    ],
)
def test_a_long_line_is_told_with_both_of_its_ends(line: str, brief: str) -> None:
    told = Failure("main", ("first", line)).brief
    assert brief in told and len(told) <= len("… (main)") + 120


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The filters of all log queries."""
    asked: list[str] = []
    entries = Logging.entries

    def counted(self: Logging, filter: str, **more: Any) -> Any:
        asked.append(filter)
        return entries(self, filter, **more)

    monkeypatch.setattr(Logging, "entries", counted)
    return asked


def test_the_last_errors_of_the_replica_that_failed_are_told_with_its_failure(
    snapshot: SnapshotAssertion, stack: Stack, calls: list[str]
) -> None:
    words = ("submit", "hello", "-p", f"code={BROKEN}", "--request-id", "r")
    waited = stack.run(*words, "--wait")
    assert waited.code == 4 and len(calls) == 1, "one query"
    why = waited.err.partition("  why: ")[2].partition("  fix: ")[0].splitlines()
    assert why[0] == snapshot
    assert [line.strip() for line in why[1:4]] == [
        "the last lines of main:",
        "warned",
        "Traceback (most recent call last):",
    ]
    assert why[-1] == snapshot and "fine" not in "\n".join(why)
    (job,) = stack.jobs()
    name = job["displayName"]
    told = "\n".join(why)
    for again in (("jobs", "wait", name), ("jobs", "logs", name, "--follow"), (*words, "--follow")):
        assert told in stack.run(*again).err, again
    shown = stack.run("jobs", "show", name)
    assert "of main:\n  warned\n  Traceback" in shown.out
    assert "ValueError: the data is not" in shown.out
    document = stack.run("jobs", "show", name, "--output", "json").json["job"]["failure"]
    assert document["role"] == "main" and document["lines"][-1] == snapshot
    assert document["memory"] is None and document["why"] is None


def test_python_s_exception_has_them_too(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:  # N12
    for key, value in stack.env().items():
        monkeypatch.setenv(key, value)
    monkeypatch.chdir(stack.folder)
    job = slipway.submit("hello", code_=BROKEN)
    with pytest.raises(ResourceError, match="the data is not there"):
        job.wait()


def test_of_several_replicas_it_is_the_one_that_the_service_names(stack: Stack) -> None:
    done = stack.run("submit", "crew", "-p", f"code={CREW}", "-p", "workers=2", "--wait")
    assert done.code == 4 and "The replica workerpool1-" in done.err
    assert "the last lines of workers-" in done.err and "worker gives up" in done.err and "chief waits" not in done.err


def test_a_replica_that_failed_before_the_last_one_began_is_read_too(stack: Stack) -> None:
    """The service has no time at which such a job began."""
    stack.run("submit", "hello", "-p", f"code={BROKEN}", "--wait")
    (body,) = stack.jobs()
    body.pop("startTime", None)
    context, job = Context(environ=stack.env(), folder=stack.folder), VertexJob.read(body)
    failure = read_failure(context, job)
    assert failure is not None and failure.who == "main" and failure.lines[-1].startswith("ValueError: the data is")
    assert read_failure(context, replace(job, error="Resources are insufficient")) is None, "it never ran"


def test_a_job_that_wrote_no_error_shows_its_last_lines_and_one_that_wrote_nothing_none(stack: Stack) -> None:
    loud = stack.run("submit", "hello", "-p", "code=print('begun'); raise SystemExit(3)", "--wait")
    assert "last lines of main:\n         begun" in loud.err
    silent = stack.run("submit", "hello", "-p", "code=raise SystemExit(3)", "--wait")
    assert silent.code == 4 and "the last lines" not in silent.err


def test_who_ran_out_of_memory_is_told_how_much_it_used(stack: Stack) -> None:
    """What a process that was killed wrote last tells nothing."""
    flag = stack.folder / "sampled"
    waits = f"while not os.path.exists({str(flag)!r}): time.sleep(0.05)"
    code = f"import os, time\nprint('begun')\nheld = bytearray(10**8)\n{waits}\nos._exit(137)"
    stack.run("submit", "hello", "-p", f"code={code}")
    name = stack.jobs()[0]["displayName"]
    with stack.settings(monitoring_seconds=0.1):
        stack.until(lambda: bool(stack.run("jobs", "show", name, "-o", "json").json["job"]["usage"]["series"]))
    flag.touch()
    done = stack.run("jobs", "wait", name)
    assert done.code == 4 and "ran out of memory" in done.err
    assert " % of the memory of" in done.err and "n1-standard-4, as far as" in done.err and "begun" not in done.err
    document = stack.run("jobs", "show", name, "--output", "json").json["job"]
    assert 0 < document["failure"]["memory"] <= 1


def test_who_was_killed_before_its_memory_was_sampled_shows_its_last_lines_and_what_to_do(stack: Stack) -> None:
    code = "import os\nprint('epoch 3', flush=True)\nos._exit(137)"
    done = stack.run("submit", "hello", "-p", f"code={code}", "--wait")
    assert done.code == 4 and "was not sampled" in done.err and "last lines of main:\n         epoch 3" in done.err
    assert "a smaller batch" in done.err.partition("  fix: ")[2]
    name = stack.jobs()[0]["displayName"]
    shown = stack.run("jobs", "show", name).out
    assert "epoch 3" in shown and "fix: " in shown and "a smaller batch" in shown
    failure = stack.run("jobs", "show", name, "--output", "json").json["job"]["failure"]
    assert failure["lines"] == ["epoch 3"] and failure["memory"] is None and "not sampled" in failure["why"]


def test_what_may_not_be_read_is_named_and_hides_nothing(stack: Stack) -> None:  # P5
    stack.grant("roles/logging.viewer", False)
    try:
        done = stack.run("submit", "hello", "-p", f"code={BROKEN}", "--wait")
    finally:
        stack.grant("roles/logging.viewer")
    assert done.code == 4 and "Termination reason: Error." in done.err
    assert f"roles/logging.viewer on project {PROJECT}" in done.err


@pytest.mark.parametrize("away", [{"kind": "unavailable", "match": "entries:list"}])
def test_a_log_that_is_away_does_not_hold_up_the_error(stack: Stack, away: dict[str, Any]) -> None:
    with stack.faults(away):
        done = stack.run("submit", "hello", "-p", f"code={BROKEN}", "--wait")
    assert done.code == 4 and "Termination reason: Error." in done.err and "more is not known: " in done.err


def test_what_was_cancelled_or_got_no_machines_has_no_last_lines(stack: Stack, calls: list[str]) -> None:
    stack.run("submit", "hello", "-p", "code=import time; time.sleep(600)")
    name = stack.jobs()[0]["displayName"]
    stack.until(lambda: stack.jobs()[0]["state"] == "JOB_STATE_RUNNING")
    assert stack.run("jobs", "cancel", name).code == 0
    assert stack.run("jobs", "wait", name).code == 8 and calls == []
