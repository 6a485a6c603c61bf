"""`slipway jobs logs`: by role, followed, and of many thousand lines with how long that takes."""

import json
from datetime import UTC, datetime

import pytest

from slipway.front.cli.jobs import logs
from slipway.google.connection import Connection
from slipway.google.endpoints import OVERRIDES, Endpoints
from slipway.google.jobs import VertexJob
from slipway.google.session import Session
from slipway.google.transport import Transport
from slipway.using.context import Context
from slipway.using.jobs.failure import FailureReason, read_failure, unread_notes, unread_reason
from slipway.using.jobs.log import WHOLE_LOG
from tests.builders import jobs
from tests.slipway.front.cli.past import FAILS, PRINTS, Past
from tests.slipway.front.cli.stack import Stack
from tests.slipway.google.conftest import server as _server
from tests.slipway.google.server import Server

pytestmark = pytest.mark.smoke

server = _server
BEGIN = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def test_logs_are_shown_by_role(past: Past) -> None:  # P4
    def shown(*words: str) -> list[str]:
        return past.stack.well("jobs", "logs", past.crew, *words).out.splitlines()

    assert {"scheduler  line of 0", "workers-0  line of 1", "workers-1  line of 2"} <= set(shown())
    workers = shown("--role", "workers")
    assert len(workers) >= 2 and all(line.startswith("workers-") for line in workers)
    assert shown("--role", "workers-1") == ["workers-1  line of 2"]
    assert len(shown("--tail", "2")) == 2
    assert shown("--role", "scheduler", "--tail", "1") == ["scheduler  line of 0"], "the last of its lines"
    none = past.stack.well("jobs", "logs", past.crew, "--role", "workers", "--severity", "critical").err
    assert "no lines of workers of severity critical; crew-" in none and "is succeeded" in none, "it has ended"
    documents = [json.loads(line) for line in shown("--output", "json")]
    (first,) = (document for document in documents if document["role"] == "scheduler")
    assert first["text"] == "line of 0" and {(document["schema"], document["kind"]) for document in documents} == {
        (2, "log-line")
    }
    for role, said in (("nobody", "has no role 'nobody'"), ("", "'--role': it is empty")):
        refused = past.run("jobs", "logs", past.crew, "--role", role)
        assert refused.code == 2 and refused.out == "" and said in refused.err, "no role is not every role"


def test_following_takes_the_same_choices_and_ends_with_the_job(stack: Stack) -> None:
    code = "import os, time; [(print('line', n, flush=True), time.sleep(0.3)) for n in range(8)]"
    name = stack.sends("crew", "-p", f"code={code}")["displayName"]
    workers = stack.well("jobs", "logs", name, "--follow", "--role", "workers")
    assert workers.out.splitlines() == [f"workers  line {n}" for n in range(8)]
    last = stack.well("jobs", "logs", name, "--follow", "--role", "workers", "--tail", "4", "--output", "json")
    texts = [json.loads(line)["text"] for line in last.out.splitlines()]
    assert texts and texts == [f"line {n}" for n in range(8)][-len(texts) :] and len(texts) <= 4


def test_without_the_role_for_logs_following_goes_on_and_names_it(past: Past) -> None:  # P5
    with past.stack.without("roles/logging.viewer"):
        done = past.run("submit", "hello", "-p", f"code={PRINTS}", "--request-id", "nightly", "--follow")
        shown = past.run("jobs", "logs", past.fine)
    assert done.code == 0 and "logs can't be shown" in done.err and "roles/logging.viewer" in done.err
    assert shown.code == 3 and "ask for roles/logging.viewer" in shown.err


def test_it_is_said_while_a_long_log_is_printed(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "_LONG", 20)
    monkeypatch.setattr(logs, "_A_MINUTE", 50)
    name = stack.ended("hello", "-p", "code=for n in range(120): print('line', n)")
    done = stack.well("jobs", "logs", name)
    assert [line.partition(" ")[0] for line in done.err.splitlines()] == ["20", "50", "100"]
    assert [line for line in done.out.splitlines() if " line " in line] == [f"main  line {n}" for n in range(120)]
    assert stack.well("jobs", "logs", name, "--tail", "90").err == ""


def patient(server: Server, slept: list[float]) -> Connection:
    session = Session(Transport({}), WHOLE_LOG, sleep=slept.append, chance=lambda: 0.5)
    return Connection(session, Endpoints(overrides=dict.fromkeys(OVERRIDES, server.url)))


def test_a_minute_s_limit_is_waited_for_and_no_line_is_left_out(server: Server) -> None:
    """It ended with as many lines as a minute gives, and exit code 0."""
    slept: list[float] = []
    page = {"entries": [{"textPayload": "a"}], "nextPageToken": "next"}

    def answer() -> bytes:
        server.status = 429 if 1 < len(server.sent) < 9 else 200
        return json.dumps(page if len(server.sent) == 1 else {"entries": [{"textPayload": "b"}]}).encode()

    server.next_content = answer
    lines = [entry.text for entry in patient(server, slept).logging("p").entries("")]
    assert lines == ["a", "b"] and sum(slept) > 45


# A failed job says why where its failure is told: by `--wait`, `--follow` and `jobs show`.


CREW = """import os, sys, time
if os.environ['CLUSTER_SPEC'].count('"type": "workerpool1"'):
    print('worker gives up', file=sys.stderr); raise SystemExit(3)
print('chief waits', file=sys.stderr); time.sleep(600)"""


def test_the_last_errors_of_the_replica_that_failed_are_told_with_its_failure(past: Past) -> None:
    words = ("submit", "hello", "-p", f"code={FAILS}", "--request-id", "failing")
    waited = past.run(*words, "--wait")
    assert waited.code == 4
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


def test_a_replica_that_failed_before_the_last_one_began_is_read_too(past: Past) -> None:
    body = past.stack.cloud.rest("GET", f"/v1/{past.stack.shown(past.failed)['name']}")
    del body["startTime"]  # The service has no time at which such a job began.
    failure = read_failure(Context(environ=past.stack.env(), folder=past.stack.folder), VertexJob.read(body))
    assert failure is not None and failure.who == "main"


def test_of_several_replicas_it_is_the_one_that_the_service_names(stack: Stack) -> None:
    done = stack.run("submit", "crew", "-p", f"code={CREW}", "-p", "workers=2", "--wait")
    assert done.code == 4 and "The replica workerpool1-" in done.err
    assert "the last lines of workers-" in done.err and "worker gives up" in done.err and "chief waits" not in done.err


def test_a_job_that_wrote_no_error_shows_its_last_lines_and_one_that_wrote_nothing_none(stack: Stack) -> None:
    loud = stack.run("submit", "hello", "-p", "code=print('begun'); raise SystemExit(3)", "--wait")
    assert "last lines of main:\n         begun" in loud.err and "a non-zero status of 3" in loud.err
    silent = stack.run("submit", "hello", "-p", "code=raise SystemExit(3)", "--wait")
    assert silent.code == 4 and "the last lines" not in silent.err


def test_who_was_killed_is_told_how_much_memory_it_used(stack: Stack) -> None:
    """The last words of a killed process tell nothing, and Vertex AI calls each SIGKILL a lack of memory."""
    flag = stack.folder / "sampled"
    waits = f"while not os.path.exists({str(flag)!r}): time.sleep(0.05)"
    code = f"import os, time\nprint('begun')\nheld = bytearray(10**8)\n{waits}\nos._exit(137)"
    name = stack.sends("hello", "-p", f"code={code}")["displayName"]
    with stack.settings(monitoring_seconds=0.1):
        stack.until(lambda: bool(stack.shown(name)["usage"]["series"]))
    flag.touch()
    done = stack.run("jobs", "wait", name)
    assert done.code == 4 and "SIGKILL ended main" in done.err and "ran out of memory" not in done.err
    assert " % of the memory of" in done.err and "n1-standard-4, as far as" in done.err and "begun" not in done.err
    assert 0 < stack.shown(name)["failure"]["memory"] <= 1


def test_the_reason_is_the_same_in_every_document_and_an_unread_one_says_so(past: Past) -> None:
    def reasons(*words: str) -> tuple[str | None, str | None]:
        found = past.run(*words, "--output", "json").json
        (job,) = [job for job in found.get("jobs") or [found["job"]] if job["displayName"] == past.failed]
        return job["failureReason"], job["failureReasonWhy"]

    verbs = (
        ("show", past.failed),
        ("wait", past.failed),
        ("list",),
        ("list", "--state", "failed"),
        ("list", "--sort", "x"),
    )
    told = [*(reasons("jobs", *words) for words in verbs), reasons("jobs", "compare", past.failed, past.fine)]
    again = ("submit", "hello", "-p", f"code={FAILS}", "--request-id", "failing", "--wait")
    assert {*told, reasons(*again)} == {("ValueError: the data is not there (main)", None)}
    with past.stack.without("roles/logging.viewer"):
        text, why = reasons("jobs", "list")
        noted = past.run("jobs", "list", "--state", "failed").err
    assert text and "Termination reason: Error." in text and why and "roles/logging.viewer" in why
    assert "1 job with Vertex AI's message only: " in noted


def test_the_logs_of_the_first_failed_jobs_are_read_and_of_others_that_is_said() -> None:
    ended = jobs.job("mlp", state="FAILED", start_time=BEGIN, error="exited")
    reason = unread_reason(ended)
    assert reason.text == "exited" and reason.why.startswith("its log was not read: a list reads ")
    (line,) = unread_notes([reason, reason, FailureReason("fine")])
    assert line.startswith("2 jobs with Vertex AI's message only: its log was not read")


def test_who_was_killed_before_its_memory_was_sampled_shows_its_last_lines_and_what_to_do(stack: Stack) -> None:
    code = "import os\nprint('epoch 3', flush=True)\nos._exit(137)"
    done = stack.run("submit", "hello", "-p", f"code={code}", "--wait")
    assert done.code == 4 and "was not sampled" in done.err and "last lines of main:\n         epoch 3" in done.err
    assert "a smaller batch" in done.err.partition("  fix: ")[2]
    text = stack.well("jobs", "show", stack.jobs()[0]["displayName"]).out
    assert "epoch 3" in text and "a smaller batch" in text


def test_a_log_that_may_not_or_can_not_be_read_is_named_and_hides_nothing(past: Past) -> None:  # P5
    with past.stack.without("roles/logging.viewer"):
        denied = past.run("jobs", "wait", past.failed)
    assert f"roles/logging.viewer on project {past.stack.project}" in denied.err
    with past.stack.faults({"kind": "unavailable", "match": "entries:list"}):
        away = past.run("jobs", "wait", past.failed)
    assert "more is not known: " in away.err
    for done in (denied, away):
        assert done.code == 4 and "Termination reason: Error." in done.err
