"""The runs of a session, sorted by a metric and side by side. # N25"""

import pytest

from slipway.model.job_state import JobState
from slipway.using.jobs.metrics import Metrics
from slipway.using.jobs.results import Goal
from slipway.using.sessions.runs import RunRecord, compare_runs, sorted_runs

_NAN = Metrics({}, not_finite={"loss": "NaN"})


def run(number: int, metrics: Metrics, state: JobState = JobState.SUCCEEDED) -> RunRecord:
    return RunRecord(f"s/{number}", number, "ada", "python t.py", state, 0, "", None, 1.0, metrics)


@pytest.mark.parametrize("descending", [True, False])
def test_runs_that_succeeded_are_first_and_of_these_the_ones_with_a_finite_number(descending: bool) -> None:
    runs = [run(1, Metrics({"loss": 0.1}), JobState.FAILED), run(2, Metrics()), run(3, _NAN)]
    runs.append(run(4, Metrics({"loss": 2.0})))
    runs.append(run(5, Metrics(), JobState.RUNNING))
    assert [each.number for each in sorted_runs(runs, Goal("loss", descending))] == [4, 3, 2, 5, 1]


def test_a_metric_that_is_no_finite_number_is_compared_as_its_text() -> None:
    fields = {field.name: field.values for field in compare_runs([run(1, _NAN), run(2, Metrics({"loss": 0.5}))])}
    assert fields["loss"] == ("NaN", 0.5)
