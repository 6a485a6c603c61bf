"""`slipway jobs list --metric` and `jobs compare`: what varies, the metric, time and cost of each; the best starred."""

import csv
import io
import json
import re
from dataclasses import replace
from typing import Any
from unittest import mock

from syrupy.assertion import SnapshotAssertion

from slipway.google.jobs import VertexJob
from slipway.google.storage import Storage
from slipway.google.trials import Trial
from slipway.model.kinds import TUNING_JOB
from slipway.using.context import Clock, Context
from slipway.using.jobs.metrics import MOST_BYTES, MetricStep, read_metrics
from tests.slipway.front.cli.past import Past
from tests.slipway.front.cli.stack import REGION, Stack, held
from tests.slipway.front.cli.test_experiments import digits as _digits
from tests.slipway.front.cli.test_experiments import sdk
from tests.slipway.front.cli.test_sweep import every_job

FAILS = "raise ValueError('no such layer')"


def swept(stack: Stack, *codes: str) -> tuple[str, list[str]]:
    """A sweep of `hello` whose runs have ended: its id, and the runs' names in their order."""
    (stack.folder / "s.json").write_text(json.dumps({"grid": {"code": list(codes)}}))
    done = stack.run("submit", "hello", "--sweep", "s.json", "--wait", "--output", "json")
    assert done.code in (0, 4), done.err
    jobs = sorted(every_job(stack), key=lambda job: int(job["labels"]["slipway-run"]))
    return done.json["sweep"], [job["displayName"] for job in jobs]


def measured(stack: Stack, name: str, metrics: Any) -> None:
    stack.write(f"jobs/{name}/metrics.json", json.dumps(metrics).encode())


def screen(text: str, names: list[str]) -> str:
    """The screen without what differs from run to run."""
    for number, name in enumerate(names):
        text = text.replace(name, f"hello-run{number:05}")
    for what, fixed in ((r" \d+(\.\d)? s\b", " 1 s"), (r"(under )?\$0\.\d{4}", "$0.0001"), (r"   +", "  ")):
        text = re.sub(what, fixed, text)
    return text


def test_the_runs_of_a_sweep_by_a_metric_the_best_first_and_starred(
    snapshot: SnapshotAssertion, stack: Stack
) -> None:  # N7 N19
    sweep, names = swept(stack, "print(1)", "print(2)", FAILS, "+1")
    listed = ("jobs", "list", "--sweep", sweep)
    without = stack.well(*listed, "--metric", "acuracy")
    assert "without a metric: no metrics.json" in without.err, "it may come yet"
    measured(stack, names[0], {"accuracy": 0.9712, "loss": 2, "=1+1": -2, "\x1b[31mred": 1})
    measured(stack, names[1], [{"step": 1, "accuracy": 0.5}, {"step": 2, "accuracy": 0.98}])
    done = stack.well(*listed, "--metric", "accuracy", "--sort", "-accuracy")
    assert screen(done.out, names) == snapshot
    assert done.err == "1 job without a metric: no metrics.json in its output\n"
    unstarred = stack.well(*listed, "--metric", "accuracy")
    assert "★" not in unstarred.out and "--sort -accuracy where more is better" in unstarred.err
    assert [line.split()[0] for line in unstarred.out.splitlines()[1:]] == names, "in the order of the runs"
    hostile = stack.well(*listed, "--metric", "\x1b[31mred")
    assert "\x1b" not in hostile.said and "1B[31MRED" in hostile.out.upper()
    refused = stack.run(*listed, "--metric", "acuracy")
    assert refused.code == 2 and refused.out == "" and "fix: accuracy, " in refused.err
    assert "they have accuracy, loss, =1+1 and " in refused.err

    found = stack.well(*listed, "--sort", "-accuracy", "--output", "json").json
    assert found["varies"] == ["code"] and found["goal"] == {"metric": "accuracy", "maximize": True}
    rows = {row["displayName"]: row for row in found["jobs"]}
    assert list(rows)[:2] == [names[1], names[0]] and [row["best"] for row in rows.values()] == [True, *[False] * 3]
    assert rows[names[0]]["metrics"]["=1+1"] == -2 and rows[names[0]]["parameters"] == {"code": "print(1)"}

    first, *rest = csv.DictReader(io.StringIO(stack.well(*listed, "--output", "csv").out))
    assert [row["name"] for row in (first, *rest)] == names
    assert (first["params.code"], first["metrics.accuracy"], first["metrics.=1+1"]) == ("print(1)", "0.9712", "-2")
    assert rest[2]["params.code"] == "'+1", "a text that a spreadsheet would compute is one"
    assert float(first["ran"]) > 0 and float(first["cost"]) > 0
    why = "ValueError: no such layer (main)"
    assert [row["failure_reason"] for row in (rest[1], first)] == [why, ""]
    assert [rows[name]["failureReason"] for name in (names[2], names[0])] == [why, None]
    failed = stack.well("jobs", "list", "--state", "failed")
    assert failed.out.splitlines()[0].split()[-1] == "WHY" and why in failed.out


def test_jobs_show_has_the_metrics_and_in_json_their_steps(stack: Stack) -> None:  # N19
    name = held(stack, 1)
    assert "\nmetrics " not in stack.run("jobs", "show", name).out and stack.shown(name)["metricsWhy"]
    assert re.search(r"  running [\d.]+ s *\n", stack.well("jobs", "list", "--metric", "accuracy").out)
    measured(stack, name, [{"step": 1, "loss": 2}, {"step": 2, "loss": 1.5, "accuracy": 0.9}])
    assert "\nmetrics    loss=1.5, accuracy=0.9\n" in stack.run("jobs", "show", name).out
    assert re.search(r"  0\.9  .* s so far  ", stack.well("jobs", "list", "--metric", "accuracy").out.splitlines()[1])
    job = stack.shown(name)
    assert job["metricSteps"] == [{"step": 1, "loss": 2}, {"step": 2, "loss": 1.5, "accuracy": 0.9}]
    measured(stack, name, {f"m{number:03}": number for number in range(50)})
    assert "m011=11 and 38 more\n" in stack.run("jobs", "show", name).out


def test_what_differs_stands_side_by_side_and_the_rest_below(snapshot: SnapshotAssertion, stack: Stack) -> None:
    names = [stack.ended("crew", "-p", f"code=print({number})", "-p", "workers=1") for number in (1, 2)]
    measured(stack, names[0], {"accuracy": 0.97, "loss": 1})
    measured(stack, names[1], {"accuracy": 0.98, "loss": 1})
    done = stack.well("jobs", "compare", *names)
    text = screen(done.out, names).replace(stack.name, "STACK")
    # How long jobs run differs, or by chance does not.
    text = re.sub(r"(?<=\n)(OUTCOME)? +(waited|ran|cost) .*\n", "", text)
    assert re.sub(r", (waited|ran|cost) [^,\n]+", "", text) == snapshot and done.err == ""

    found = stack.well("jobs", "compare", *names, "--output", "json").json
    assert found["kind"] == "comparison" and [job["displayName"] for job in found["jobs"]] == names
    fields = {(field["group"], field["name"]): (field["values"], field["alike"]) for field in found["fields"]}
    assert fields["parameter", "code"] == (["print(1)", "print(2)"], False)
    assert fields["metric", "loss"] == ([1, 1], True) and fields["parameter", "workers"] == ([1, 1], True)


def test_jobs_of_all_templates_can_be_compared_and_a_missing_metric_says_why(past: Past) -> None:
    done = past.stack.well("jobs", "compare", past.crew, past.failed)
    assert "\x1b" not in done.said and re.search(r"template +crew +hello\n", done.out)
    assert re.search(r"OUTCOME +state +succeeded +failed\n", done.out)
    assert re.search(r" failure reason +– +ValueError", done.out), "as the table of results has it"
    assert done.err == f"{past.crew} and {past.failed} have no metrics: no metrics.json in its output\n"
    for words in ((past.fine,), (past.fine, "nightly")):
        refused = past.run("jobs", "compare", *words)
        assert refused.code == 2 and refused.out == "" and "alone can't be compared" in refused.err


# Metrics of many jobs, read at once: what can't be read says why, and is asked for once.


digits = _digits
STARTED: dict[str, Any] = {"state": "JOB_STATE_RUNNING", "startTime": "2026-11-20T12:00:00Z"}


def context(stack: Stack, **more: Any) -> Context:
    return Context(stack.address, environ=stack.env(), folder=stack.folder, **more)


def job(name: str, output: str, **more: Any) -> VertexJob:
    body = {
        "name": f"projects/1/locations/{REGION}/customJobs/{name}",
        "displayName": name,
        "jobSpec": {"baseOutputDirectory": {"outputUriPrefix": output}},
        **STARTED,
        **more,
    }
    return VertexJob.read(body)


def jobs(stack: Stack, contents: dict[str, bytes | None]) -> list[VertexJob]:
    """A job of each name with its results; None for no results."""
    for name, content in contents.items():
        if content is not None:
            stack.write(f"jobs/{name}/metrics.json", content)
    return [job(name, f"gs://w-{stack.name}/jobs/{name}") for name in contents]


def test_each_jobs_file_is_read_and_what_is_not_there_says_why(
    stack: Stack, snapshot: SnapshotAssertion
) -> None:  # N19
    contents = {
        "flat": b'{"accuracy": 0.98}',
        "steps": b'[{"step": 1, "loss": 2.0}, {"step": 2, "loss": 1.0}]',
        "none": None,
        "empty": b"",
        "large": b" " * MOST_BYTES + b'{"a": 1}',
    }
    listed = [*jobs(stack, contents), job("waits", "gs://w", startTime=None), job("nowhere", "")]
    found = {name.rsplit("/", 1)[-1]: metric for name, metric in read_metrics(context(stack), listed).items()}
    assert dict(found["flat"]) == {"accuracy": 0.98} and found["flat"].source == "metrics.json"
    assert dict(found["steps"]) == {"loss": 1.0} and found["steps"].steps[0] == MetricStep(1, {"loss": 2.0})
    assert {name: value.why for name, value in found.items() if not value} == snapshot


def test_who_may_not_read_is_told_the_role_and_a_closed_bucket_is_asked_once(stack: Stack) -> None:
    stack.cloud.rest("POST", "/storage/v1/b?project=local-project", {"name": f"x-{stack.name}"})
    closed = [job(f"job{number}", f"gs://x-{stack.name}/jobs/{number}") for number in range(200)]
    with mock.patch.object(Storage, "beginning", autospec=True, side_effect=Storage.beginning) as asked:
        metrics = read_metrics(context(stack), closed)
    assert len(metrics) == 200 and asked.call_count < 50
    assert all("storage.objects.get" in row.why for row in metrics.values())


def test_after_a_minute_nothing_more_is_asked_for(stack: Stack) -> None:
    ticks = iter([0.0, *[61.0] * 100])
    metrics = read_metrics(
        context(stack, clock=Clock(monotonic=lambda: next(ticks))), jobs(stack, {"late": b'{"loss": 1}'})
    )
    (late,) = metrics.values()
    assert not late and late.why.startswith("not read") and "60 s" in late.why


def test_what_was_logged_to_the_experiments_run_is_there_beside_the_file(digits: Stack) -> None:  # N19
    sent = digits.sends("hello", "--wait")
    run = sdk(digits).ExperimentRun(sent["displayName"], f"digits-{digits.name}")
    run.log_metrics({"loss": 0.5, "accuracy": 0.9, "note": "fine"})
    digits.write(f"jobs/{sent['displayName']}/metrics.json", b'{"accuracy": 0.91}')
    here = context(digits)
    ended = here.vertex.job(sent["name"])
    (found,) = read_metrics(here, [ended]).values()
    assert dict(found) == {"loss": 0.5, "accuracy": 0.91}
    (alone,) = read_metrics(here, [replace(ended, output="")]).values()
    assert dict(alone) == {"loss": 0.5, "accuracy": 0.9}
    assert alone.source == f"experiment digits-{digits.name}, run {sent['displayName']}"
    (gone,) = read_metrics(here, [replace(ended, output="", experiment_run=f"{ended.experiment_run}x")]).values()
    assert not gone and "run" in gone.why


def test_a_tuning_jobs_are_those_of_its_best_trial(stack: Stack) -> None:
    tried = tuple(Trial(str(number), "SUCCEEDED", {}, {"accuracy": number / 10}, "") for number in (1, 3, 2))
    tuning = replace(job("tune", "gs://w"), kind=TUNING_JOB, goals={"accuracy": "MAXIMIZE"}, tried=tried)
    (found,) = read_metrics(context(stack), [tuning]).values()
    assert dict(found) == {"accuracy": 0.3} and found.source == "trial 3"
    (none,) = read_metrics(context(stack), [replace(tuning, tried=())]).values()
    assert none.why == "no trial has succeeded"
