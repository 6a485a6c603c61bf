"""`slipway jobs list --sweep` and `slipway jobs cancel --sweep`."""

import fcntl

import pytest

from slipway.front.cli.jobs.list import apart
from slipway.front.cli.terminal.sweep_outcome import tally
from slipway.google.jobs import VertexJob
from slipway.using.sweeps.runs import copies
from slipway.using.sweeps.sweep_journal import is_being_sent

from .stack import SLEEP, Stack, held

pytestmark = pytest.mark.smoke


def swept(stack: Stack, *codes: str) -> str:
    """The id of a sweep with a run for each code."""
    rows = "\n".join('"' + code.replace('"', '""') + '"' for code in codes)
    (stack.folder / "sweep.csv").write_text(f"code\n{rows}\n")
    done = stack.well("submit", "hello", "--capacity", "pool", "--sweep", "sweep.csv", "--output", "json")
    return str(done.json["sweep"])


def test_the_runs_of_a_sweep_are_listed_and_those_that_go_on_are_cancelled(stack: Stack) -> None:
    # The pool has three machines: with one of them held, the short run might wait behind the others.
    sweep = swept(stack, "print('short')", SLEEP, f"{SLEEP} ")
    stack.until(lambda: sum(job["state"] == "JOB_STATE_SUCCEEDED" for job in stack.jobs()) == 1)
    alone = held(stack, 1)
    listed = stack.run("jobs", "list", "--sweep", sweep, "--output", "json").json["jobs"]
    assert len(listed) == 3 and {job["labels"]["slipway-sweep"] for job in listed} == {sweep}
    done = stack.well("jobs", "cancel", "--sweep", sweep)
    assert done.out.startswith("cancelling 2 of 3 jobs ") and "still sends" not in done.err
    stack.until(lambda: sum(job["state"] == "JOB_STATE_CANCELLED" for job in stack.jobs()) == 2)
    told = stack.run("submit", "hello", "--capacity", "pool", "--sweep", "sweep.csv").out.splitlines()[-1]
    assert told.endswith("--capacity pool --sweep sweep.csv --retry-cancelled")
    assert "1 succeeded" in (listing := stack.run("jobs", "list", "--sweep", sweep).err) and "2 cancelled" in listing
    assert [job["displayName"] for job in stack.jobs() if job["state"] == "JOB_STATE_RUNNING"] == [alone]
    again = stack.run("jobs", "cancel", "--sweep", sweep)
    assert again.code == 4 and f"sweep {sweep} has nothing to cancel" in again.err


def test_a_cancelled_sweep_is_one_document(stack: Stack) -> None:
    """With whether runs of it are still sent: that command ends by itself."""
    sweep = swept(stack, SLEEP)
    (journal,) = stack.folder.rglob(f"{sweep}.jsonl")
    assert is_being_sent(journal) is False and is_being_sent(journal.with_name("none")) is None
    with journal.open() as sender:
        fcntl.flock(sender, fcntl.LOCK_EX)
        done = stack.run("jobs", "cancel", "--sweep", sweep, "--output", "json")
    assert "still sends runs of it ends" in done.err
    document = done.json
    assert document["kind"] == "sweep-cancellation" and document["jobs"] == 1 and document["sending"] is True
    assert document["cancelling"] == [stack.jobs()[0]["name"]]
    words = ("submit", "hello", "--capacity", "pool", "--sweep", "sweep.csv")
    again = stack.run(*words, "--retry-cancelled")  # Whether or not it has ended yet.
    assert again.code == 0 and "1 run to send: 1" in again.out, again.err
    assert again.out.splitlines()[-1] == "  sent once more: 1"
    assert sorted(job["labels"]["slipway-run"] for job in stack.jobs()) == ["0", "0-1"]


def test_whoever_sends_a_cancelled_sweep_sends_no_more_of_it(stack: Stack) -> None:  # N5
    """The command went on sending, on this machine and elsewhere, until somebody ended it."""
    (stack.folder / "sweep.csv").write_text("code\n" + "".join(f'"{SLEEP}{" " * run}"\n' for run in range(40)))
    words = ("submit", "hello", "--capacity", "pool", "--sweep", "sweep.csv", "--request-id", "grid")
    with stack.started(*words, "--rate", "30") as sending:
        stack.until(lambda: bool(stack.jobs()))
        elsewhere = {"SLIPWAY_JOURNAL": "another-machine", "SLIPWAY_LOOK_FOR": "2s"}
        done = stack.well("jobs", "cancel", "--sweep", "grid", **elsewhere)
        assert "cancelling" in done.out and "still sends" not in done.err
        assert "not listed; jobs that a list may still hide are looked for" in done.err
        assert sending.stderr is not None
        assert sending.wait() == 8, "it sees that it is cancelled"
        assert "sweep grid was cancelled" in sending.stderr.read()
    sent = stack.jobs()
    assert 0 < len(sent) < 40
    stack.until(lambda: all(job["state"] == "JOB_STATE_CANCELLED" for job in stack.jobs()))
    for journal in ({}, {"SLIPWAY_JOURNAL": "another-machine"}):
        again = stack.run(*words, **journal)
        assert again.code == 8 and "--retry-cancelled" in again.err and len(stack.jobs()) == len(sent), again.err
    stack.well(*words, "--rate", "0", "--retry-cancelled")
    assert len(stack.jobs()) == len(sent) + 40
    stack.well("jobs", "cancel", "--sweep", "grid", "--yes", SLIPWAY_LOOK_FOR="2s")


def test_what_is_to_be_cancelled_must_be_said_once(standing: Stack) -> None:
    for words in ((), ("hello-1", "--sweep", "hello-2"), ("--sweep", 'a"b')):
        assert standing.run("jobs", "cancel", *words).code == 2
    unknown = standing.run("jobs", "cancel", "--sweep", "hello-nothing", SLIPWAY_LOOK_FOR="1s")
    assert unknown.code == 4 and "no jobs of sweep hello-nothing" in unknown.err


def test_a_sweep_that_nobody_has_sent_is_an_error_and_the_nearest_is_named(stack: Stack) -> None:
    """It read as a sweep without jobs, exit code 0."""
    sweep = swept(stack, "print('fine')", "raise SystemExit(3)")
    for verb in ("list", "cancel"):
        wrong = stack.run("jobs", verb, "--sweep", f"{sweep}x", SLIPWAY_LOOK_FOR="1s")
        assert wrong.code == 4 and f" {sweep}x\n" in wrong.err
        assert f"fix: slipway jobs list --sweep {sweep}\n" in wrong.err
    assert stack.well("jobs", "list", "--sweep", sweep, "--state", "cancelled").err == "no jobs match\n"

    # Each run is listed with what tells it from the others.
    stack.all_end()
    listed = stack.well("jobs", "list", "--sweep", sweep)
    fine, failed = (line.split() for line in listed.out.splitlines()[1:])
    assert (failed[0], failed[2], " ".join(failed[-2:])) == ("1", "failed", "code=raise SystemExit(3)")
    assert (fine[0], fine[2], fine[-1]) == ("0", "succeeded", "code=print('fine')")
    assert "listed: 1 succeeded, 1 failed" in listed.err and "failed, once more: " in listed.err
    document = stack.run("jobs", "list", "--sweep", sweep, "--output", "json").json
    assert {job["parameters"]["code"] for job in document["jobs"]} == {"raise SystemExit(3)", "print('fine')"}


def test_copies_that_stood_aside_are_no_runs_and_have_not_failed() -> None:  # N7
    """A copy ends by itself; before, each was told as a run that had failed and was sent once more."""

    def one(name: str, label: str, state: str, **began: str) -> VertexJob:
        body = {"name": name, "state": f"JOB_STATE_{state}", "labels": {"slipway-run": label}, **began}
        return VertexJob.read(body)

    ran = one("a", "0", "SUCCEEDED", startTime="2026-11-20T10:00:00Z")
    jobs = [ran, one("b", "0", "EXPIRED"), one("c", "1", "QUEUED"), one("d", "1", "SUCCEEDED")]
    told = tally(jobs, copies(jobs))
    assert told == "2 runs listed: 1 succeeded, 1 queued; stood aside as copies: 2"
    recalled = [one("a", "0", "CANCELLED"), one("b", "0-1", "RUNNING")]
    assert tally(recalled) == "1 run listed: 1 running; sent once more: 1"


def test_what_all_runs_share_is_not_repeated() -> None:
    assert apart([{"trees": 1, "seed": 2}, {"trees": 3, "seed": 2}]) == ["trees=1", "trees=3"]
    assert apart([{"trees": 1, "seed": 2}]) == ["trees=1, seed=2"]
    assert apart([{}]) == ["–"]
