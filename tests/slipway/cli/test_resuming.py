"""A submission that waits is remembered until nothing of it can run: the same command never sends a second job."""

import json
import signal
from collections.abc import Iterator

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.cloud.failures import Answer, Call, failure
from slipway.submission.journal import EntryState, JournalEntry, SubmissionJournal
from slipway.submission.request import attempt_id
from slipway.submission.sender import Sender

from .stack import SLEEP, Stack, held
from .test_fallback import SPOT_CPUS

WORDS = ("submit", "hello", "--wait-for", "pool=10m", "--then", "spot")


@pytest.fixture
def waiting(stack: Stack) -> Iterator[Stack]:
    """Its pool is full, and a submission of WORDS was interrupted while its job waits there."""
    with stack.settings(quota=SPOT_CPUS):
        held(stack)
        interrupted(stack, *WORDS)
        assert len(stack.jobs()) == 2
        yield stack


def interrupted(stack: Stack, *words: str) -> None:
    with stack.started(*words) as sending:
        assert sending.stderr is not None
        while "waiting" not in (line := sending.stderr.readline()):
            assert line
        sending.send_signal(signal.SIGINT)
        assert sending.wait() == 130


def remembered(stack: Stack) -> int:
    return len(list((stack.folder / ".slipway").rglob("*.waiting")))


@pytest.mark.parametrize("named", [False, True], ids=["", "request-id"])
def test_a_rate_limit_while_it_is_resumed_makes_no_second_job(  # N3, N7
    waiting: Stack, monkeypatch: pytest.MonkeyPatch, named: bool
) -> None:
    """It was forgotten with exit code 5, and the next command sent another job beside the one that waits."""
    request_id = waiting.jobs()[0]["labels"]["slipway-request"]

    def limited(*_: object, **__: object) -> None:
        raise failure(Call("read the job"), Answer(429, "RESOURCE_EXHAUSTED", "requests per minute per region"))

    with monkeypatch.context() as patched:
        patched.setattr(Sender, "begin", limited)
        refused = waiting.run(*WORDS, *(("--request-id", request_id) if named else ()))
    assert refused.code == 5 and remembered(waiting) == 1, refused.err
    with waiting.started(*WORDS) as resumed:
        assert resumed.stderr is not None and "resumes the submission" in resumed.stderr.readline()
        waiting.cancel_all()
        assert resumed.wait() == 8
    assert len(waiting.jobs()) == 2 and remembered(waiting) == 0


@pytest.mark.parametrize("state", ["sending", "accepted", "refused"])
def test_a_rate_limit_while_a_later_attempt_goes_on_names_no_new_id(  # N3, N7
    waiting: Stack, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    """It said to begin with the first again by another request id, which sent a second run beside the one on Spot."""
    request_id = waiting.jobs()[0]["labels"]["slipway-request"]
    SubmissionJournal(waiting.journal(request_id).parent).write(
        JournalEntry(attempt_id(request_id, 1), "hello", EntryState(state), "2026-01-01T00:00:00+00:00")
    )

    def limited(*_: object, **__: object) -> None:
        raise failure(Call("read the job"), Answer(429, "RESOURCE_EXHAUSTED", "requests per minute per region"))

    monkeypatch.setattr(Sender, "begin", limited)
    told = waiting.run(*WORDS)
    assert told.code == 5 and remembered(waiting) == 1, told.err
    assert ("--request-id" in told.err) is (state == "refused")


def test_a_deployment_that_makes_another_job_of_it_makes_no_second_one_beside_the_first(  # N3, N7
    waiting: Stack, snapshot: SnapshotAssertion
) -> None:
    """It said `request id … was used before` to somebody who had typed none, forgot it, and the next command sent a
    second job."""
    name = waiting.jobs()[0]["displayName"]
    waiting.catalog["templates"]["hello"]["parameters"][0]["default"] = "print('anew')"
    waiting.publish()
    for _ in range(2):
        refused = waiting.run(*WORDS)
        assert refused.code == 2 and remembered(waiting) == 1
        assert refused.err.count(name) == 4
        assert waiting.plain(refused.err).splitlines()[1:] == snapshot(name="refused")
    assert len(waiting.jobs()) == 2
    waiting.cancel_all()
    waiting.until(lambda: all(job["state"] == "JOB_STATE_CANCELLED" for job in waiting.jobs()))
    ended = waiting.run(*WORDS)
    assert ended.code == 2 and remembered(waiting) == 0
    assert f"ended (slipway jobs show {name}): give the command" in ended.err
    anew = waiting.run(*WORDS)
    assert anew.code == 0, anew.err
    assert len(waiting.jobs()) == 3


def test_an_id_that_is_used_with_other_words_does_not_change_which_command_is_remembered(waiting: Stack) -> None:  # N7
    """It said to leave the id out, and then that this command had sent a job that it never sent, and to cancel that."""
    request_id = waiting.jobs()[0]["labels"]["slipway-request"]
    other = ("submit", "hello", "-p", f"code={SLEEP}", *WORDS[2:])
    refused = waiting.run(*other, "--request-id", request_id)
    assert refused.code == 2 and "another request id, or leave" in refused.err
    with waiting.started(*WORDS) as resumed:
        assert resumed.stderr is not None and "resumes the submission" in resumed.stderr.readline()
        resumed.send_signal(signal.SIGINT)
        assert resumed.wait() == 130
    interrupted(waiting, *other)
    assert len(waiting.jobs()) == 3 and remembered(waiting) == 2


def test_it_is_kept_where_nobody_can_tell_whether_the_other_job_goes_on(waiting: Stack) -> None:  # N3, N7
    waiting.catalog["templates"]["hello"]["parameters"][0]["default"] = "print('anew')"
    waiting.publish()
    with waiting.faults({"kind": "unavailable", "match": r"^GET .*/hyperparameterTuningJobs"}):
        refused = waiting.run(*WORDS)
    assert refused.code == 2 and remembered(waiting) == 1
    assert "goes on is not known: " in refused.err and "try again in a minute" in refused.err


def test_a_job_that_is_gone_is_told_once_and_the_command_given_again_sends_another(waiting: Stack) -> None:  # N7
    """It told somebody who had typed no request id to use another one, with each command anew."""
    name = waiting.jobs()[0]["name"]
    waiting.cancel_all()
    waiting.until(lambda: all(job["state"] == "JOB_STATE_CANCELLED" for job in waiting.jobs()))
    waiting.cloud.rest("DELETE", f"/v1/{name}")
    gone = waiting.run(*WORDS)
    assert gone.code == 4 and "its job is gone" in gone.err and remembered(waiting) == 0
    assert "fix: give the command again" in gone.err
    anew = waiting.run(*WORDS)
    assert anew.code == 0, anew.err
    assert len(waiting.jobs()) == 2


def test_a_later_attempt_that_goes_on_is_named_where_the_first_job_is_gone(
    stack: Stack, snapshot: SnapshotAssertion
) -> None:  # N3, N7
    """It was forgotten, and `give the command again` sent a second run of an image beside the one that went on."""
    words = ("submit", "hello", "-p", f"code={SLEEP}", *WORDS[2:])
    with stack.settings(quota=SPOT_CPUS):
        held(stack)
        interrupted(stack, *words)
        first = next(job for job in stack.jobs() if "startTime" not in job)
        (memory,) = (stack.folder / ".slipway").rglob("*.waiting")
        kept = memory.read_bytes()
        stack.write(f"claims/{first['labels']['slipway-request']}", b"moved")
        moved = stack.run(*words, "--output", "json")
        assert moved.code == 0, moved.err
        memory.write_bytes(kept)  # As where it was killed just after it was sent.
        stack.cloud.rest("DELETE", f"/v1/{first['name']}")
        name = moved.json["job"]["displayName"]
        for _ in range(2):
            gone = stack.run(*words)
            assert gone.code == 4 and remembered(stack) == 1 and len(stack.jobs()) == 2
            told = gone.err.splitlines()[-4:]
            assert [line.count(name) for line in told] == [1, 1, 0, 1], gone.err
            assert stack.plain("\n".join(told)) == snapshot(name="gone")
        named = stack.run(*words, "--request-id", first["labels"]["slipway-request"])
        assert named.code == 4 and "submit it by another request" in named.err, named.err
        with stack.faults({"kind": "unavailable", "match": r"^GET .*/hyperparameterTuningJobs"}):
            unread = stack.run(*words)
        assert unread.code == 4 and remembered(stack) == 1
        assert "goes on is not known: " in unread.err
        assert "minute, or see: slipway jobs" in unread.err
        stack.cancel_all()
        stack.until(lambda: all("endTime" in job for job in stack.jobs()))
        ended = stack.run(*words)
    assert ended.code == 4 and "fix: give the command again" in ended.err
    assert remembered(stack) == 0


def test_an_image_that_began_while_it_was_given_up_can_be_submitted_again(stack: Stack) -> None:  # N3, N7
    """It said `then submit it again`, and the same command ended in the same way for ever."""
    words = ("submit", "hello", "-p", f"code={SLEEP}", *WORDS[2:])
    with stack.settings(quota=SPOT_CPUS):
        held(stack)
        interrupted(stack, *words)
        holder, job = sorted(stack.jobs(), key=lambda one: "startTime" not in one)
        stack.cloud.cancel(holder["name"])
        stack.until(lambda: stack.cloud.rest("GET", f"/v1/{job['name']}")["state"] == "JOB_STATE_RUNNING")
        stack.write(f"claims/{job['labels']['slipway-request']}", b"moved")
        stack.cloud.cancel(job["name"])
        lost = stack.run(*words)
        assert lost.code == 8 and "began just when its wait" in lost.err and remembered(stack) == 0
        assert "then submit it again" in lost.err
        anew = stack.run(*words)
    assert anew.code == 0, anew.err
    assert len(stack.jobs()) == 3


def test_a_wait_on_a_cluster_that_was_replaced_names_it_and_how_to_move_to_the_new_one(
    waiting: Stack,
) -> None:  # N3, N9
    """It said `pool full: cpu/workers has 3 of 3 machines busy`, while the cpu that anybody could see was idle."""
    old, new = waiting.cluster, f"new-{waiting.name}"
    waiting.make_cluster(cluster=new)
    waiting.catalog["clusters"]["cpu"]["id"] = new
    waiting.catalog["retiring"] = [old]
    waiting.publish(json.dumps(waiting.catalog).replace(f'"persistentResourceId": "{old}"', replaced_by(new)).encode())
    job = waiting.jobs()[0]["displayName"]
    try:
        with waiting.started(*WORDS) as resumed:
            assert resumed.stderr is not None
            while "was replaced" not in (line := resumed.stderr.readline()):
                assert line
            assert f"{job} waits on the old one, {old}; on the new one, {new}: starts now" in line
            assert f"slipway jobs cancel {job}; once" in resumed.stderr.readline()
            while "waiting" not in (line := resumed.stderr.readline()):
                assert line
            assert f"pool full: {old}/workers has 3 of" in line
            assert waiting.run("jobs", "cancel", job).code == 0
            assert resumed.wait() == 8
        moved = waiting.run(*WORDS)
        assert moved.code == 0 and "starts now" in moved.out, moved.err
        assert waiting.jobs()[0]["jobSpec"]["persistentResourceId"] == new
    finally:
        waiting.cancel_all()
        waiting.cloud.call("DELETE", f"{waiting.clusters}/{new}")


def replaced_by(cluster: str) -> str:
    return f'"persistentResourceId": "{cluster}"'
