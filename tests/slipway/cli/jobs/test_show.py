"""`slipway jobs show`: what a job used of its machines and what happened to it, from a real local cloud."""

import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from slipway.cli.jobs.show import _link
from slipway.cli.terminal.watching import cost_words
from slipway.cloud.connection import connect
from slipway.cloud.monitoring import CPU
from slipway.jobs.cost import JobCost
from slipway.jobs.follower import Follower, Progress
from slipway.prices import UNKNOWN, Price
from tests.slipway.cli.stack import PROJECT, REGION, SLEEP, Stack, held

T4 = {"machineType": "n1-standard-4", "acceleratorType": "NVIDIA_TESLA_T4", "acceleratorCount": 1}
A100 = "custom_model_training_preemptible_nvidia_a100_gpus"
QUOTA = {"custom_model_training_nvidia_t4_gpus": 4, "custom_model_training_preemptible_cpus": 64}


@pytest.fixture
def scenario(stack: Stack) -> Iterator[Any]:
    """Sets what the cloud has; with little delay after a preemption."""

    def play(**parts: Any) -> None:
        stack.cloud.rest("POST", "/slipway/scenario", parts)

    with stack.settings(quota=QUOTA, spot_restart_seconds=0.2, stockout_retry_seconds=0.1):
        yield play
    stack.cloud.rest("DELETE", "/slipway/scenario")


def on_a_terminal(stack: Stack, *words: str, until: str) -> str:
    """What a command has written to a terminal when these letters have come."""
    ours, its = os.openpty()
    environ = stack.env(TERM="xterm", COLUMNS="120")
    command = [sys.executable, "-m", "slipway", *words]
    with subprocess.Popen(command, cwd=stack.folder, env=environ, stdin=its, stdout=its, stderr=its) as process:
        os.close(its)
        said = b""
        while until.encode() not in said:
            said += os.read(ours, 4096)
        said += os.read(ours, 4096)
        process.send_signal(signal.SIGINT)
        while process.poll() is None:
            with contextlib.suppress(OSError):
                os.read(ours, 4096)
    os.close(ours)
    return said.decode()


def test_gpu_and_cpu_use_are_charted_and_given_as_numbers(stack: Stack) -> None:  # Z5
    request = stack.catalog["templates"]["hello"]["offers"][1]["request"]["jobSpec"]
    request["scheduling"] = {"strategy": "STANDARD"}
    request["workerPoolSpecs"][0]["machineSpec"] = T4
    stack.catalog["templates"]["hello"]["offers"][1] |= {"capacityType": "on-demand"}
    stack.publish()
    with stack.settings(quota=QUOTA, monitoring_seconds=0.2):
        done = stack.run("submit", "hello", "--capacity", "on-demand", "-p", f"code={SLEEP}", "--output", "json")
        name = done.json["job"]["displayName"]

        def usage() -> Any:
            return stack.run("jobs", "show", name, "--output", "json").json["job"]["usage"]

        stack.until(lambda: bool(usage()["series"]))
        text = stack.run("jobs", "show", name, COLUMNS="100").out
        number, now = done.json["job"]["id"], datetime.now(UTC)
        monitoring = connect(stack.env()).monitoring(PROJECT)
        means = monitoring.series(CPU, (number, "1"), now - timedelta(hours=5), now, period=120)
        line = on_a_terminal(stack, "jobs", "wait", name, until="cpu ")
    (mean,) = means  # As a run of hours is read, and several jobs at once.
    assert (mean.job, mean.task, len(mean.points)) == (number, "workerpool0-0", 1)
    assert re.search(rf"{name}  running \d+:\d\d   gpu [▁-█ ]+ \d+ %  cpu [▁-█ ]+ \d+ %", line)
    rows = [re.split(" {2,}", line) for line in text.splitlines() if line.startswith("main  ")]
    assert [row[1] for row in rows] == ["cpu", "memory", "gpu 0", "gpu 0 memory"]
    assert "\x1b" not in text and any(block in text for block in "▁▂▃▄▅▆▇█")
    found = {one["metric"]: one for one in usage()["series"]}
    assert set(found) == {
        "cpu/utilization",
        "memory/utilization",
        "accelerator/utilization",
        "accelerator/memory/utilization",
    }
    gpu = found["accelerator/utilization"]
    assert (gpu["accelerator"], gpu["role"], gpu["replica"]) == ("0", "main", "workerpool0-0")
    assert 0 <= gpu["mean"] <= gpu["max"] <= 1 and gpu["last"] == gpu["points"][-1]["value"]


def test_without_its_role_the_rest_is_shown_and_the_role_named(stack: Stack) -> None:  # P5
    name = held(stack, 1)
    stack.grant("roles/cloudquotas.viewer", False)  # It may read time series too.
    try:
        done = stack.run("jobs", "show", name)
        document = stack.run("jobs", "show", name, "--output", "json").json["job"]
    finally:
        stack.grant("roles/cloudquotas.viewer")
    assert done.code == 0 and "usage      not known: " in done.out
    assert "for roles/monitoring.viewer on project slipway-local)" in done.out
    assert document["usage"]["series"] == [] and "roles/monitoring.viewer" in document["usage"]["why"]


def test_the_shells_of_a_job_with_web_access_are_shown_while_it_runs(stack: Stack) -> None:
    stack.catalog["templates"]["hello"]["offers"][0]["request"]["jobSpec"]["enableWebAccess"] = True
    stack.publish()
    name = held(stack, 1)
    (link,) = stack.run("jobs", "show", name, "--output", "json").json["job"]["webAccess"].values()
    assert f"web access main {link}\n" in stack.run("jobs", "show", name).out
    answer = stack.cloud.call("GET", link.removeprefix(stack.cloud.url))
    assert answer.status_code == 501 and "interactive shell" in answer.text
    stack.cancel_all()
    assert stack.run("jobs", "wait", name).code == 8
    assert "web access" not in stack.run("jobs", "show", name).out


def test_a_link_without_a_scheme_can_be_opened() -> None:
    """The service gives the host alone."""
    assert _link("cb68e24f-dot-us-central1.aiplatform-training.googleusercontent.com").startswith("https://cb68e24f-")
    assert _link("http://127.0.0.1:1/x") == "http://127.0.0.1:1/x"


def test_a_job_that_waits_for_quota_says_who_has_it(stack: Stack) -> None:  # N9
    spot = ("submit", "hello", "--capacity", "spot", "-p", f"code={SLEEP}", "--output", "json")
    with stack.settings(quota={"custom_model_training_preemptible_cpus": 4}):
        first, second = (stack.run(*spot).json["job"]["displayName"] for _ in range(2))
        stack.until(lambda: stack.jobs()[1]["state"] == "JOB_STATE_RUNNING")
        shown = stack.run("jobs", "show", second, "--output", "json").json["job"]["waitsFor"]
        assert shown.startswith(f"preemptible quota full: 4 of 4 vCPUs in use with {first} (ada, ")
        assert ", this needs 4" in shown


def test_monitoring_that_is_away_hinders_nothing(stack: Stack) -> None:
    name = held(stack, 1)
    with stack.faults({"kind": "unavailable", "match": "timeSeries", "times": 20}):
        done = stack.run("jobs", "show", name)
    assert done.code == 0 and "state      running" in done.out and "usage      not known: " in done.out


def test_preemptions_and_restarts_are_shown(stack: Stack, scenario: Any) -> None:  # X1, X2
    scenario(spot={"preempt": [{"job": "hello", "after": 0, "times": 2}]})
    code = "code=import time; time.sleep(0.5)"
    done = stack.run("submit", "hello", "--capacity", "spot", "-p", code, "--wait", "--output", "json")
    name = done.json["job"]["displayName"]
    assert done.code == 0, done.err
    text = stack.run("jobs", "show", name).out
    assert "restarts   2, 2 preemptions\n" in text
    assert "  preemption  main " in text and "of replica workerpool0-0 was preempted." in text
    document = stack.run("jobs", "show", name, "--output", "json").json["job"]
    assert (document["restarts"], document["preemptions"]) == (2, 2)
    first = document["events"][0]
    assert (first["kind"], first["replica"], first["role"]) == ("preemption", "workerpool0-0", "main")
    assert first["time"] >= document["startTime"][:19]
    assert "of replica workerpool0-0 was preempted." in stack.run("jobs", "logs", name).out
    lines = stack.run("jobs", "logs", name, "--role", "service", "--output", "json").out
    assert lines.count('"event": "preemption"') == 2 and lines.count('"event": "restart"') == 2


@pytest.mark.parametrize(
    ("cost", "more", "words"),
    [
        (Price(Decimal("2.5")), {}, "$2.50"),
        (Price(Decimal("2.5"), at_most=True), {"untold": True}, "at most $2.50: time without machines is not billed"),
        (Price(Decimal("0.00003")), {}, "under $0.0001"),
        (Price(Decimal("2.5"), complete=False), {}, "$2.50 and more"),
        (UNKNOWN, {"untold": True}, "price unknown"),
    ],
)
def test_what_a_preempted_job_cost_is_a_bound(cost: Price, more: Any, words: str) -> None:  # X7
    assert cost_words(JobCost("spot", 1.0, 3600.0, cost, cost, **more)) == words


def test_a_preempted_job_costs_the_same_wherever_it_is_told(stack: Stack, scenario: Any) -> None:  # X7
    """In `--follow`, `jobs show` and JSON; how long it was without machines is counted where the service tells it."""
    offer = stack.catalog["templates"]["hello"]["offers"][1]
    offer["request"]["jobSpec"]["workerPoolSpecs"][0]["machineSpec"] = {"machineType": "a2-highgpu-8g"} | {
        "acceleratorType": "NVIDIA_TESLA_A100",
        "acceleratorCount": 8,
    }
    stack.publish()
    quota = dict.fromkeys(("custom_model_training_preemptible_cpus", A100), 512)
    scenario(spot={"preempt": [{"job": "hello", "after": 0.2, "times": 1}]})
    with stack.settings(quota=quota, spot_restart_seconds=3):
        words = ("submit", "hello", "--capacity", "spot", "-p", "code=import time; time.sleep(1)", "--request-id", "r")
        followed = stack.run(*words, "--follow")
    (job,) = stack.jobs()
    shown = dict(
        line.split(maxsplit=1) for line in stack.run("jobs", "show", job["displayName"]).out.splitlines() if line
    )
    documents = [
        stack.run("jobs", "show", job["displayName"], "--output", "json").json["job"],
        stack.run("jobs", "wait", job["displayName"], "--output", "json").json["job"],
        stack.run(*words, "--wait", "--output", "json").json["job"],
    ]
    assert {one["costAtMost"] for one in documents} == {False}
    (cost,) = {one["cost"] for one in documents}
    told = f"${Decimal(cost):.4f}"
    assert f"its machines cost {told}\n" in followed.err and shown["cost"] == told
    assert " of it without machines" in shown["ran"] and f"ran {shown['ran']}, " in followed.err
    (one,) = documents[:1]
    whole = Decimal(one["pricePerHour"]) * Decimal(str(one["runSeconds"])) / 3600
    assert Decimal(cost) < whole / 2, "most of the time it had no machines"
    assert [event["kind"] for event in one["events"]].count("running") == 1
    (listed,) = stack.run("jobs", "list", "--output", "json").json["jobs"]
    assert listed["costAtMost"] and float(listed["cost"]) == pytest.approx(float(whole), rel=1e-3), (
        "a list reads no log"
    )


def test_restarts_are_not_guessed_where_the_log_may_not_be_read(stack: Stack) -> None:  # P5
    name = held(stack, 1)
    stack.grant("roles/logging.viewer", False)
    try:
        text = stack.run("jobs", "show", name).out
        document = stack.run("jobs", "show", name, "--output", "json").json["job"]
    finally:
        stack.grant("roles/logging.viewer")
    assert "restarts   not known: " in text and "roles/logging.viewer" in text
    assert document["restarts"] is None and "roles/logging.viewer" in document["eventsWhy"]


def test_a_job_without_machines_says_what_the_service_says(stack: Stack, scenario: Any) -> None:  # N9
    none = {"at": 0, "region": REGION, "machine": "n1-standard-4", "strategy": "spot", "machines": 0}
    scenario(spot={"preempt": [{"job": "hello", "after": 0, "times": 1}]})
    done = stack.run("submit", "hello", "--capacity", "spot", "-p", f"code={SLEEP}", "--output", "json")
    name = done.json["job"]["displayName"]
    stack.until(lambda: "startTime" in stack.jobs()[0])
    scenario(supply=[none])
    said: list[str] = []

    def waits() -> bool:
        said.append(stack.run("jobs", "show", name).out)
        return "state      pending: " in said[-1]

    stack.until(waits)
    assert "; the service says: " in said[-1] and "(restart " in said[-1]


def test_a_flex_start_job_says_how_long_it_may_wait_yet(stack: Stack, scenario: Any) -> None:  # W2, N9
    offer = stack.catalog["templates"]["hello"]["offers"][1]
    spec = offer["request"]["jobSpec"]
    spec["scheduling"] = {"strategy": "FLEX_START", "maxWaitDuration": "7200s", "timeout": "3600s"}
    spec["workerPoolSpecs"][0]["machineSpec"] = {
        "machineType": "g2-standard-4",
        "acceleratorType": "NVIDIA_L4",
        "acceleratorCount": 1,
    }
    offer |= {"capacityType": "flex-start"}
    stack.publish()
    none = {"at": 0, "region": REGION, "machine": "g2-standard-4", "strategy": "any", "machines": 0}
    scenario(supply=[none])
    with stack.settings(quota={**QUOTA, "custom_model_training_preemptible_nvidia_l4_gpus": 8}):
        done = stack.run("submit", "hello", "--capacity", "flex-start", "--output", "json")
        assert done.code == 0, done.err
        name = done.json["job"]["displayName"]
        stack.until(lambda: stack.jobs()[0]["state"] == "JOB_STATE_PENDING")
        text = stack.run("jobs", "show", name).out
        vertex = connect(stack.env()).vertex(PROJECT, REGION)
        seen = next(Follower(vertex, vertex.job(str(done.json["job"]["name"]))).events())
    assert "state      pending: flex-start: 2 h" in text and "the service says: Waiting until" in text
    assert isinstance(seen, Progress) and seen.job.create_time
    left = [seen.why(seen.job.create_time + timedelta(seconds=waited)) for waited in (7158, 7159)]
    assert left == [f"in the queue of flex-start: {seconds} s are left" for seconds in (42, 41)]
