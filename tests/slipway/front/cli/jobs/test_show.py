"""`slipway jobs show`: what a job was, used of its machines, and what happened to it, from a real local cloud."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from slipway.front.cli.jobs.open import place_of
from slipway.front.cli.jobs.show import _link
from slipway.front.cli.terminal.watching import cost_words
from slipway.google.connection import connect
from slipway.google.jobs import VertexJob
from slipway.google.monitoring import CPU
from slipway.model.kinds import TUNING_JOB
from slipway.model.prices import UNKNOWN, Price
from slipway.using.jobs.cost import JobCost
from tests.slipway.front.cli.past import PRINTS, Past
from tests.slipway.front.cli.stack import PROJECT, SLEEP, Stack, held
from tests.slipway.using.submission.conftest import job as a_job

pytestmark = pytest.mark.smoke

T4 = {"machineType": "n1-standard-4", "acceleratorType": "NVIDIA_TESLA_T4", "acceleratorCount": 1}
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


def test_a_waiting_job_is_shown_with_its_reason(small: Stack) -> None:  # N9
    holder = held(small)
    waiting = small.sends("hello")["displayName"]
    text = small.well("jobs", "show", waiting).out
    assert "state      queued: pool full: cpu/workers" in text and f"1 machine busy with {holder} (ada," in text

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
        job = stack.sends("hello", "-p", f"code={SLEEP}", "--yes")
        name = job["displayName"]
        stack.until(lambda: len(stack.shown(name)["usage"]["series"]) == 4)
        text = stack.well("jobs", "show", name, COLUMNS="100").out
        now, monitoring = datetime.now(UTC), connect(stack.env()).monitoring(PROJECT)
        means = monitoring.series(CPU, (job["id"], "1"), now - timedelta(hours=5), now, period=120)
        line = re.compile(rf"{name}  running \d+:\d\d   gpu [▁-█ ]+ \d+ %  cpu [▁-█ ]+ \d+ %")
        stack.watched("jobs", "wait", name, enough=line.search, COLUMNS="120")
        stack.cancel_all()
        assert re.search(r"gpu [▁-█]+  1 T4 idle for ", stack.run("jobs", "wait", name).err)
    (mean,) = means  # As a run of hours is read, and several jobs at once.
    assert (mean.job, mean.task, len(mean.points)) == (job["id"], "workerpool0-0", 1)
    rows = [re.split(" {2,}", line) for line in text.splitlines() if line.startswith("main  ")]
    assert [row[1] for row in rows] == ["cpu", "memory", "gpu 0", "gpu 0 memory"]
    assert "\ngpus       1 T4 idle for " in text
    assert "\x1b" not in text and any(block in text for block in "▁▂▃▄▅▆▇█")
    found = {series["metric"]: series for series in stack.shown(name)["usage"]["series"]}
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
    assert stack.well("jobs", "open", name, "--shell", "main", "--print").out == f"{link}\n"
    assert stack.run("jobs", "open", name, "--dashboard").code == 4
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


# `slipway jobs open`: where a job's page, output and logs are.


PAGE = "https://console.cloud.google.com/agent-platform/locations/us-central1/training/4711?project=p"
JOB: VertexJob = replace(a_job(), output="gs://work/jobs/tune 1/")


LOGS = replace(JOB, output="gs://work/jobs/one")
OUTPUT = "https://console.cloud.google.com/storage/browser/work/jobs/tune%201?project=p"


@pytest.mark.parametrize(
    ("job", "what", "place", "lines", "link"),
    [
        (JOB, "console", (PAGE, "p"), (PAGE,), PAGE),
        (JOB, "output", (PAGE, "p"), ("gs://work/jobs/tune 1", OUTPUT), OUTPUT),
        (JOB, "output", ("", ""), ("gs://work/jobs/tune 1",), ""),
        (LOGS, "tensorboard", ("", ""), ("tensorboard --logdir gs://work/jobs/one/logs",), ""),
        # A tuning job's logs are those of every trial.
        (replace(LOGS, kind=TUNING_JOB), "tensorboard", ("", ""), ("tensorboard --logdir gs://work/jobs/one",), ""),
        # What can be typed stays one word in a shell.
        (JOB, "tensorboard", ("", ""), ("tensorboard --logdir 'gs://work/jobs/tune 1/logs'",), ""),
    ],
)
def test_each_place_is_a_line_to_copy_and_a_link(
    job: VertexJob, what: str, place: tuple[str, str], lines: tuple[str, ...], link: str
) -> None:
    assert place_of(job, what, *place) == (lines, link)


def test_it_prints_where_nobody_sits_before_a_terminal(past: Past) -> None:
    name, output = past.fine, past.stack.shown(past.fine)["output"]
    assert past.run("jobs", "open", name, "--what", "output").out == f"{output}\n"
    shown = past.run("jobs", "open", name, "--what", "tensorboard", "--print")
    assert shown.out == f"tensorboard --logdir {output}\n", "curves may lie anywhere in it"
    past.stack.put(f"{output.split('/', 3)[3]}/logs/events.out.tfevents.1", b"", "w")
    shown = past.run("jobs", "open", name, "--what", "tensorboard", "--print")
    assert shown.out == f"tensorboard --logdir {output}/logs\n"
    document = past.run("jobs", "open", name, "--what", "output", "--output", "json").json
    assert document["kind"] == "place" and document["lines"] == [output] and document["link"] is None
    refused = past.run("jobs", "open", name)
    assert refused.code == 4 and "has no console page" in refused.err
    assert f"fix: slipway jobs show {name}" in refused.err
