"""When trials and studies stop (the rules of StudySpec)."""

from datetime import timedelta
from typing import Any

import pytest

from local.cloud.clock import timestamp
from local.cloud.vertex.tuning import stopping
from local.cloud.vertex.tuning.study import study_of
from local.cloud.vertex.tuning.trial import Measurement, Trial
from tests.local.cloud.calling import START
from tests.local.cloud.vertex.tuning.conftest import ACCURACY, study


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
