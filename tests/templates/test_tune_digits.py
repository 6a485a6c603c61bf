"""tune-digits: a study on a pool, several trials at once, and the best of them shown."""

from typing import Any

import pytest

from .stack import Stack

pytestmark = pytest.mark.journey

TRIALS, AT_ONCE = 2, 2
VALUES = {"model", "depth", "c", "gamma"}


def test_tune_digits_runs_trials_at_once_on_the_pool_and_shows_the_best(stack: Stack) -> None:  # W5
    job = stack.run("tune-digits", trials=TRIALS, parallel=AT_ONCE, folds=2)
    study = job.document
    assert (study["kind"], study["cluster"]) == ("hyperparameter-tuning-job", "cpu")
    assert [trial["state"] for trial in study["trials"]] == ["SUCCEEDED"] * TRIALS

    for trial in study["trials"]:
        assert set(trial["values"]) == VALUES
        assert 0 < trial["metrics"]["accuracy"] <= 1

    runs = [stack.cloud.rest("GET", f"/v1/{trial['job']}") for trial in study["trials"]]
    assert {run["jobSpec"]["persistentResourceId"] for run in runs} == {study["clusterId"]}
    assert at_once(runs) == AT_ONCE

    best = max(study["trials"], key=lambda trial: float(trial["metrics"]["accuracy"]))
    assert study["bestTrial"] == best["id"]
    assert best["metrics"]["accuracy"] > 0.5
    (row,) = stack.slipway(
        *("jobs", "list", "--template", "tune-digits", "--metric", "accuracy", "--limit", "1", "--output", "json")
    ).json["jobs"]
    assert row["metrics"] == best["metrics"] and row["best"], "its goal says what is better"  # N19
    shown = stack.slipway("jobs", "show", job.display_name).out.splitlines()
    (columns,) = [line.split() for line in shown if line.startswith("TRIAL")]
    assert set(columns) == {"TRIAL", "STATE", "accuracy"}.union(*(trial["values"] for trial in study["trials"]))
    (marked,) = [line for line in shown if "★" in line]
    assert marked.split()[:4] == [best["id"], "★", "succeeded", best["values"]["model"]]


def at_once(runs: list[Any]) -> int:
    """The most of them that were under way at the same moment."""
    return max(
        len([other for other in runs if other["createTime"] <= run["createTime"] < other["endTime"]]) for run in runs
    )
