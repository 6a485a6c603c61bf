"""`slipway jobs list --metric` and `jobs compare`: what varies, the metric, time and cost of each; the best starred."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.using.jobs import failure
from tests.slipway.front.cli.past import Past
from tests.slipway.front.cli.stack import SLEEP, Stack, held
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
    both = stack.well(*listed, "--sort", "loss", "--metric", "accuracy").out.splitlines()
    assert both[0].split() == ["JOB", "code", "ACCURACY", "LOSS", "↑", "RUN", "TIME", "COST"]
    assert both[1].startswith(f"★  {names[0]}"), "the least loss"
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
    assert rows[names[0]]["metricsSource"] == "metrics.json"
    assert rows[names[2]]["metrics"] == {} and rows[names[2]]["metricsWhy"] == "no metrics.json in its output"

    first, *rest = csv.DictReader(io.StringIO(stack.well(*listed, "--output", "csv").out))
    assert [row["job"] for row in (first, *rest)] == names
    assert (first["params.code"], first["metrics.accuracy"], first["metrics.=1+1"]) == ("print(1)", "0.9712", "-2")
    assert rest[2]["params.code"] == "'+1", "a text that a spreadsheet would compute is one"
    assert (first["run"], first["state"], first["best"], rest[1]["state"]) == ("0", "succeeded", "", "failed")
    assert float(first["run_seconds"]) > 0 and float(first["cost"]) > 0
    why = "ValueError: no such layer (main)"
    assert (rest[1]["cause"], rows[names[2]]["cause"], first["cause"], rows[names[0]]["cause"]) == (why, why, "", None)
    failed = stack.well("jobs", "list", "--state", "failed")
    assert failed.out.splitlines()[0].split()[-1] == "WHY" and why in failed.out
    assert stack.run("jobs", "list", "--state", "failed", "--output", "json").json["jobs"][0]["cause"] == why
    assert "WHY" not in stack.run("jobs", "list").out


def test_jobs_show_has_the_metrics_and_in_json_their_steps(stack: Stack) -> None:  # N19
    name = held(stack, 1)
    assert "\nmetrics " not in stack.run("jobs", "show", name).out and stack.shown(name)["metricsWhy"]
    lines = stack.well("jobs", "list", "--metric", "accuracy").out.splitlines()
    assert lines[0].split()[-3:] == ["RUN", "TIME", "COST"] and re.search(r"  running \d+ s$", lines[1])
    measured(stack, name, [{"step": 1, "loss": 2}, {"step": 2, "loss": 1.5, "accuracy": 0.9}])
    assert "\nmetrics    loss=1.5, accuracy=0.9\n" in stack.run("jobs", "show", name).out
    assert re.search(r"  0\.9  .* s so far  ", stack.well("jobs", "list", "--metric", "accuracy").out.splitlines()[1])
    job = stack.shown(name)
    assert (job["metrics"], job["metricsSource"]) == ({"loss": 1.5, "accuracy": 0.9}, "metrics.json")
    assert job["metricSteps"] == [{"step": 1, "loss": 2}, {"step": 2, "loss": 1.5, "accuracy": 0.9}]
    assert job["parameters"] == {"code": SLEEP}
    measured(stack, name, {f"m{number:03}": number for number in range(50)})
    assert "m011=11 and 38 more\n" in stack.run("jobs", "show", name).out


def test_few_logs_are_read_however_many_jobs_have_failed(
    stack: Stack, monkeypatch: pytest.MonkeyPatch, log_queries: list[str]
) -> None:
    monkeypatch.setattr(failure, "_MOST_READ", 1)
    sweep, _ = swept(stack, "raise SystemExit(1)", "raise SystemExit(2)", "raise SystemExit(3)")
    log_queries.clear()
    lines = stack.well("jobs", "list", "--sweep", sweep, "--metric", "accuracy").out.splitlines()
    assert len(log_queries) == 1 and len(lines) == 4 and all("failed after" in line for line in lines[1:])


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
    assert [job["metrics"] for job in found["jobs"]] == [{"accuracy": 0.97, "loss": 1}, {"accuracy": 0.98, "loss": 1}]
    fields = {(one["group"], one["name"]): (one["values"], one["alike"]) for one in found["fields"]}
    assert fields["parameter", "code"] == (["print(1)", "print(2)"], False)
    assert fields["metric", "loss"] == ([1, 1], True) and fields["parameter", "workers"] == ([1, 1], True)


def test_jobs_of_all_templates_can_be_compared_and_a_missing_metric_says_why(past: Past) -> None:
    done = past.stack.well("jobs", "compare", past.crew, past.failed)
    assert "\x1b" not in done.said and re.search(r"template +crew +hello\n", done.out)
    assert re.search(r"OUTCOME +state +succeeded +failed\n", done.out)
    assert re.search(r" cause +– +ValueError", done.out), "as the table of results has it"
    assert done.err == f"{past.crew} and {past.failed} have no metrics: no metrics.json in its output\n"
    for words in ((past.fine,), (past.fine, "nightly")):
        refused = past.run("jobs", "compare", *words)
        assert refused.code == 2 and refused.out == "" and "alone can't be compared" in refused.err
