"""Reports of trials: the file of the real cloudml-hypertune, and the measurement a trial is judged by."""

import importlib
import json
import math
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.vertex.tuning.conftest import ACCURACY, LAYERS, LR, MODEL, UNITS, study, tuning_body
from vertex_local.clock import timestamp
from vertex_local.testing.calling import START
from vertex_local.vertex.tuning import life, reports, search, space, stopping
from vertex_local.vertex.tuning.records import Tuning
from vertex_local.vertex.tuning.space import Assignment
from vertex_local.vertex.tuning.study import Study, study_of
from vertex_local.vertex.tuning.trial import Measurement, Trial

LOSS = {"metricId": "loss", "goal": "MINIMIZE"}


def made(*metrics: Any, **changes: Any) -> Study:
    return study_of(study(metrics=list(metrics) or [ACCURACY], **changes))


def measurement(step: int, elapsed_s: float = 0.0, **metrics: float) -> Measurement:
    return Measurement(step, elapsed_s, tuple(metrics.items()))


def test_what_the_real_package_writes_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "workerpool0-0" / "output.metrics"
    monkeypatch.setenv("CLOUD_ML_HP_METRIC_FILE", str(path))
    monkeypatch.setenv("CLOUD_ML_TRIAL_ID", "3")
    reporter = importlib.import_module("hypertune").HyperTune()
    for step in (1, 2):
        reporter.report_hyperparameter_tuning_metric("acc", 0.5 + step / 10, global_step=step)
        reporter.report_hyperparameter_tuning_metric("loss", 1 / step, global_step=step)
    written = reports.reports(path.read_text(encoding="utf-8"))
    measured = reports.merged((), written, made(ACCURACY, LOSS), written[0].time)
    assert [(item.step, item.metrics) for item in measured] == [
        (1, (("acc", 0.6), ("loss", 1.0))),
        (2, (("acc", 0.7), ("loss", 0.5))),
    ]


def test_lines_that_are_no_reports_are_none() -> None:
    good = {"timestamp": 1.5, "trial": "1", "acc": "0.5", "global_step": "2", "checkpoint_path": ""}
    lines = [good, {**good, "acc": "nan"}, {**good, "acc": "word"}, {"acc": "1"}, [1], 7]
    lines += [{**good, key: value} for key in ("timestamp", "global_step") for value in (1e300, 10**400, float("inf"))]
    text = "\n".join(map(json.dumps, lines)) + "\n" + '{"a": ' * 5000 + "\n" + json.dumps(good)[:-9]
    assert [(item.time, item.step, item.metric, item.value) for item in reports.reports(text)] == [(1.5, 2, "acc", 0.5)]


def test_metrics_that_the_study_does_not_name_are_left_out() -> None:
    sent = [reports.Report(1.0, 1, "f1", 0.5), reports.Report(1.0, 1, "training/hptuning/metric", 0.7)]
    assert reports.merged((), sent, made(), 0.0) == (measurement(1, 1.0, acc=0.7),), "a report without a tag is taken"


def test_only_the_last_measurements_are_kept() -> None:
    sent = [reports.Report(float(step), step, "acc", 0.5) for step in range(reports.MOST + 5)]
    measured = reports.merged((), sent, made(), 0.0)
    assert (len(measured), measured[0].step) == (reports.MOST, 5)


def test_what_code_reports_before_its_start_is_known_counts_once() -> None:
    """A job is told to be running at a look, which may come after its code has reported."""
    declared = tuning_body(trials=1) | {"name": "tuning", "createTime": "2026-01-01T00:00:00Z"}
    began = Tuning(declared, "", "JOB_STATE_QUEUED", "2026-01-01T00:00:00Z", (Trial("1", "ACTIVE", (), "job"),))
    written = tuple(reports.Report(1_767_225_602.5, step, "acc", 0.5) for step in (1, 2))
    sights = [
        life.Seen("pending", None, reports=written, read={"workerpool0-0": written[-1].time}),
        life.Seen("running", "2026-01-01T00:00:02Z", reports=written, read={"workerpool0-0": written[-1].time}),
    ]
    for second, sight in enumerate([*sights, sights[-1]], start=3):
        began = life.observed(began, {"1": sight}, f"2026-01-01T00:00:0{second}Z")
    assert [(item.step, item.elapsed_s) for item in began.trials[0].measurements] == [(1, 0.5), (2, 0.5)]


CURVE = [measurement(1, acc=0.5), measurement(2, acc=0.9), measurement(3, acc=0.7)]


@pytest.mark.parametrize(
    ("selection", "goal", "step"),
    [
        ("MEASUREMENT_SELECTION_TYPE_UNSPECIFIED", "MAXIMIZE", 3),
        ("LAST_MEASUREMENT", "MAXIMIZE", 3),
        ("BEST_MEASUREMENT", "MAXIMIZE", 2),
        ("BEST_MEASUREMENT", "MINIMIZE", 1),
    ],
)
def test_the_final_measurement_is_the_last_or_the_best(selection: str, goal: str, step: int) -> None:
    study = made({"metricId": "acc", "goal": goal}, measurementSelectionType=selection)
    assert reports.final(CURVE, study) == measurement(step, acc=dict(CURVE[step - 1].metrics)["acc"])


def test_a_final_measurement_has_every_metric() -> None:
    both = made(ACCURACY, LOSS)
    assert reports.final(CURVE, both) is None
    assert reports.missing(CURVE, both) == ["loss"]
    apart = [measurement(1, acc=0.5), measurement(2, loss=0.2)]
    assert reports.final(apart, both) == Measurement(2, 0.0, (("acc", 0.5), ("loss", 0.2)))
    whole = measurement(3, acc=0.6, loss=0.3)
    assert reports.final([*apart, whole, measurement(4, acc=0.1)], both) == whole


# --- Spaces and the search in them (vertex-rules 5.1): every point is inside, and the same for the same study.


ALGORITHMS = ["ALGORITHM_UNSPECIFIED", "RANDOM_SEARCH", "GRID_SEARCH"]


def studied(*parameters: Any, algorithm: str = "ALGORITHM_UNSPECIFIED") -> Study:
    return study_of(study(*parameters, algorithm=algorithm))


def searched(study: Study, count: int, seed: str = "s") -> list[Assignment]:
    points = (search.suggested(study, seed, earlier) for earlier in range(count))
    return [point for point in points if point is not None]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_point_has_each_parameter_once_and_is_inside_its_space(algorithm: str) -> None:
    parameters = [UNITS, LAYERS, MODEL]
    if algorithm != "GRID_SEARCH":
        parameters += [LR, {**LR, "parameterId": "back", "scaleType": "UNIT_REVERSE_LOG_SCALE"}]
    outcome = studied(*parameters, algorithm=algorithm)
    for point in searched(outcome, 25):
        assert [name for name, _ in point] == [parameter.id for parameter in outcome.space]
        for parameter, (_, value) in zip(outcome.space, point, strict=True):
            if parameter.kind in ("categorical", "discrete"):
                assert value in parameter.values
            else:
                assert parameter.low <= float(value) <= parameter.high
                assert isinstance(value, int) == (parameter.kind == "integer")


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_same_study_gives_the_same_points_and_another_study_others(algorithm: str) -> None:
    parameters = [UNITS, LAYERS] if algorithm == "GRID_SEARCH" else [UNITS, LR]
    outcome = studied(*parameters, algorithm=algorithm)
    first = searched(outcome, 9)
    assert searched(outcome, 9) == first
    assert (searched(outcome, 9, seed="other") == first) == (algorithm == "GRID_SEARCH")


def test_a_grid_is_walked_once() -> None:
    outcome = studied(UNITS, MODEL, algorithm="GRID_SEARCH")
    points = searched(outcome, 100)
    assert len(points) == len(set(points)) == 3 * 2
    assert points[:2] == [(("units", 16.0), ("model", "svm")), (("units", 16.0), ("model", "tree"))]


def conditional(values: list[Any], parameter: dict[str, Any], of: str = "Categorical") -> dict[str, Any]:
    return {f"parent{of}Values": {"values": values}, "parameterSpec": parameter}


DEPTH = {"parameterId": "depth", "integerValueSpec": {"minValue": 1, "maxValue": 2}}
GROWTH = {"parameterId": "growth", "discreteValueSpec": {"values": [0.1, 0.2]}}
TREE = {**DEPTH, "conditionalParameterSpecs": [conditional(["2"], GROWTH, "Int")]}
KERNEL = {"parameterId": "kernel", "categoricalValueSpec": {"values": ["rbf", "linear"]}}
NESTED = {**MODEL, "conditionalParameterSpecs": [conditional(["svm"], KERNEL), conditional(["tree"], TREE)]}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_point_has_the_conditional_parameters_of_its_values_alone(algorithm: str) -> None:
    points = searched(studied(NESTED, LAYERS, algorithm=algorithm), 60)
    named = {tuple(name for name, _ in point): dict(point) for point in points}
    assert set(named) == {
        ("model", "kernel", "layers"),
        ("model", "depth", "layers"),
        ("model", "depth", "growth", "layers"),
    }
    assert named["model", "depth", "layers"]["depth"] == 1
    assert named["model", "depth", "growth", "layers"]["depth"] == 2
    if algorithm == "GRID_SEARCH":
        assert len(points) == len(set(points)) == (2 + 1 + 2) * 3


def test_discrete_values_of_a_parent_are_compared_as_the_service_does() -> None:
    branch = conditional([16.00000000001], KERNEL, "Discrete")
    points = searched(studied({**UNITS, "conditionalParameterSpecs": [branch]}, algorithm="GRID_SEARCH"), 9)
    assert [[value for _, value in point] for point in points] == [[16.0, "rbf"], [16.0, "linear"], [32.0], [64.0]]


def test_a_grid_of_many_points_costs_those_that_are_taken() -> None:
    wide = {"parameterId": "n", "integerValueSpec": {"minValue": "0", "maxValue": str(10**12)}}
    outcome = studied(wide, {**wide, "parameterId": "m"}, algorithm="GRID_SEARCH")
    assert [dict(point)["m"] for point in islice(search.grid(outcome.space), 3)] == [0, 1, 2]


@given(
    low=st.floats(1e-6, 1e6),
    width=st.floats(0, 1e6),
    unit=st.floats(0, 1),
    scale=st.sampled_from(["UNIT_LINEAR_SCALE", "UNIT_LOG_SCALE", "UNIT_REVERSE_LOG_SCALE"]),
    kind=st.sampled_from(["double", "integer"]),
)
def test_a_place_in_a_scaled_range_is_in_the_range(
    low: float, width: float, unit: float, scale: str, kind: str
) -> None:
    bounds: dict[str, Any] = {"minValue": low, "maxValue": low + width}
    if kind == "integer":
        bounds = {"minValue": str(math.ceil(low)), "maxValue": str(math.ceil(low + width))}
    (parameter,) = space.space_of([{"parameterId": "x", f"{kind}ValueSpec": bounds, "scaleType": scale}])
    assert parameter.low <= float(space.at(parameter, unit)) <= parameter.high


def test_scales_spread_one_end_of_the_range() -> None:
    def middle(scale: str) -> float:
        spec = {"parameterId": "x", "doubleValueSpec": {"minValue": 1, "maxValue": 100}, "scaleType": scale}
        return float(space.at(space.space_of([spec])[0], 0.5))

    assert middle("UNIT_LINEAR_SCALE") == pytest.approx(50.5)
    assert middle("UNIT_LOG_SCALE") == pytest.approx(10)
    assert middle("UNIT_REVERSE_LOG_SCALE") == pytest.approx(91)


def test_integers_of_a_range_are_equally_likely_at_its_ends() -> None:
    (parameter,) = space.space_of([LAYERS])
    values = [space.at(parameter, (place + 0.5) / 300) for place in range(300)]
    assert {value: values.count(value) for value in (1, 2, 3)} == {1: 100, 2: 100, 3: 100}


@pytest.mark.parametrize(
    ("value", "text"), [(3, "3"), (32.0, "32"), (0.5, "0.5"), (1e-05, "1e-05"), ("svm", "svm"), (1e300, "1e+300")]
)
def test_arguments_are_written_as_people_parse_them(value: Any, text: str) -> None:
    assert space.argument(value) == text


# --- When trials and studies stop (the rules of StudySpec).


def trial(number: int, *values: float, state: Any = "SUCCEEDED", ended: float = 0.0, seconds: float = 1.0) -> Trial:
    """A trial that measured values at steps 1, 2, … every so many seconds, and ended some seconds after the start."""
    measured = tuple(Measurement(at, at * seconds, (("acc", value),)) for at, value in enumerate(values, 1))
    over = state == "SUCCEEDED"
    return Trial(
        str(number),
        state,
        (("lr", 0.1),),
        "",
        measured,
        final=measured[-1] if over else None,
        end_time=timestamp(START + timedelta(seconds=ended)) if over else None,
    )


def hopeless(current: Trial, *done: Trial, **spec: Any) -> bool:
    return stopping.hopeless(current, [*done, current], study_of(study(**spec)))


MEDIAN: dict[str, Any] = {"medianAutomatedStoppingSpec": {}}
DECAY: dict[str, Any] = {"decayCurveStoppingSpec": {}}
DONE = [trial(1, 0.2, 0.4, 0.6), trial(2, 0.4, 0.6, 0.8), trial(3, 0.6, 0.8, 0.9)]


@pytest.mark.parametrize(
    ("values", "stops"),
    [((0.49,), False), ((0.4,), False), ((0.39,), True), ((0.1, 0.49), True), ((0.1, 0.51), False), ((), False)],
)
def test_the_median_rule_compares_the_best_value_with_the_median_of_averages(values: Any, stops: bool) -> None:
    """The median of the averages is 0.4 after one step, and 0.5 after two."""
    assert hopeless(trial(4, *values, state="ACTIVE"), *DONE, **MEDIAN) is stops


def test_without_a_rule_or_a_completed_trial_nothing_stops() -> None:
    assert not hopeless(trial(4, 0.0, state="ACTIVE"), *DONE)
    assert not hopeless(trial(4, 0.0, state="ACTIVE"), trial(1, state="INFEASIBLE"), **MEDIAN)


def test_a_metric_that_is_to_be_small_is_compared_the_other_way() -> None:
    small = {**MEDIAN, "metrics": [{**ACCURACY, "goal": "MINIMIZE"}]}
    assert hopeless(trial(4, 0.41, state="ACTIVE"), *DONE, **small)
    assert not hopeless(trial(4, 0.39, state="ACTIVE"), *DONE, **small)


def test_a_rule_over_time_looks_at_the_same_time_of_other_trials() -> None:
    by_time: dict[str, Any] = {"medianAutomatedStoppingSpec": {"useElapsedDuration": True}}
    slow = trial(4, 0.3, state="ACTIVE", seconds=3.0)
    assert hopeless(slow, *DONE, **by_time), "after three seconds the others had more"
    assert hopeless(slow, *DONE, **MEDIAN) and not hopeless(
        trial(4, 0.45, state="ACTIVE", seconds=3.0), *DONE, **MEDIAN
    )
    assert hopeless(trial(4, 0.45, state="ACTIVE", seconds=3.0), *DONE, **by_time)


def test_the_decay_curve_rule_stops_what_could_not_be_the_best_with_the_most_that_others_gained() -> None:
    """Others gained at most 0.4 after the first step, and the best is 0.9."""
    assert hopeless(trial(4, 0.45, state="ACTIVE"), *DONE, **DECAY)
    assert not hopeless(trial(4, 0.55, state="ACTIVE"), *DONE, **DECAY)
    assert not hopeless(trial(4, 0.1, state="ACTIVE"), *DONE[:2], **DECAY), "too few to judge by"


def over(config: dict[str, Any], *trials: Trial, after: float = 10, **spec: Any) -> bool:
    found = study_of(study(studyStoppingConfig=config, **spec))
    return bool(stopping.over(found, trials, timestamp(START), START + timedelta(seconds=after)))


FALLING = [trial(1, 0.9, ended=1), trial(2, 0.8, ended=2), trial(3, 0.7, ended=3)]


@pytest.mark.parametrize(
    ("config", "stops"),
    [
        ({}, False),
        ({"maxNumTrials": 3}, True),
        ({"maxNumTrials": 4}, False),
        ({"maximumRuntimeConstraint": {"maxDuration": "10s"}}, True),
        ({"maximumRuntimeConstraint": {"maxDuration": "11s"}}, False),
        ({"maximumRuntimeConstraint": {"endTime": "2026-11-20T10:00:05Z"}}, True),
        ({"maxNumTrialsNoProgress": 2}, True),
        ({"maxNumTrialsNoProgress": 3}, False),
        ({"maxDurationNoProgress": "9s"}, True),
        ({"maxDurationNoProgress": "9.5s"}, False),
        ({"maxNumTrials": 3, "minNumTrials": 4}, False),
        ({"maxNumTrials": 3, "minimumRuntimeConstraint": {"maxDuration": "60s"}}, False),
        ({"maxNumTrials": 3, "minimumRuntimeConstraint": {"maxDuration": "5s"}}, True),
    ],
)
def test_a_study_stops_by_its_conditions_and_not_before_its_minimums(config: dict[str, Any], stops: bool) -> None:
    assert over(config, *FALLING) is stops


def test_progress_is_of_one_objective_alone() -> None:
    two = [ACCURACY, {"metricId": "loss", "goal": "MINIMIZE"}]
    assert not over({"maxNumTrialsNoProgress": 1}, *FALLING, metrics=two)
