"""A job that waits falls back to the next offer: never two runs, none lost, none ended just after its start."""

import re
import shlex
import signal
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import pytest

from slipway.google.failures import Answer, Call, failure
from slipway.using.submission import deadline
from slipway.using.submission.delivery import SendState
from slipway.using.submission.journal import JournalEntry, SubmissionJournal
from slipway.using.submission.request import attempt_id
from slipway.using.submission.sender import Sender

from .stack import SLEEP, SPOT_CPUS, Stack, held
from .test_hostile import interrupted

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


@pytest.mark.journey
def test_a_job_climbs_as_its_deadline_nears(full: Stack, monkeypatch: pytest.MonkeyPatch) -> None:  # N24
    packaged(full)
    monkeypatch.setattr(deadline, "_SHORTEST_S", 1.0)
    monkeypatch.setattr(deadline, "_MACHINES_S", 0.0)

    def by(seconds: int) -> tuple[str, ...]:
        ends = datetime.now(UTC) + timedelta(seconds=seconds)
        return "submit", "hello", "--by", f"{ends:%Y-%m-%dT%H:%M:%SZ}", "--max-run", "5m"

    late = full.run(*by(100))
    assert late.code == 5 and "hello is not likely to end by" in late.err
    assert "pool: waits, and nothing tells how long, runs 5 min\n" in late.err, "it is full"
    assert "spot: starts in 0 s, runs 5 min\n" in late.err
    assert full.run(*by(400), "--then", "spot").code == 2
    assert re.search(
        r"UTC: pool, then spot from \w+ ..:..; it runs at most 5 min", full.well(*by(400), "--dry-run").err
    )
    with full.faults(FETCHING):
        done = full.well(*by(305), "--request-id", "r1")
        first, second = sent(full, "r1")
        assert gone(first) and second["labels"]["slipway-capacity-type"] == "spot"
        assert re.search(r"--wait-for pool=[1-5]s --then spot .*--request-id r1", done.err)
    assert full.read("claims/r1") == b"moved"


@pytest.mark.journey
def test_a_deadline_typed_again_goes_on_with_the_job_that_waits(full: Stack) -> None:  # N24
    packaged(full)

    def by(minutes: float) -> tuple[str, ...]:
        ends = datetime.now(UTC) + timedelta(minutes=minutes)
        return "submit", "hello", "--by", f"{ends:%Y-%m-%dT%H:%M:%SZ}", "--max-run", "5m", "--request-id", "r1"

    with full.started(*by(120)):
        full.until(lambda: bool(sent(full, "r1")))
    stays = full.well(*by(5))
    assert len(sent(full, "r1")) == 1, f"no type is likely to make it any more: {stays.err}"
    with full.faults(FETCHING):
        full.well(*by(16))
        first, second = sent(full, "r1")
    assert gone(first) and second["labels"]["slipway-capacity-type"] == "spot"


@pytest.mark.smoke
@pytest.mark.parametrize("launcher", [True, False], ids=["package", "image"])
def test_a_wait_that_runs_out_moves_the_job_on(full: Stack, launcher: bool) -> None:  # N3
    if launcher:
        packaged(full)
    with full.faults(FETCHING):
        done = full.run("submit", "hello", *MOVE, "--request-id", "r1", "--output", "json")
        assert done.code == 0, done.err
        first, second = sent(full, "r1")
        assert gone(first) and second["labels"]["slipway-capacity-type"] == "spot"
        assert full.read("claims/r1" if launcher else "claims/r1/end") == b"moved"
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
        assert "request id r1, and given up for what comes next" in again.err
    full.until(lambda: "endTime" in full.cloud.rest("GET", f"/v1/{second['name']}"))
    ended = full.run("submit", "hello", *MOVE, "--request-id", "r1")
    assert ended.code == (4 if launcher else 0), "as it ended: there is no package to fetch"
    for name in ("r1", first["displayName"]):
        waited = full.run("jobs", "wait", name)
        assert waited.code == ended.code, waited.err
        assert f"never began, and its submission goes on as {second['displayName']}\n" in waited.err
        read = full.well("jobs", "logs", name, "--tail", "100")
        assert f"its submission goes on as {second['displayName']}\n" in read.err
        assert read.out == full.well("jobs", "logs", second["displayName"], "--tail", "100").out != ""
    assert "goes on as" not in full.well("jobs", "logs", first["name"]).err, "a number asks for that very job"


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


# A submission that waits, and is interrupted: the printed command goes on with it and sends no second job.


WORDS = ("submit", "hello", "--wait-for", "pool=10m", "--then", "spot")


class Waiting:
    """A stack whose pool is full, with a submission that was interrupted while its job waits there. `again`: what was
    printed to go on with it."""

    def __init__(self, stack: Stack, *words: str) -> None:
        self.stack = stack
        held(stack)
        with stack.started(*WORDS, *words) as sending:
            assert sending.stderr is not None
            said = ""
            while "waiting" not in (line := sending.stderr.readline()):
                assert line
                said += line
            sending.send_signal(signal.SIGINT)
            assert sending.wait() == 130 and "stopped waiting" in sending.stderr.read()
        self.again = shlex.split(said.partition("after an interruption: slipway ")[2].splitlines()[0])
        self.request_id = self.again[-1]
        (self.job,) = (job for job in stack.jobs() if job["labels"]["slipway-request"] == self.request_id)


@pytest.fixture
def spot(small: Stack) -> Iterator[Stack]:
    with small.settings(quota=SPOT_CPUS):
        yield small


@pytest.fixture
def waiting(spot: Stack) -> Waiting:
    return Waiting(spot)


def limit(monkeypatch: pytest.MonkeyPatch, after: int = 0) -> None:
    """Refuse what a submission begins after so many attempts."""
    begin, begun = Sender.begin, count()

    def limited(*known: Any, **more: Any) -> Any:
        if next(begun) < after:
            return begin(*known, **more)
        raise failure(Call("read the job"), Answer(429, "RESOURCE_EXHAUSTED", "requests per minute per region"))

    monkeypatch.setattr(Sender, "begin", limited)


def test_the_job_that_a_cancelled_one_has_moved_on_to_is_cancelled(spot: Stack) -> None:  # N3
    waiting = Waiting(spot, "-p", f"code={SLEEP}")
    stack, id_ = waiting.stack, waiting.request_id
    stack.write(f"claims/{id_}/end", b"moved")
    stack.write(f"claims/{id_}/next", f"gs://w-{stack.name}/claims/{attempt_id(id_, 1)}".encode())
    stack.well(*waiting.again)
    (later,) = [job for job in stack.jobs() if job["labels"]["slipway-request"] == attempt_id(id_, 1)]
    done = stack.well("jobs", "cancel", waiting.job["displayName"])
    assert f"has moved on: {later['displayName']} is cancelled" in done.err
    stack.until(lambda: all(job["state"] != "JOB_STATE_RUNNING" for job in sent(stack, id_)))


@pytest.mark.parametrize(("attempts", "goes_on"), [(0, False), (1, True)])
def test_a_refusal_tells_how_to_go_on_once_a_job_was_sent(
    full: Stack, monkeypatch: pytest.MonkeyPatch, attempts: int, goes_on: bool
) -> None:  # N3
    limit(monkeypatch, attempts)
    refused = full.run("submit", "hello", *MOVE)
    assert refused.code == 5 and len(full.jobs()) == 1 + attempts
    assert ("to go on: slipway submit hello " in refused.err) is goes_on


def test_a_rate_limit_while_a_later_attempt_goes_on_sends_nobody_back_to_the_first_type(  # N3, N7
    waiting: Waiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second run was sent beside the one on Spot."""
    journal = SubmissionJournal(waiting.stack.journal(waiting.request_id).parent)
    limit(monkeypatch)
    for state in (SendState.SENDING, SendState.ACCEPTED, SendState.REFUSED):
        second = attempt_id(waiting.request_id, 1)
        journal.write(JournalEntry(second, "hello", state, "2026-01-01T00:00:00+00:00"))
        told = waiting.stack.run(*waiting.again)
        assert told.code == 5, told.err
        assert ("the first capacity type again" in told.err) is (state is SendState.REFUSED)
    monkeypatch.setattr(Sender, "begin", interrupted)
    stopped = waiting.stack.run(*waiting.again)
    assert stopped.code == 130 and "what was sent stays where it is" in stopped.err


def test_a_later_attempt_that_goes_on_is_named_where_the_first_job_is_gone(spot: Stack) -> None:  # N3, N7
    """Another request id would send a second run of an image beside the one that went on."""
    waiting = Waiting(spot, "-p", f"code={SLEEP}")
    spot.write(f"claims/{waiting.request_id}", b"moved")
    moved = spot.well(*waiting.again, "--output", "json")
    spot.cloud.rest("DELETE", f"/v1/{waiting.job['name']}")
    name = moved.json["job"]["displayName"]
    gone = spot.run(*waiting.again)
    assert gone.code == 4 and len(spot.jobs()) == 2
    told = gone.err.splitlines()[-4:]
    assert [" ".join(line.split()) for line in told] == [
        f"{name} has not ended",
        f"fix: to keep it: slipway jobs wait {name}",
        "else cancel it, and once it has ended submit it by another request id:",
        f"slipway jobs cancel {name}",
    ]
    with spot.faults({"kind": "unavailable", "match": r"^GET .*/hyperparameterTuningJobs"}):
        unread = spot.run(*waiting.again)
    assert unread.code == 4 and "goes on is not known: " in unread.err
    assert "minute, or see: slipway jobs" in unread.err
    spot.cancel_all()
    spot.until(lambda: all("endTime" in job for job in spot.jobs()))
    ended = spot.run(*waiting.again)
    assert ended.code == 4 and "its job is gone" in ended.err and "another request id" in ended.err
