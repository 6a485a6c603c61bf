"""`slipway jobs`: list, show, logs, wait, cancel."""

import json
import signal

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.slipway.cli.stack import SLEEP, Stack, held


def submitted(stack: Stack, *words: str) -> str:
    """The name of a job that has ended."""
    done = stack.run("submit", "hello", *words, "--wait", "--output", "json")
    return str(done.json["job"]["displayName"])


def test_jobs_are_listed_newest_first(stack: Stack) -> None:
    first, second = submitted(stack), submitted(stack, "-p", "code=raise SystemExit(1)")
    done = stack.run("jobs", "list")
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0].split() == ["JOB", "STATE", "USER", "ON", "CREATED", "WAIT", "RUN"]
    assert lines[1].startswith(f"{second}  failed     ada   cpu ") and lines[2].startswith(f"{first}  succeeded  ada")
    for verb, code in (("show", 0), ("logs", 0), ("wait", 4)):
        newest = stack.run("jobs", verb, "hello")
        assert newest.code == code and newest.err.startswith("note: hello is a template")
        assert f" {second} (ada, failed)\n" in newest.err
    unsent = stack.run("jobs", "show", "crew")
    assert unsent.code == 4 and "no job 'crew'" in unsent.err and "fix: slipway submit crew" in unsent.err
    cancelled = stack.run("jobs", "cancel", "hello")
    assert cancelled.code == 4 and "a template, and no job" in cancelled.err, "one of many is not guessed at"


def test_a_list_can_be_narrowed(stack: Stack) -> None:
    first, second = submitted(stack), submitted(stack, "-p", "code=raise SystemExit(1)")

    def names(*words: str) -> list[str]:
        return [job["displayName"] for job in stack.run("jobs", "list", "--output", "json", *words).json["jobs"]]

    assert names() == [second, first]
    assert names("--state", "failed") == [second]
    assert names("--limit", "1") == [second]
    assert names("--template", "crew") == [] == names("--user", "somebody")
    assert names("--user", "Ada", "--template", "hello", "--state", "succeeded") == [first]
    assert {first, second} <= set(names("--all", "--limit", "1000"))


@pytest.mark.parametrize(
    ("flag", "value"), [("--user", "漢字"), ("--user", '"'), ("--user", ""), ("--template", "***"), ("--template", "")]
)
def test_a_filter_that_leaves_nothing_to_look_for_lists_nobodys_jobs(stack: Stack, flag: str, value: str) -> None:
    submitted(stack)
    done = stack.run("jobs", "list", flag, value)
    assert done.code == 2 and done.out == "" and f"can be found by the {flag[2:]} " in done.err


def test_an_invalid_sweep_is_told_as_one(stack: Stack) -> None:
    for verb in ("list", "cancel"):
        done = stack.run("jobs", verb, "--sweep", 'a"')
        assert done.code == 2 and "invalid sweep id 'a\"'" in done.err and "--request-id" not in done.err
    assert stack.run("jobs", "list", "--sweep", "").code == 2


def test_no_role_is_not_every_role(stack: Stack) -> None:
    done = stack.run("jobs", "logs", submitted(stack), "--role", "")
    assert done.code == 2 and done.out == "" and "'--role': it is empty" in done.err


def test_what_somebody_sent_does_nothing_to_a_terminal(stack: Stack) -> None:
    name = submitted(stack, "-p", "code=print('fine') #\x1b]0;evil\a", "--request-id", "title")
    for words in (("jobs", "show", name), ("jobs", "show", name, "-o", "json"), ("jobs", "logs", name)):
        done = stack.run(*words)
        assert done.code == 0 and not set("\x1b\a") & set(done.said)
    again = stack.run("submit", "hello", "-p", "code=1 #\x1b[2J", "--request-id", "title")
    assert again.code == 2 and "\x1b" not in again.err


def test_no_jobs_yet_is_no_error(snapshot: SnapshotAssertion, stack: Stack) -> None:
    done = stack.run("jobs", "list")
    assert done.code == 0 and done.out == "" and f"no jobs of stack {stack.name} yet" in done.err
    assert stack.run("jobs", "list", "--output", "json").json == {"schema": 2, "kind": "jobs", "jobs": []}
    mistyped = stack.run("jobs", "list", "--template", "helo")
    assert mistyped.code == 0 and mistyped.out == ""
    assert mistyped.err == snapshot


def test_a_job_is_shown_by_name_number_and_full_name(stack: Stack) -> None:
    name = submitted(stack)
    job = stack.jobs()[0]
    for text in (name, job["name"].rsplit("/", 1)[-1], job["name"]):
        done = stack.run("jobs", "show", text)
        assert done.code == 0, done.err
        facts = dict(line.split(maxsplit=1) for line in done.out.splitlines())
        assert facts["job"] == name and facts["state"] == "succeeded" and facts["template"] == "hello"
        assert facts["commit"] == "3f9c2e1" and facts["on"] == f"cpu ({stack.cluster})"  # N8
        assert facts["code"] == "python:3.11"  # N8
        assert facts["machines"] == "1 × n1-standard-4 (main)"


def test_a_job_is_shown_with_the_values_it_was_submitted_with(stack: Stack) -> None:
    stack.run("submit", "hello", "-p", "code=print(1)\nprint(2)", "--request-id", "r1", "--wait")
    name = stack.run("jobs", "list", "--output", "json").json["jobs"][0]["displayName"]
    assert "parameters code='print(1)\\nprint(2)'\n" in stack.run("jobs", "show", name).out
    shown = stack.run("jobs", "show", name, "--output", "json").json["job"]
    assert shown["parameters"] == {"code": "print(1)\nprint(2)"}


def test_a_replica_finds_the_values_in_its_environment_as_they_were_typed(stack: Stack) -> None:
    code = "import os; print(os.environ['SLIPWAY_PARAMETERS'])  # $(PATH) is not expanded, é"
    stack.run("submit", "hello", "-p", f"code={code}", "--wait")
    logs = stack.run("jobs", "logs", stack.jobs()[0]["displayName"]).out
    (printed,) = (line.removeprefix("main  ") for line in logs.splitlines() if line.startswith("main  "))
    assert json.loads(printed) == {"code": code} and "é" in printed


def test_an_ended_job_is_not_cancelled_and_leaves_its_pool_idle(stack: Stack) -> None:
    name = submitted(stack)
    done = stack.run("jobs", "cancel", name)
    assert done.code == 4 and f"job {name} has ended" in done.err and "nothing to cancel" in done.err
    assert "why: succeeded" in done.err
    row = stack.run("pools", "--output", "json").json["pools"][0]
    assert row["busy"] == 0 and row["idleSince"] is not None


def test_a_waiting_job_is_shown_with_its_reason(stack: Stack) -> None:  # N9
    holder = held(stack)
    waiting = stack.run("submit", "hello", "--output", "json").json["job"]["displayName"]
    done = stack.run("jobs", "show", waiting)
    assert (
        "state      queued: pool full: cpu/workers" in done.out and f"3 machines busy with {holder} (ada," in done.out
    )
    shown = stack.run("jobs", "show", waiting, "--output", "json").json["job"]
    assert shown["waitsFor"].startswith("pool full") and shown["startTime"] is None


def test_a_job_that_never_started_has_cost_nothing(stack: Stack) -> None:  # N9, Z8
    held(stack)
    waiting = stack.run("submit", "hello", "--output", "json").json["job"]["displayName"]
    assert stack.run("jobs", "cancel", waiting).code == 0
    done = stack.run("jobs", "wait", waiting)
    assert done.code == 8 and f"{waiting}  cancelled: waited " in done.err and "and never started\n" in done.err
    assert "cost" not in done.err and "price" not in done.err


def test_an_unknown_job_is_an_error_with_the_nearest_name(stack: Stack) -> None:
    name = stack.run("submit", "hello", "--output", "json").json["job"]["displayName"]
    for verb in ("show", "logs", "wait", "cancel"):
        done = stack.run("jobs", verb, name[:-1])
        assert done.code == 4 and f"error: no job '{name[:-1]}'" in done.err
        assert f"fix: {name}, if that was" in done.err


@pytest.mark.parametrize(
    "text", ["4711", "nothing-like-it", 'a"b', "projects/slipway-local/locations/us-central1/customJobs/4"]
)
def test_what_names_no_job(stack: Stack, text: str) -> None:
    assert stack.run("jobs", "show", text).code == 4


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("projects/slipway-local/locations/europe-west4/customJobs/4", "the catalog's stack in us-central1"),
        ("projects/another/locations/us-central1/customJobs/4", "the catalog's stack in slipway-local"),
        ("projects/slipway-local/persistentResources/4", "invalid job name"),
    ],
)
def test_a_name_from_elsewhere_is_refused(stack: Stack, text: str, said: str) -> None:
    done = stack.run("jobs", "show", text)
    assert done.code == 2 and said in done.err


def test_logs_are_shown_by_role(stack: Stack) -> None:
    code = "import os; print('line of', os.environ['RANK'])"
    done = stack.run(
        "submit",
        "crew",
        "-p",
        "workers=2",
        "-p",
        f"code={code}; import time; time.sleep(2)",
        "--wait",
        "--output",
        "json",
    )
    name = done.json["job"]["displayName"]
    lines = stack.run("jobs", "logs", name).out.splitlines()
    assert {"scheduler  line of 0", "workers-0  line of 1", "workers-1  line of 2"} <= set(lines)
    workers = stack.run("jobs", "logs", name, "--role", "workers").out.splitlines()
    assert len(workers) >= 2 and all(line.startswith("workers-") for line in workers)
    assert stack.run("jobs", "logs", name, "--role", "workers-1").out.splitlines() == ["workers-1  line of 2"]
    assert len(stack.run("jobs", "logs", name, "--tail", "2").out.splitlines()) == 2
    documents = [json.loads(line) for line in stack.run("jobs", "logs", name, "--output", "json").out.splitlines()]
    assert {"role": "scheduler", "text": "line of 0"}.items() <= next(
        one for one in documents if one["role"] == "scheduler"
    ).items()
    assert all((one["schema"], one["kind"]) == (2, "log-line") for one in documents)
    last = stack.run("jobs", "logs", name, "--role", "scheduler", "--tail", "1")
    assert last.out.splitlines() == ["scheduler  line of 0"], "the last of its lines, not its of the last"
    nobody = stack.run("jobs", "logs", name, "--role", "nobody")
    assert nobody.code == 2 and nobody.out == "" and "has no role 'nobody'" in nobody.err


def test_logs_can_be_followed_to_the_end(stack: Stack) -> None:
    done = stack.run("submit", "hello", "-p", "code=import time; time.sleep(1); print('late')", "--output", "json")
    followed = stack.run("jobs", "logs", done.json["job"]["displayName"], "--follow")
    assert followed.code == 0 and "main  late" in followed.out.splitlines()


def test_following_takes_the_same_choices(stack: Stack) -> None:
    code = "import os, time; [(print('line', n, flush=True), time.sleep(0.3)) for n in range(8)]"
    name = stack.run("submit", "crew", "-p", f"code={code}", "--output", "json").json["job"]["displayName"]
    workers = stack.run("jobs", "logs", name, "--follow", "--role", "workers")
    assert workers.out.splitlines() == [f"workers  line {n}" for n in range(8)]
    last = stack.run("jobs", "logs", name, "--follow", "--role", "workers", "--tail", "4", "--output", "json")
    texts = [json.loads(line)["text"] for line in last.out.splitlines()]
    assert last.code == 0 and texts and texts == [f"line {n}" for n in range(8)][-len(texts) :] and len(texts) <= 4


def test_without_the_role_for_logs_following_goes_on_and_names_it(stack: Stack) -> None:  # P5
    stack.grant("roles/logging.viewer", False)
    try:
        done = stack.run("submit", "hello", "--follow")
        shown = stack.run("jobs", "logs", done.out.split("job ")[1].split()[0])
    finally:
        stack.grant("roles/logging.viewer")
    assert done.code == 0 and "logs can't be shown" in done.err and "roles/logging.viewer" in done.err
    assert shown.code == 3 and "ask for roles/logging.viewer" in shown.err


@pytest.mark.parametrize(("code", "exit_code"), [("print(1)", 0), ("raise SystemExit(7)", 4)])
def test_waiting_ends_with_the_jobs_outcome(stack: Stack, code: str, exit_code: int) -> None:
    name = stack.run("submit", "hello", "-p", f"code={code}", "--output", "json").json["job"]["displayName"]
    done = stack.run("jobs", "wait", name, "--output", "json")
    assert done.code == exit_code and done.json["job"]["ended"] is True


def test_ctrl_c_detaches_and_is_no_error(stack: Stack) -> None:  # N9
    name = held(stack, 1)
    with stack.started("jobs", "wait", name, FORCE_COLOR="1") as process:
        assert process.stderr is not None and "running" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        said = process.communicate()[1]
    assert process.returncode == 130
    assert said == f"stopped watching; {name} goes on\n  fix: come back with: slipway jobs logs {name} --follow\n"
    assert stack.jobs()[0]["state"] == "JOB_STATE_RUNNING"


def test_waiting_ends_with_its_timeout(stack: Stack) -> None:
    name = held(stack, 1)
    done = stack.run("jobs", "wait", name, "--timeout", "1")
    assert done.code == 9 and "it is running, and goes" in done.err


def test_a_running_job_is_cancelled(stack: Stack) -> None:
    name = held(stack, 1)
    done = stack.run("jobs", "cancel", name)
    assert done.code == 0 and done.out == f"cancelling {name}\n"
    assert stack.run("jobs", "wait", name).code == 8


def test_a_waiting_job_is_cancelled(stack: Stack) -> None:
    held(stack)
    waiting = stack.run("submit", "hello", "-p", f"code={SLEEP}", "--output", "json").json["job"]["displayName"]
    assert stack.run("jobs", "cancel", waiting).code == 0
    assert stack.run("jobs", "wait", waiting).code == 8


def test_following_goes_on_when_the_service_is_away_for_a_while(stack: Stack) -> None:
    name = stack.run("submit", "hello", "-p", "code=import time; time.sleep(4)", "--output", "json").json["job"][
        "displayName"
    ]
    with stack.faults({"kind": "unavailable", "match": r"^GET .*/customJobs/\d+$", "times": 6}):
        done = stack.run("jobs", "wait", name.rsplit("/")[-1])
    assert done.code == 0 and "no contact" in done.err and "Ctrl-C loses nothing" in done.err


def test_waiting_for_a_service_that_stays_away_ends_after_the_time_that_is_set(stack: Stack) -> None:
    held(stack)
    name = stack.run("submit", "hello", "-p", f"code={SLEEP}", "--output", "json").json["job"]["displayName"]
    with stack.faults({"kind": "unavailable", "match": r"^GET .*/customJobs/\d+$", "times": 100}):
        done = stack.run("jobs", "wait", name, SLIPWAY_NO_CONTACT="1s")
    assert done.code == 4 and f"{name} goes on; come back" in done.err
    assert stack.run("jobs", "cancel", name).code == 0
