"""Rows of results: what varies, the metrics, and which is best; and jobs compared field by field. # N19"""

import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.base.errors import ConfigError
from slipway.google.jobs import VertexJob
from slipway.model.catalog.parameter_types import Value
from slipway.model.labels import CODE_COMMIT_LABEL, CODE_LABEL, SETTINGS, VARIABLE, recorded
from slipway.using.jobs.comparison import ComparedField, compare_jobs
from slipway.using.jobs.cost import job_cost
from slipway.using.jobs.description import JobDescription
from slipway.using.jobs.metrics import Metrics
from slipway.using.jobs.results import (
    Goal,
    Results,
    flat_rows,
    goal_of,
    metric_text,
    result_rows,
    varying_parameters,
    with_metrics,
    without_metrics,
)
from tests.builders import jobs

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
_NAN = {"loss": "NaN"}


def job(number: int, state: str = "SUCCEEDED", **parameters: Value) -> VertexJob:
    made = jobs.job(
        f"mlp-{number}",
        state=state,
        env={VARIABLE: recorded(parameters)},
        labels={"slipway-run": f"{number}-1", "slipway-template": "mlp"},
        create_time=NOW - timedelta(minutes=60),
        start_time=NOW - timedelta(minutes=59),
        end_time=NOW - timedelta(minutes=29),
    )
    return replace(made, name=f"projects/1/locations/us-central1/customJobs/{number}")


def results(*rows: tuple[VertexJob, Mapping[str, float]], goal: Goal | None = None) -> Results:
    metrics = {job.name: Metrics(numbers) for job, numbers in rows}
    return result_rows([row for row, _ in rows], metrics, NOW, goal)


def test_a_row_has_what_varies_with_time_and_cost() -> None:  # N19
    table = results((job(0, lr=0.1, hidden=64), {"loss": 1}), (job(1, lr=0.2, hidden=64), {"loss": 2, "accuracy": 0.9}))
    assert table.parameters == ("lr",) and table.metrics == ("loss", "accuracy")
    first, second = table.rows
    assert (first.name, first.run, first.parameters, second.metrics) == (
        "mlp-0",
        0,
        {"lr": 0.1},
        {"loss": 2, "accuracy": 0.9},
    )
    assert (first.waited, first.ran) == (60, 1800) and first.cost and first.cost.known > 0
    assert table.best == () and not first.best, "nobody said what is better"


def test_a_row_has_the_name_that_people_chose_and_a_session_no_command() -> None:  # N25
    called, session = job(1, command="python train.py"), job(2, command="python -m slipway_session --at gs://b/o")
    called = replace(called, labels={**called.labels, "slipway-name": "lr-01"})
    session = replace(session, labels={**session.labels, "slipway-session": "s"})
    table = results((called, {}), (job(3, command="ls"), {}), (session, {}))
    assert [row.given_name for row in table.rows] == ["lr-01", "", ""]
    assert [row.parameters.get("command") for row in table.rows] == ["python train.py", "ls", None]
    assert [row["given_name"] for row in flat_rows(table)] == ["lr-01", None, None]


def test_only_what_succeeded_is_best() -> None:  # N19
    rows = ((job(0), {"loss": 3.0}), (job(1, "FAILED"), {"loss": 1.0}), (job(2, "RUNNING"), {"loss": 0.5}))
    assert [row.name for row in results(*rows, goal=Goal("loss", maximize=False)).best] == ["mlp-0"]
    assert results(*rows[1:], goal=Goal("loss", maximize=False)).best == ()


def test_what_is_equally_good_is_best_together() -> None:
    rows = [(job(number), {"accuracy": value}) for number, value in enumerate((0.9, 0.8, 0.9))]
    assert [row.run for row in results(*rows, goal=Goal("accuracy", maximize=True)).best] == [0, 2]


def test_what_succeeded_is_sorted_before_what_did_not() -> None:
    states = {0: "FAILED", 1: "SUCCEEDED", 2: "CANCELLED", 3: "RUNNING", 4: "SUCCEEDED"}
    rows = [(job(number, state), {"accuracy": 0.9 - number / 10}) for number, state in states.items()]
    found = results(*rows, (job(5), {})).sorted_by(Goal("accuracy", maximize=True))
    assert [row.run for row in found.rows] == [1, 4, 5, 3, 0, 2]


@pytest.mark.parametrize("descending", [True, False])
def test_what_succeeded_with_no_finite_number_is_between_those_with_one_and_those_without_the_metric(
    descending: bool,
) -> None:
    listed = [job(0, "FAILED"), job(1), job(2), job(3), job(4, "FAILED")]
    nan = Metrics({}, not_finite=_NAN)
    measured = (Metrics({"loss": 0.1}), Metrics(), nan, Metrics({"loss": 2.0}), nan)
    table = result_rows(listed, {each.name: one for each, one in zip(listed, measured, strict=True)}, NOW)
    assert [row.run for row in table.sorted_by(Goal("loss", descending)).rows] == [3, 2, 1, 0, 4]


def test_a_metric_that_was_asked_for_has_a_column_though_no_job_has_it() -> None:
    table = with_metrics(results((job(0), {}), (job(1, "RUNNING"), {})), ["accuracy"])
    assert table.metrics == ("accuracy",) and [row["metrics.accuracy"] for row in flat_rows(table)] == [None, None]
    (note,) = without_metrics(table, ["accuracy"])
    assert note == "1 job without a metric: it has no accuracy"
    found = with_metrics(results((job(0), {"loss": 1.0}), (job(1), {"accuracy": 0.5})), ["accuracy"])
    assert found.metrics == ("loss", "accuracy"), "each once"
    with pytest.raises(ConfigError, match="none of these jobs has a metric 'accuracc'") as refused:
        with_metrics(found, ["accuracc"])
    assert "accuracy, if that was meant" in str(refused.value.fix)


def test_a_metric_that_is_no_finite_number_is_named_and_never_best() -> None:
    bad = Metrics({}, not_finite={"loss": "NaN"})
    table = result_rows([job(0), job(1)], {job(0).name: bad, job(1).name: Metrics({"loss": 2.0})}, NOW)
    assert table.metrics == ("loss",) and [metric_text(row, "loss") for row in table.rows] == ["NaN", "2"]
    assert math.isnan(float(flat_rows(table)[0]["metrics.loss"] or 0))
    with_metrics(result_rows([job(0)], {job(0).name: bad}, NOW), ["loss"])


@pytest.mark.parametrize("descending", [True, False])
def test_what_lacks_the_metric_comes_last_whichever_way_it_is_sorted(descending: bool) -> None:
    rows: tuple[tuple[VertexJob, Mapping[str, float]], ...]
    rows = ((job(0), {}), (job(1), {"loss": 2.0}), (job(2), {"loss": 1.0}))
    found = results(*rows).sorted_by(Goal("loss", descending)).rows
    assert [row.run for row in found] == ([1, 2, 0] if descending else [2, 1, 0])


def test_tuning_jobs_tell_the_direction_where_they_agree() -> None:
    up, down = replace(job(0), goals={"accuracy": "MAXIMIZE"}), replace(job(1), goals={"accuracy": "MINIMIZE"})
    assert goal_of([up, job(2)], "accuracy") == Goal("accuracy", maximize=True)
    assert goal_of([down], "accuracy") == Goal("accuracy", maximize=False)
    assert goal_of([up, down], "accuracy") is None and goal_of([up], "loss") is None


def test_parameters_that_trials_choose_tell_no_jobs_apart() -> None:
    one, two = (replace(job(number, lr=number), tuned=("lr",)) for number in range(2))
    assert results((one, {}), (two, {})).parameters == ()


def test_values_that_are_written_alike_do_not_vary() -> None:
    assert varying_parameters([{"a": 1, "b": 2}, {"a": 1}, {"b": 3}]) == ("b",)


@given(st.lists(st.dictionaries(st.sampled_from("ab"), st.floats(allow_nan=False)), max_size=5), st.booleans())
def test_the_best_is_never_beaten(numbers: list[dict[str, float]], maximize: bool) -> None:
    table = results(*((job(number), item) for number, item in enumerate(numbers)), goal=Goal("a", maximize=maximize))
    having = [row.metrics["a"] for row in table.rows if "a" in row.metrics]
    assert bool(table.best) == bool(having)
    for row in table.best:
        assert row.metrics["a"] == (max(having) if maximize else min(having))


def test_what_a_command_names_is_a_number_where_it_reads_so() -> None:  # N19
    """Whatever is recorded is a text, as it was written."""
    texts = ("0.10", "1e-3", "-2", "3.", "adam", "1_0", "inf", "0x1")
    command = "python train.py --lr {lr}"
    table = results(*((job(place, command=command, lr=text, v="3.10"), {}) for place, text in enumerate(texts)))
    assert [row.parameters["lr"] for row in table.rows] == [0.1, 0.001, -2, 3.0, "adam", "1_0", "inf", "0x1"]
    assert table.parameters == ("lr",)
    others = results((job(0, command=command, v="3.9"), {}), (job(1, command=command, v="3.10"), {}))
    assert [row.parameters["v"] for row in others.rows] == ["3.9", "3.10"]


def test_a_parameter_that_only_some_commands_name_tells_them_apart() -> None:  # N19
    one, other = job(0, command="python t.py --lr {lr}", lr="0.1"), job(1, command="python t.py")
    table = results((one, {}), (other, {}))
    assert table.parameters == ("command", "lr") and [row.parameters.get("lr") for row in table.rows] == [0.1, None]
    assert results((job(0, lr=0.1), {}), (job(1), {})).parameters == (), "a declared one, before it was declared"


def described(job: VertexJob) -> JobDescription:
    return JobDescription(job, job_cost(job, job.region, NOW), "cpu", "", "")


def fields(*jobs: JobDescription, metrics: dict[str, Metrics] | None = None) -> dict[tuple[str, str], ComparedField]:
    return {(job.group, job.name): job for job in compare_jobs(jobs, metrics or {}, {})}


def test_what_differs_is_told_from_what_is_alike() -> None:
    one, two = job(0, lr=0.1, hidden=64), job(1, "FAILED", lr=0.2, hidden=64, depth=3)
    longer = replace(two, end_time=NOW + timedelta(hours=1), error="no")
    found = fields(described(one), described(longer), metrics={one.name: Metrics({"loss": 0.5})})
    assert found["parameter", "lr"].values == (0.1, 0.2) and not found["parameter", "lr"].alike
    assert found["parameter", "hidden"].alike and found["parameter", "depth"].values == (None, 3)
    assert found["metric", "loss"].values == (0.5, None)
    assert found["outcome", "state"].values == ("succeeded", "failed") and found["outcome", "error"].values == (
        None,
        "no",
    )
    assert found["code", "template"].alike and found["outcome", "ran"].values == (1800, 7140)
    assert ("code", "team") not in found, "what none has is not told"


def test_a_metric_that_is_no_finite_number_is_compared_as_its_text() -> None:
    one, two = job(0), job(1)
    found = fields(described(one), described(two), metrics={one.name: Metrics({}, not_finite=_NAN)})
    assert found["metric", "loss"].values == ("NaN", None)
    both = {each.name: Metrics({"accuracy": 1}, not_finite=_NAN) for each in (one, two)}
    found = fields(described(one), described(two), metrics=both)
    assert found["metric", "loss"].values == ("NaN", "NaN") and found["metric", "loss"].alike


def test_code_of_ones_own_is_told_with_its_commit() -> None:
    reviewed = job(0)
    own = replace(reviewed, labels={**reviewed.labels, CODE_LABEL: "0a", CODE_COMMIT_LABEL: "3f9c2e1"})
    pool = replace(reviewed.worker_pools[0], packages=("gs://w/code/0a/mlp-0a.tar.gz",))
    found = fields(described(reviewed), described(replace(own, worker_pools=(pool,))))
    assert found["code", "package"].values == (None, "mlp-0a.tar.gz @ 3f9c2e1")


def with_settings(number: int, **settings: Any) -> VertexJob:
    record = {"env": {}, "secrets": {}, "maxRun": None, **settings}
    made = job(number)
    pool = replace(made.worker_pools[0], env=(*made.worker_pools[0].env, f"{SETTINGS}={recorded(record)}"))
    return replace(made, worker_pools=(pool, *made.worker_pools[1:]))


def test_settings_of_one_job_tell_jobs_apart_like_parameters() -> None:
    one = with_settings(0, env={"LR": "0.1", "SEED": "1"})
    other = with_settings(1, env={"LR": "0.9", "SEED": "1"}, maxRun=3600, retries=2, replicas=4)
    found = fields(described(one), described(other))
    assert found["env", "LR"].values == ("0.1", "0.9") and found["env", "SEED"].alike
    assert found["setting", "max-run"].values == (None, 3600) and found["setting", "replicas"].values == (None, 4)
    table = results((one, {"loss": 1}), (other, {"loss": 2}))
    first, second = flat_rows(table)
    assert (first["env.LR"], second["env.LR"], first["env.SEED"]) == (0.1, 0.9, 1)
    assert (first["settings.max_run"], second["settings.max_run"]) == (None, 3600)
    assert table.varying_settings == ("env.LR", "settings.max_run", "settings.retries", "settings.replicas")


def test_labels_and_the_note_are_no_code() -> None:
    made = job(0)
    one, other = (replace(made, labels={**made.labels, "ablation": value}) for value in ("decay", "none"))
    found = fields(described(one), described(other))
    assert found["label", "ablation"].values == ("decay", "none")
    assert {name for group, name in found if group == "code"} <= {"template", "commit", "package", "image", "kind"}


PARAMETERS = st.dictionaries(st.sampled_from("abc"), st.integers(0, 2) | st.sampled_from(["x", "y"]))


@given(st.lists(PARAMETERS, min_size=2, max_size=4))
def test_no_parameter_is_lost(each: list[dict[str, Any]]) -> None:
    found = fields(*(described(job(number, **values)) for number, values in enumerate(each)))
    for name in "abc":
        values = tuple(row.get(name) for row in each)
        assert (found["parameter", name].values if any(name in row for row in each) else (None,) * len(each)) == values
