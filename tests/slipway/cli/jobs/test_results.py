"""`slipway jobs list --metric`: what varies, the metric, time and cost of each run, the best starred."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.cloud.logging import Logging
from tests.slipway.cli.stack import SLEEP, Stack, held
from tests.slipway.cli.test_sweep import every_job

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
    sweep, names = swept(stack, "print(1)", "print(2)", FAILS, "print(3)")
    measured(stack, names[0], {"accuracy": 0.9712, "loss": 2})
    measured(stack, names[1], [{"step": 1, "accuracy": 0.5}, {"step": 2, "accuracy": 0.98}])
    done = stack.run("jobs", "list", "--sweep", sweep, "--metric", "accuracy", "--sort", "-accuracy")
    assert done.code == 0, done.err
    assert screen(done.out, names) == snapshot
    assert done.err == "1 job without a metric: no metrics.json in its output\n"

    both = stack.run("jobs", "list", "--sweep", sweep, "--sort", "loss", "--metric", "accuracy").out.splitlines()
    assert both[0].split() == ["JOB", "code", "ACCURACY", "LOSS", "↑", "RUN", "TIME", "COST"]
    assert both[1].startswith(f"★  {names[0]}"), "the least loss"

    unstarred = stack.run("jobs", "list", "--sweep", sweep, "--metric", "accuracy")
    assert "★" not in unstarred.out and "--sort -accuracy where more is better" in unstarred.err
    assert [line.split()[0] for line in unstarred.out.splitlines()[1:]] == names, "in the order of the runs"


def test_results_as_json_and_csv_have_every_metric(stack: Stack) -> None:  # N19
    sweep, names = swept(stack, "print(1)", "print(2)", FAILS)
    measured(stack, names[0], {"accuracy": 0.97, "=1+1": -2})
    measured(stack, names[1], {"accuracy": 0.98})
    found = stack.run("jobs", "list", "--sweep", sweep, "--sort", "-accuracy", "--output", "json").json
    assert found["varies"] == ["code"] and found["goal"] == {"metric": "accuracy", "maximize": True}
    rows = {row["displayName"]: row for row in found["jobs"]}
    assert list(rows) == [names[1], names[0], names[2]]
    assert [row["best"] for row in rows.values()] == [True, False, False]
    assert rows[names[0]]["metrics"] == {"accuracy": 0.97, "=1+1": -2}
    assert rows[names[0]]["parameters"] == {"code": "print(1)"} and rows[names[0]]["metricsSource"] == "metrics.json"
    assert rows[names[2]]["metrics"] == {} and rows[names[2]]["metricsWhy"] == "no metrics.json in its output"

    listed = stack.run("jobs", "list", "--sweep", sweep, "--output", "csv")
    first, *rest = csv.DictReader(io.StringIO(listed.out))
    assert listed.code == 0 and [row["job"] for row in (first, *rest)] == names
    assert (first["params.code"], first["metrics.accuracy"], first["metrics.=1+1"]) == ("print(1)", "0.97", "-2")
    assert (first["run"], first["state"], first["best"], rest[1]["state"]) == ("0", "succeeded", "", "failed")
    assert float(first["run_seconds"]) > 0 and float(first["cost"]) > 0
    why = "ValueError: no such layer (main)"
    assert (rest[1]["cause"], rows[names[2]]["cause"], first["cause"], rows[names[0]]["cause"]) == (why, why, "", None)
    failed = stack.run("jobs", "list", "--state", "failed")
    assert failed.out.splitlines()[0].split()[-1] == "WHY" and why in failed.out
    assert stack.run("jobs", "list", "--state", "failed", "--output", "json").json["jobs"][0]["cause"] == why
    assert "WHY" not in stack.run("jobs", "list").out


def test_jobs_show_has_the_metrics_and_in_json_their_steps(stack: Stack) -> None:  # N19
    name = stack.run("submit", "hello", "--wait", "--output", "json").json["job"]["displayName"]
    assert "\nmetrics " not in stack.run("jobs", "show", name).out
    assert stack.run("jobs", "show", name, "--output", "json").json["job"]["metricsWhy"]
    measured(stack, name, [{"step": 1, "loss": 2}, {"step": 2, "loss": 1.5, "accuracy": 0.9}])
    assert "\nmetrics    loss=1.5, accuracy=0.9\n" in stack.run("jobs", "show", name).out
    job = stack.run("jobs", "show", name, "--output", "json").json["job"]
    assert (job["metrics"], job["metricsSource"]) == ({"loss": 1.5, "accuracy": 0.9}, "metrics.json")
    assert job["metricSteps"] == [{"step": 1, "loss": 2}, {"step": 2, "loss": 1.5, "accuracy": 0.9}]
    measured(stack, name, {f"m{number:03}": number for number in range(50)})
    assert "m011=11 and 38 more\n" in stack.run("jobs", "show", name).out


def test_a_text_that_a_spreadsheet_would_compute_is_one(stack: Stack) -> None:
    sweep, _ = swept(stack, "+1", "-1")
    rows = [*csv.DictReader(io.StringIO(stack.run("jobs", "list", "--sweep", sweep, "--output", "csv").out))]
    assert [row["params.code"] for row in rows] == ["'+1", "'-1"]


def test_a_metric_that_no_job_has_is_refused_with_the_ones_that_there_are(stack: Stack) -> None:
    sweep, names = swept(stack, "print(1)")
    without = stack.run("jobs", "list", "--sweep", sweep, "--metric", "acuracy")
    assert without.code == 0 and "without a metric: no metrics.json" in without.err, "it may come yet"
    measured(stack, names[0], {"accuracy": 0.97, "loss": 1})
    refused = stack.run("jobs", "list", "--sweep", sweep, "--metric", "acuracy")
    assert refused.code == 2 and refused.out == "" and "fix: accuracy, " in refused.err
    assert "they have accuracy and loss" in refused.err


def test_jobs_of_no_sweep_are_compared_as_well_and_one_that_runs_says_so(stack: Stack) -> None:  # N19
    ended = stack.run("submit", "hello", "--wait", "--output", "json").json["job"]["displayName"]
    measured(stack, ended, {"accuracy": 0.9})
    name = held(stack, 1)
    lines = stack.run("jobs", "list", "--metric", "accuracy").out.splitlines()
    assert lines[0].split() == ["JOB", "code", "ACCURACY", "RUN", "TIME", "COST"]
    assert lines[1].startswith(name) and re.search(r"  running \d+ s$", lines[1])
    measured(stack, name, {"accuracy": 0.8})
    assert re.search(r"  0\.8  .* s so far  ", stack.run("jobs", "list", "--metric", "accuracy").out.splitlines()[1])
    assert SLEEP.partition(";")[0] in lines[1]


def test_what_a_job_writes_does_nothing_to_a_terminal(stack: Stack) -> None:
    sweep, names = swept(stack, "print(1)")
    measured(stack, names[0], {"\x1b[31mred": 1})
    done = stack.run("jobs", "list", "--sweep", sweep, "--metric", "\x1b[31mred")
    assert done.code == 0 and "\x1b" not in done.out + done.err and "1B[31MRED" in done.out.upper()


def test_few_logs_are_read_however_many_jobs_have_failed(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    sweep, _ = swept(stack, *(f"raise SystemExit({number})" for number in range(1, 13)))
    asked: list[str] = []
    entries = Logging.entries

    def counted(self: Logging, filter: str, **more: Any) -> Any:
        asked.append(filter)
        return entries(self, filter, **more)

    monkeypatch.setattr(Logging, "entries", counted)
    lines = stack.run("jobs", "list", "--sweep", sweep, "--metric", "accuracy").out.splitlines()
    assert len(asked) <= 8 and len(lines) == 13 and all("failed after" in line for line in lines[1:])
