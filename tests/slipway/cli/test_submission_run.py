"""Exactly one job for a request: through lost answers, lagging lists, rate limits, kills and repetitions."""

import json
import signal
import threading
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.cloud.connection import connect
from slipway.submission.journal import EntryState, JournalEntry, SubmissionJournal
from slipway.submission.request import job_name

from .stack import JOBS, PROJECT, SLEEP, Stack
from .test_fallback import packaged

CREATE = r"^POST .*/customJobs$"


def lost(times: int = 1) -> dict[str, Any]:
    return {"kind": "lost-answer", "match": CREATE, "times": times}


def lagging(seconds: float) -> dict[str, Any]:
    return {"kind": "lagging-list", "match": "customJobs", "seconds": seconds}


def test_a_lost_answer_is_looked_up_and_found(stack: Stack) -> None:
    with stack.faults(lost()):
        done = stack.run("submit", "hello", "--request-id", "lost-1", "--output", "json")
    assert done.code == 0, done.err
    assert "request and gave no answer" in done.err and "looking whether the job was" in done.err
    assert [job["name"] for job in stack.jobs()] == [done.json["job"]["name"]]


def test_a_list_that_lags_is_asked_again(stack: Stack) -> None:
    with stack.faults(lost(), lagging(4)):
        done = stack.run("submit", "hello", SLIPWAY_LOOK_FOR="20s")
    assert done.code == 0, done.err
    assert len(stack.jobs()) == 1


def test_an_answer_that_stays_unknown_is_said_with_the_way_on_and_going_on_makes_no_second_job(stack: Stack) -> None:
    words = ("submit", "hello", "-p", "code=print('a b')")
    with stack.faults(lost(), lagging(3600)):
        done = stack.run(*words, "--request-id", "unknown-1", SLIPWAY_LOOK_FOR="2s")
    assert done.code == 75
    assert "whether hello-" in done.err and "was accepted is unknown" in done.err
    assert "-p 'code=print('\"'\"'a b'\"'\"')' --request-id unknown-1" in done.err
    again = stack.run(*words, "--request-id", "unknown-1", "--output", "json", SLIPWAY_LOOK_FOR="2s")
    assert again.code == 0, again.err
    assert again.json["fresh"] is False and len(stack.jobs()) == 1


def test_an_unavailable_service_proves_nothing_so_it_is_looked_up_and_not_sent_again(stack: Stack) -> None:
    with stack.faults({"kind": "unavailable", "match": CREATE, "times": 1}):
        done = stack.run("submit", "hello", "--request-id", "busy-1", SLIPWAY_LOOK_FOR="1s")
    assert done.code == 75 and stack.jobs() == []
    again = stack.run("submit", "hello", "--request-id", "busy-1", SLIPWAY_LOOK_FOR="1s")
    assert again.code == 0 and len(stack.jobs()) == 1


def test_a_rate_limit_is_waited_for_and_the_job_is_sent_once(stack: Stack) -> None:
    stack.cloud.rest("POST", "/slipway/settings", {"submissions_per_minute": 1})
    try:
        stack.run("submit", "hello")
        with stack.started("submit", "hello", "--request-id", "patient-1") as sending:
            assert sending.stderr is not None
            assert "not accepted yet" in sending.stderr.readline()
            stack.cloud.rest("POST", "/slipway/settings", {"submissions_per_minute": 0})
            assert sending.wait() == 0
    finally:
        stack.cloud.rest("POST", "/slipway/settings", {"submissions_per_minute": 0})
    assert len(stack.jobs()) == 2


def test_the_same_request_twice_is_one_job(stack: Stack) -> None:
    first = stack.run("submit", "hello", "--request-id", "nightly-1", "--output", "json")
    second = stack.run("submit", "hello", "--request-id", "nightly-1", "--output", "json")
    assert (first.json["fresh"], second.json["fresh"]) == (True, False)
    assert first.json["job"]["name"] == second.json["job"]["name"] and len(stack.jobs()) == 1


def test_the_same_request_from_another_machine_is_one_job(stack: Stack, tmp_path: Path) -> None:
    stack.run("submit", "hello", "--request-id", "nightly-1")
    stack.folder = tmp_path / "another"
    (stack.folder / ".git").mkdir(parents=True)
    again = stack.run("submit", "hello", "--request-id", "nightly-1")
    assert "with request id nightly-1: nothing" in again.out and "is sent again" in again.out
    assert len(stack.jobs()) == 1


def test_an_id_whose_job_was_cancelled_names_another_way(stack: Stack) -> None:
    """It was said for ever that it was cancelled, and how to cancel it."""
    words = ("submit", "hello", "-p", f"code={SLEEP}", "--request-id", "nightly-1")
    name = stack.run(*words, "--output", "json").json["job"]["displayName"]
    stack.run("jobs", "cancel", name)
    assert stack.run("jobs", "wait", name).code == 8
    again = stack.run(*words, "--wait")
    assert again.code == 8 and "nightly-1, and cancelled: nothing" in again.out
    assert "request id, such as nightly-1-2," in again.out
    assert "slipway jobs cancel" not in again.err and len(stack.jobs()) == 1
    assert stack.run(*words[:-1], "nightly-1-2").code == 0 and len(stack.jobs()) == 2


def test_an_id_that_was_used_for_something_else_is_refused(stack: Stack) -> None:
    stack.run("submit", "hello", "--request-id", "nightly-1")
    done = stack.run("submit", "hello", "-p", "code=print(2)", "--request-id", "nightly-1")
    assert done.code == 2 and "used before, for something else" in done.err
    assert "arguments: print('hello') then, print(2) now" in done.err
    assert len(stack.jobs()) == 1


def test_a_dry_run_ends_as_sending_by_the_same_id_would(stack: Stack) -> None:
    """It planned a job for an id that was used before."""
    words = ("submit", "hello", "--request-id", "nightly-1")
    stack.run(*words)
    known = stack.run(*words, "--dry-run")
    assert known.code == 0 and "nightly-1: nothing is sent again" in known.err and known.json["displayName"]
    entry = stack.journal("nightly-1").read_text()
    other = stack.run(*words, "-p", "code=print(2)", "--dry-run")
    assert other.code == 2 and "used before, for something else" in other.err
    assert stack.journal("nightly-1").read_text() == entry and len(stack.jobs()) == 1
    stack.run(*words, "--wait")
    stack.cloud.rest("DELETE", f"/v1/{stack.jobs()[0]['name']}")
    gone = stack.run(*words, "--dry-run")
    assert gone.code == 4 and "its job is gone" in gone.err


def test_a_job_that_was_deleted_since_is_not_run_again_unasked(stack: Stack) -> None:
    done = stack.run("submit", "hello", "--request-id", "nightly-1", "--wait", "--output", "json")
    stack.cloud.rest("DELETE", f"/v1/{done.json['job']['name']}")
    again = stack.run("submit", "hello", "--request-id", "nightly-1")
    assert again.code == 4 and "its job is gone" in again.err and stack.jobs() == []


def test_what_ran_and_was_deleted_is_not_run_again_from_another_machine_either(
    stack: Stack, snapshot: SnapshotAssertion
) -> None:  # N7
    """Another job was sent, which ended well without having run: what had failed was told as succeeded."""
    packaged(stack)
    url = f"{stack.cloud.url}/upload/storage/v1/b/w-{stack.name}/o?uploadType=media&name=claims/nightly-2"
    stack.cloud.session().post(url, data=b"4711", timeout=30).raise_for_status()
    done = stack.run("submit", "hello", "--request-id", "nightly-2", "--wait")
    assert done.code == 4 and stack.jobs() == []
    assert job_name("hello", "nightly-2") in done.err
    assert stack.plain(done.err).splitlines()[1:] == snapshot


def test_killed_before_the_answer_and_run_again_is_one_job(stack: Stack) -> None:
    words = ("submit", "hello", "--request-id", "killed-1")
    with stack.faults(lost(), lagging(3600)), stack.started(*words) as sending:
        assert sending.stderr is not None and "gave no answer" in sending.stderr.readline()
        sending.kill()
    again = stack.run(*words)
    assert again.code == 0, again.err
    assert "was being sent at" in again.err and len(stack.jobs()) == 1


def test_killed_before_it_reached_the_service_and_run_again_is_one_job(stack: Stack) -> None:
    words = ("submit", "hello", "--request-id", "killed-3")
    with stack.faults({"kind": "delay", "match": CREATE, "seconds": 60.0}), stack.started(*words) as sending:
        stack.until(stack.journal("killed-3").is_file)
        sending.kill()
    again = stack.run(*words, SLIPWAY_LOOK_FOR="1s")
    assert again.code == 0, again.err
    assert len(stack.jobs()) == 1


def test_killed_between_journal_and_sending_and_run_again_is_one_job(stack: Stack) -> None:
    entry = JournalEntry("killed-2", "hello", EntryState.SENDING, "2026-01-01T00:00:00+00:00")
    SubmissionJournal(stack.journal("killed-2").parent).write(entry)
    done = stack.run("submit", "hello", "--request-id", "killed-2")
    assert done.code == 0, done.err
    assert len(stack.jobs()) == 1


def test_interrupted_while_it_looks_says_that_it_is_unknown(stack: Stack) -> None:
    words = ("submit", "hello", "--request-id", "interrupted-1")
    with stack.faults(lost(), lagging(3600)), stack.started(*words) as sending:
        assert sending.stderr is not None and "gave no answer" in sending.stderr.readline()
        sending.send_signal(signal.SIGINT)
        assert sending.wait() == 75
        assert "interrupted while sending" in sending.stderr.read()
    again = stack.run(*words)
    assert again.code == 0 and len(stack.jobs()) == 1


def test_two_at_once_with_one_id_are_one_job(stack: Stack) -> None:
    codes: list[int] = []

    def send() -> None:
        with stack.started("submit", "hello", "--request-id", "twins-1") as sending:
            codes.append(sending.wait())

    with stack.faults({"kind": "delay", "match": CREATE, "seconds": 1.0}):
        threads = [threading.Thread(target=send) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(stack.jobs()) == 1 and 0 in codes


def test_of_two_jobs_of_one_request_the_one_that_has_the_claim_counts(stack: Stack) -> None:
    """Two machines at once can both send; the launchers' claim decides, and so does whoever comes later."""
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
    body = json.loads(stack.run("submit", "hello", "--request-id", "twice-1", "--dry-run").out)
    with stack.faults({"kind": "hold", "match": r"none\.tar\.gz"}):  # without its package a job fails
        first, second = stack.cloud.rest("POST", JOBS, body), stack.cloud.rest("POST", JOBS, body)
        _the_second_counts(stack, first, second)


def _the_second_counts(stack: Stack, first: dict[str, Any], second: dict[str, Any]) -> None:
    winner = second["name"].rsplit("/", 1)[-1]
    url = f"{stack.cloud.url}/upload/storage/v1/b/w-{stack.name}/o?uploadType=media&name=claims/twice-1"
    stack.cloud.session().post(url, data=winner.encode(), timeout=30).raise_for_status()
    stack.grant("roles/storage.objectViewer")
    try:
        done = stack.run("submit", "hello", "--request-id", "twice-1", "--output", "json")
    finally:
        stack.grant("roles/storage.objectViewer", False)
    assert done.code == 0, done.err
    assert done.json["job"]["id"] == winner
    assert done.json["copies"] == [first["name"].rsplit("/", 1)[-1]]


def claimed(stack: Stack, request_id: str) -> Any:
    """A run that fails and has the claim of a request: a job of that request is a copy, which ends well at once. It is
    made of a template that failed with the same parameters."""
    spec = stack.catalog["templates"]["hello"]["offers"][0]["request"]["jobSpec"]["workerPoolSpecs"][0]["containerSpec"]
    args = spec["args"]
    spec["args"] = [one.replace("${code}", "import sys, time; time.sleep(1); sys.exit(3)") for one in args]
    stack.publish()
    runs = stack.run("submit", "hello", "--output", "json").json["job"]
    spec["args"] = args
    for offer in stack.catalog["templates"]["hello"]["offers"]:
        spec = offer["request"]["jobSpec"]["workerPoolSpecs"][0]["containerSpec"]
        spec["args"] += ["--claim", f"gs://w-{stack.name}/claims/${{slipway.request}}"]
    stack.publish()
    url = f"{stack.cloud.url}/upload/storage/v1/b/w-{stack.name}/o?uploadType=media&name=claims/{request_id}"
    stack.cloud.session().post(url, data=runs["id"].encode(), timeout=30).raise_for_status()
    return runs


def test_who_waits_for_a_copy_waits_for_the_job_that_runs_the_submission(stack: Stack) -> None:
    runs = claimed(stack, "copy-1")
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
    assert stack.run("jobs", "show", number, "--output", "json").json["job"]["id"] == number
    stack.cloud.rest("POST", JOBS, {**body, "displayName": runs["displayName"]})
    stack.cloud.rest("DELETE", f"/v1/{runs['name']}")
    stack.until(lambda: all(job["state"] == "JOB_STATE_SUCCEEDED" for job in stack.jobs()))
    shown = stack.run("jobs", "show", runs["displayName"])
    assert shown.code == 0 and f"2 jobs are called {runs['displayName']}; this is the newest" in shown.err
    waited = stack.run("jobs", "logs", number, "--follow")
    assert waited.code == 4 and f"was a copy of {runs['id']}, which is gone" in waited.err


def test_a_journal_that_cannot_be_written_sends_nothing(stack: Stack) -> None:
    (stack.folder / ".slipway").mkdir()
    (stack.folder / ".slipway" / "requests").write_text("in the way")
    done = stack.run("submit", "hello")
    assert done.code == 1 and "could not record request" in done.err and stack.jobs() == []


def test_reads_are_tried_again_while_the_service_is_busy(stack: Stack) -> None:
    with stack.faults({"kind": "unavailable", "match": "^GET .*catalog.json", "times": 2}):
        assert stack.run("templates").code == 0
    with stack.faults({"kind": "lost-answer", "match": "^GET .*catalog.json", "times": 1}):
        assert stack.run("templates").code == 0


@pytest.mark.parametrize("kind", ["unavailable", "lost-answer"])
def test_a_verdict_that_cannot_be_had_stops_no_submission(stack: Stack, kind: str) -> None:
    with stack.faults({"kind": kind, "match": "^GET .*/persistentResources/"}):
        done = stack.run("submit", "hello")
    assert done.code == 0 and "cannot tell whether it starts" in done.out


def test_clients_may_be_shared_by_threads(stack: Stack) -> None:
    connection = connect(stack.env())
    vertex = connection.vertex(PROJECT, "us-central1")
    found: list[str] = []
    threads = [
        threading.Thread(target=lambda: found.append(vertex.persistent_resource(stack.cluster).state))
        for _ in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["RUNNING"] * 16
