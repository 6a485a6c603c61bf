"""A submission that waits, and is interrupted: the printed command goes on with it and sends no second job."""

import json
import shlex
import signal
from collections.abc import Iterator

import pytest

from slipway.google.failures import Answer, Call, failure
from slipway.using.submission.journal import EntryState, JournalEntry, SubmissionJournal
from slipway.using.submission.request import attempt_id
from slipway.using.submission.sender import Sender

from .stack import SLEEP, SPOT_CPUS, Stack, held

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
            assert sending.wait() == 130
        self.again = shlex.split(said.partition("after an interruption: slipway ")[2].splitlines()[0])
        self.request_id = self.again[-1]
        (self.job,) = (job for job in stack.jobs() if job["labels"]["slipway-request"] == self.request_id)


@pytest.fixture
def stack(small: Stack) -> Stack:
    return small


@pytest.fixture
def spot(stack: Stack) -> Iterator[Stack]:
    with stack.settings(quota=SPOT_CPUS):
        yield stack


@pytest.fixture
def waiting(spot: Stack) -> Waiting:
    return Waiting(spot)


def limit(monkeypatch: pytest.MonkeyPatch) -> None:
    def limited(*_: object, **__: object) -> None:
        raise failure(Call("read the job"), Answer(429, "RESOURCE_EXHAUSTED", "requests per minute per region"))

    monkeypatch.setattr(Sender, "begin", limited)


def test_a_rate_limit_while_it_is_resumed_tells_how_to_go_on_without_a_second_job(  # N3, N7
    waiting: Waiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    stack = waiting.stack
    with monkeypatch.context() as patched:
        limit(patched)
        refused = stack.run(*waiting.again)
    assert refused.code == 5 and f"to go on: slipway {shlex.join(waiting.again)}\n" in refused.err
    with stack.started(*waiting.again) as resumed:
        stack.cancel_all()
        assert resumed.wait() == 8
    assert len(stack.jobs()) == 2


def test_a_rate_limit_while_a_later_attempt_goes_on_sends_nobody_back_to_the_first_type(  # N3, N7
    waiting: Waiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That sent a second run beside the one on Spot."""
    journal = SubmissionJournal(waiting.stack.journal(waiting.request_id).parent)
    limit(monkeypatch)
    for state in (EntryState.SENDING, EntryState.ACCEPTED, EntryState.REFUSED):
        second = attempt_id(waiting.request_id, 1)
        journal.write(JournalEntry(second, "hello", state, "2026-01-01T00:00:00+00:00"))
        told = waiting.stack.run(*waiting.again)
        assert told.code == 5, told.err
        assert ("the first capacity type again" in told.err) is (state is EntryState.REFUSED)


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


def test_a_wait_on_a_cluster_that_was_replaced_names_it_and_how_to_move_to_the_new_one(
    waiting: Waiting,
) -> None:  # N3, N9
    """It said `pool full: cpu/workers has 3 of 3 machines busy`, while the cpu that anybody could see was idle."""
    stack = waiting.stack
    old, new = stack.cluster, f"new-{stack.name}"
    stack.make_cluster(cluster=new)
    stack.catalog["clusters"]["cpu"]["id"] = new
    stack.catalog["retiring"] = [old]
    before, after = (f'"persistentResourceId": "{cluster}"' for cluster in (old, new))
    stack.publish(json.dumps(stack.catalog).replace(before, after).encode())
    job = waiting.job["displayName"]
    try:
        with stack.started(*waiting.again) as resumed:
            assert resumed.stderr is not None
            while "was replaced" not in (line := resumed.stderr.readline()):
                assert line
            assert f"{job} waits on the old one, {old}; on the new one, {new}: starts now" in line
            assert f"slipway jobs cancel {job}; once" in resumed.stderr.readline()
            while "waiting" not in (line := resumed.stderr.readline()):
                assert line
            assert f"pool full: {old}/workers has 1 of" in line
            stack.well("jobs", "cancel", job)
            assert resumed.wait() == 8
        moved = stack.well(*WORDS)
        assert "starts now" in moved.out, moved.err
        assert stack.jobs()[0]["jobSpec"]["persistentResourceId"] == new
    finally:
        stack.cancel_all()
        stack.cloud.call("DELETE", f"{stack.clusters}/{new}")
