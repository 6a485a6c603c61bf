"""`slipway jobs show`: what a job was, used of its machines, and what happened to it, from a real local cloud."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from slipway.front.cli.jobs.show import _link
from slipway.front.cli.terminal.watching import cost_words
from slipway.google.connection import connect
from slipway.google.monitoring import CPU
from slipway.model.prices import UNKNOWN, Price
from slipway.using.jobs.cost import JobCost
from slipway.using.jobs.follower import Follower, Progress
from tests.slipway.front.cli.catalogs import L4, NO_L4, NO_SPOT
from tests.slipway.front.cli.past import PRINTS, Past
from tests.slipway.front.cli.stack import PROJECT, REGION, SLEEP, Stack, held

T4 = {"machineType": "n1-standard-4", "acceleratorType": "NVIDIA_TESLA_T4", "acceleratorCount": 1}
A100 = {"machineType": "a2-highgpu-8g", "acceleratorType": "NVIDIA_TESLA_A100", "acceleratorCount": 8}
QUOTA = {"custom_model_training_nvidia_t4_gpus": 4, "custom_model_training_preemptible_cpus": 64}


@pytest.fixture
def quick(stack: Stack) -> Iterator[Stack]:
    """Its cloud delays little after a preemption."""
    with stack.settings(quota=QUOTA, spot_restart_seconds=0.2, stockout_retry_seconds=0.1):
        yield stack


def test_a_job_is_shown_by_name_number_and_full_name(past: Past) -> None:  # N8
    full = past.stack.shown(past.fine)["name"]
    for text in (past.fine, full.rsplit("/", 1)[-1], full):
        facts = dict(line.split(maxsplit=1) for line in past.stack.well("jobs", "show", text).out.splitlines())
        assert facts["job"] == past.fine and facts["state"] == "succeeded" and facts["template"] == "hello"
        assert facts["commit"] == "3f9c2e1" and facts["on"] == f"cpu ({past.stack.cluster})"
        assert facts["code"] == "python:3.11" and facts["machines"] == "1 × n1-standard-4 (main)"


def test_its_values_are_shown_as_they_were_typed_and_do_nothing_to_a_terminal(past: Past) -> None:
    assert past.stack.shown(past.fine)["parameters"] == {"code": PRINTS}
    for words in (("jobs", "show", past.fine), ("jobs", "show", past.fine, "-o", "json"), ("jobs", "logs", past.fine)):
        assert not set("\x1b\a") & set(past.stack.well(*words).said)
    assert "parameters code=\"print(1)\\nprint('fine') #" in past.run("jobs", "show", past.fine).out
    again = past.run("submit", "hello", "-p", "code=1 #\x1b[2J", "--request-id", "nightly")
    assert again.code == 2 and "\x1b" not in again.err


def test_a_replica_finds_the_values_in_its_environment_as_they_were_typed(stack: Stack) -> None:
    code = "import os; print(os.environ['SLIPWAY_PARAMETERS'])  # $(PATH) is not expanded, é"
    logs = stack.well("jobs", "logs", stack.ended("hello", "-p", f"code={code}")).out
    (printed,) = (line.removeprefix("main  ") for line in logs.splitlines() if line.startswith("main  "))
    assert json.loads(printed) == {"code": code} and "é" in printed


def test_a_waiting_job_is_shown_with_its_reason(small: Stack) -> None:  # N9
    holder = held(small)
    waiting = small.sends("hello")["displayName"]
    text = small.well("jobs", "show", waiting).out
    assert "state      queued: pool full: cpu/workers" in text and f"1 machine busy with {holder} (ada," in text
    shown = small.shown(waiting)
    assert shown["waitsFor"].startswith("pool full") and shown["startTime"] is None

    spot = ("hello", "--capacity", "spot", "-p", f"code={SLEEP}")
    with small.settings(quota={"custom_model_training_preemptible_cpus": 4}):
        first, second = (small.sends(*spot)["displayName"] for _ in range(2))
        small.until(lambda: small.jobs()[1]["state"] == "JOB_STATE_RUNNING")
        waits = small.shown(second)["waitsFor"]
    assert waits.startswith(f"preemptible quota full: 4 of 4 vCPUs in use with {first} (ada, ")
    assert ", this needs 4" in waits


def test_gpu_and_cpu_use_are_charted_and_given_as_numbers(stack: Stack) -> None:  # Z5
    stack.beside_pools("hello", "on-demand", machine=T4)
    stack.publish()
    with stack.settings(quota=QUOTA, monitoring_seconds=0.2):
        job = stack.sends("hello", "-p", f"code={SLEEP}")
        name = job["displayName"]
        stack.until(lambda: len(stack.shown(name)["usage"]["series"]) == 4)
        text = stack.well("jobs", "show", name, COLUMNS="100").out
        number, now = job["id"], datetime.now(UTC)
        monitoring = connect(stack.env()).monitoring(PROJECT)
        means = monitoring.series(CPU, (number, "1"), now - timedelta(hours=5), now, period=120)
        line = re.compile(rf"{name}  running \d+:\d\d   gpu [▁-█ ]+ \d+ %  cpu [▁-█ ]+ \d+ %")
        stack.watched("jobs", "wait", name, enough=line.search, COLUMNS="120")
    (mean,) = means  # As a run of hours is read, and several jobs at once.
    assert (mean.job, mean.task, len(mean.points)) == (number, "workerpool0-0", 1)
    rows = [re.split(" {2,}", line) for line in text.splitlines() if line.startswith("main  ")]
    assert [row[1] for row in rows] == ["cpu", "memory", "gpu 0", "gpu 0 memory"]
    assert "\x1b" not in text and any(block in text for block in "▁▂▃▄▅▆▇█")
    found = {one["metric"]: one for one in stack.shown(name)["usage"]["series"]}
    assert set(found) == {
        *("cpu/utilization", "memory/utilization"),
        *("accelerator/utilization", "accelerator/memory/utilization"),
    }
    gpu = found["accelerator/utilization"]
    assert (gpu["accelerator"], gpu["role"], gpu["replica"]) == ("0", "main", "workerpool0-0")
    assert 0 <= gpu["mean"] <= gpu["max"] <= 1 and gpu["last"] == gpu["points"][-1]["value"]


def test_what_can_not_be_read_is_named_and_the_rest_is_shown(stack: Stack) -> None:  # P5
    """Time series are read by the role for quota too."""
    name = held(stack, 1)
    with stack.without("roles/cloudquotas.viewer"):
        text, document = stack.well("jobs", "show", name).out, stack.shown(name)
    assert "usage      not known: " in text and "for roles/monitoring.viewer on project local-project)" in text
    assert document["usage"]["series"] == [] and "roles/monitoring.viewer" in document["usage"]["why"]
    with stack.without("roles/logging.viewer"):
        text, document = stack.well("jobs", "show", name).out, stack.shown(name)
    assert "restarts   not known: " in text and "roles/logging.viewer" in text
    assert document["restarts"] is None and "roles/logging.viewer" in document["eventsWhy"]
    with stack.faults({"kind": "unavailable", "match": "timeSeries", "times": 20}):
        text = stack.well("jobs", "show", name).out
    assert "state      running" in text and "usage      not known: " in text


def test_the_shells_of_a_job_with_web_access_are_shown_while_it_runs(stack: Stack) -> None:
    stack.spec()["enableWebAccess"] = True
    stack.publish()
    name = held(stack, 1)
    (link,) = stack.shown(name)["webAccess"].values()
    assert f"web access main {link}\n" in stack.well("jobs", "show", name).out
    answer = stack.cloud.call("GET", link.removeprefix(stack.cloud.url))
    assert answer.status_code == 501 and "interactive shell" in answer.text
    stack.cancel_all()
    assert stack.run("jobs", "wait", name).code == 8
    assert "web access" not in stack.well("jobs", "show", name).out


def test_a_link_without_a_scheme_can_be_opened() -> None:
    """The service gives the host alone."""
    assert _link("cb68e24f-dot-us-central1.aiplatform-training.googleusercontent.com").startswith("https://cb68e24f-")
    assert _link("http://127.0.0.1:1/x") == "http://127.0.0.1:1/x"


def test_preemptions_and_restarts_are_shown(quick: Stack) -> None:  # X1, X2
    with quick.scenario(spot={"preempt": [{"job": "hello", "after": 0, "times": 2}]}):
        name = quick.ended("hello", "--capacity", "spot", "-p", "code=import time; time.sleep(0.5)")
    text, document = quick.well("jobs", "show", name).out, quick.shown(name)
    assert "state      succeeded" in text and "restarts   2, 2 preemptions\n" in text
    assert "  preemption  main " in text and "of replica workerpool0-0 was preempted." in text
    assert (document["restarts"], document["preemptions"]) == (2, 2)
    first = document["events"][0]
    assert (first["kind"], first["replica"], first["role"]) == ("preemption", "workerpool0-0", "main")
    assert first["time"] >= document["startTime"][:19]
    assert "of replica workerpool0-0 was preempted." in quick.well("jobs", "logs", name).out
    lines = quick.well("jobs", "logs", name, "--role", "service", "--output", "json").out
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


def test_a_preempted_job_costs_the_same_wherever_it_is_told(stack: Stack) -> None:  # X7
    """In `--follow`, `jobs show` and JSON; how long it was without machines is counted where the service tells it."""
    stack.beside_pools("hello", "spot", machine=A100)
    stack.publish()
    gpus = "custom_model_training_preemptible_nvidia_a100_gpus"
    quota = dict.fromkeys(("custom_model_training_preemptible_cpus", gpus), 512)
    words = ("submit", "hello", "-p", "code=import time; time.sleep(1)", "--request-id", "r")
    taken = {"job": "hello", "after": 0.2, "times": 1}
    with stack.scenario(spot={"preempt": [taken]}), stack.settings(quota=quota, spot_restart_seconds=3):
        followed = stack.run(*words, "--follow")
    name = stack.jobs()[0]["displayName"]
    shown = dict(line.split(maxsplit=1) for line in stack.well("jobs", "show", name).out.splitlines() if line)
    documents = [
        stack.shown(name),
        stack.run("jobs", "wait", name, "--output", "json").json["job"],
        stack.run(*words, "--wait", "--output", "json").json["job"],
    ]
    assert {one["costAtMost"] for one in documents} == {False}
    (cost,) = {one["cost"] for one in documents}
    told = f"${Decimal(cost):.4f}"
    assert f"its machines cost {told}\n" in followed.err and shown["cost"] == told
    assert " of it without machines" in shown["ran"] and f"ran {shown['ran']}, " in followed.err
    one = documents[0]
    whole = Decimal(one["pricePerHour"]) * Decimal(str(one["runSeconds"])) / 3600
    assert Decimal(cost) < whole / 2, "most of the time it had no machines"
    assert [event["kind"] for event in one["events"]].count("running") == 1
    (listed,) = stack.run("jobs", "list", "--output", "json").json["jobs"]
    assert listed["costAtMost"] and float(listed["cost"]) == pytest.approx(float(whole), rel=1e-3), "it reads no log"


def test_a_job_without_machines_says_what_the_service_says(quick: Stack) -> None:  # N9
    said: list[str] = []

    def waits() -> bool:
        said.append(quick.well("jobs", "show", name).out)
        return "state      pending: " in said[-1]

    with quick.scenario(spot={"preempt": [{"job": "hello", "after": 0, "times": 1}]}):
        name = quick.sends("hello", "--capacity", "spot", "-p", f"code={SLEEP}")["displayName"]
        quick.until(lambda: "startTime" in quick.jobs()[0])
        with quick.scenario(supply=[NO_SPOT]):
            quick.until(waits)
    assert "; the service says: " in said[-1] and "(restart " in said[-1]


def test_a_flex_start_job_says_how_long_it_may_wait_yet(quick: Stack) -> None:  # W2, N9
    quick.beside_pools("hello", "flex-start", machine=L4)
    quick.spec(place=0)["scheduling"] = {"strategy": "FLEX_START", "maxWaitDuration": "7200s", "timeout": "3600s"}
    quick.publish()
    quota = {**QUOTA, "custom_model_training_preemptible_nvidia_l4_gpus": 8}
    with quick.scenario(supply=[NO_L4]), quick.settings(quota=quota):
        job = quick.sends("hello")
        quick.until(lambda: quick.jobs()[0]["state"] == "JOB_STATE_PENDING")
        text = quick.well("jobs", "show", job["displayName"]).out
        vertex = connect(quick.env()).vertex(PROJECT, REGION)
        seen = next(Follower(vertex, vertex.job(job["name"])).events())
    assert "state      pending: flex-start: 2 h" in text and "the service says: Waiting until" in text
    assert isinstance(seen, Progress) and seen.job.create_time
    left = [seen.why(seen.job.create_time + timedelta(seconds=waited)) for waited in (7158, 7159)]
    assert left == [f"in the queue of flex-start: {seconds} s are left" for seconds in (42, 41)]
