"""Runs on axes: places, ticks, scores and curves. # W5"""

from __future__ import annotations

import math
from typing import Any

from bench import month
from slipway.google.jobs import VertexJob
from slipway.google.trials import Trial
from slipway.model.kinds import TUNING_JOB
from slipway.operating.board.sweep import BoardSweep, board_study, board_sweep
from slipway.using.jobs.metrics import Metrics, MetricStep
from slipway.using.jobs.results import Goal, Results
from tests.slipway.operating.board.moment_sweeps import sweeps_of


def study(*trials: tuple[dict[str, str], float | None], goal: str = "MAXIMIZE") -> BoardSweep:
    listed = tuple(
        Trial(str(number), "SUCCEEDED", values, {} if metric is None else {"accuracy": metric}, "")
        for number, (values, metric) in enumerate(trials, 1)
    )
    name = "projects/1/locations/r/hyperparameterTuningJobs/7"
    return board_study(VertexJob(name, "tune", "x", kind=TUNING_JOB, tried=listed, goals={"accuracy": goal}))


def places(sweep: BoardSweep, key: str) -> list[float]:
    return [point.place for point in sweep.points if point.key == key]


def test_numbers_lie_by_their_size_and_far_apart_by_their_logarithm() -> None:
    near = study(({"x": "1"}, 0.1), ({"x": "2"}, 0.2), ({"x": "3"}, 0.3))
    far = study(({"x": "0.01"}, 0.1), ({"x": "0.1"}, 0.2), ({"x": "1"}, 0.3))
    texts = study(({"opt": "sgd", "same": "1"}, 1), ({"opt": "adam", "same": "1"}, 2), ({"opt": "sgd", "same": "1"}, 3))
    assert places(texts, "opt") == [1, 0, 1] and not places(texts, "same"), "what does not vary has no axis"
    many = study(*(({"x": str(number)}, 0.5 + number) for number in range(9)))
    assert [tick.text for tick in many.ticks if tick.key == "x"] == ["0", "8"]
    assert places(near, "x") == places(far, "x") == places(near, "accuracy") == [0, 0.5, 1]


def test_numbers_that_lie_farther_apart_than_a_number_can_tell_have_places() -> None:
    """A metric that diverged left the whole page empty: its JSON had a NaN."""
    wide = study(({"x": "-1.7e308"}, 1.7e308), ({"x": "0"}, 0.0), ({"x": "1.7e308"}, -1.7e308))
    assert places(wide, "x") == [0, 0.5, 1] and places(wide, "accuracy") == [1, 0.5, 0]


def test_a_parameter_that_is_called_as_the_metric_has_an_axis_of_its_own() -> None:
    found = study(({"accuracy": "1"}, 0.1), ({"accuracy": "2"}, 0.2))
    assert [(one.key, one.text) for one in found.points] == [
        *(("params.accuracy", "1"), ("params.accuracy", "2")),
        *(("accuracy", "0.1"), ("accuracy", "0.2")),
    ]


def test_the_metric_that_is_drawn_is_in_the_table_and_all_runs_are_counted() -> None:
    names = tuple(f"m{number}" for number in range(20))
    found = board_sweep("s", Results((), (), names, Goal("m19", maximize=True)), {}, total=1000)
    assert found.metric in found.metrics and found.metrics[0] == "m0" and len(found.metrics) == 8
    assert len(found.runs) + found.left_out == 1000


def test_the_least_is_best_where_the_goal_says_so() -> None:
    values = (({"x": "1"}, 0.1), ({"x": "2"}, 0.3))
    assert [p.score for p in study(*values, goal="MINIMIZE").points if p.key == "accuracy"] == [1, 0]
    assert [run.best for run in study(*values, goal="MINIMIZE").runs] == [True, False]
    assert [run.best for run in study(*values).runs] == [False, True]


def test_a_trial_without_its_metric_is_on_the_axes_without_a_score() -> None:
    found = study(({"x": "1"}, 0.1), ({"x": "2"}, None), ({"x": "3"}, math.nan))
    assert [(p.run, p.score is None) for p in found.points if p.key == "x"] == [("1", False), ("2", True), ("3", True)]
    assert all(math.isfinite(value) for run in found.runs for value in run.metrics.values())


def test_curves_are_thinned_and_those_without_steps_have_none() -> None:
    (sweep,) = sweeps_of(month.history(400))
    having = {point.run for point in sweep.curves}
    assert having == {run.run for run in sweep.runs if run.metrics}
    many = tuple(MetricStep(step, {"loss": 1.0 / step}) for step in range(1, 900))
    metrics: dict[str, Any] = {"a": Metrics(many[-1].values, many, "metrics.json")}
    assert board_sweep("s", Results((), (), ("loss",), Goal("loss", False)), metrics).curves == ()
