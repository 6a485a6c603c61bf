"""What trials report: the file of the real cloudml-hypertune, and the measurement a trial is judged by."""

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

from local.cloud.vertex.tuning import reports
from local.cloud.vertex.tuning.study import Study, study_of
from local.cloud.vertex.tuning.trial import Measurement
from tests.local.cloud.vertex.tuning.conftest import ACCURACY, study

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
    found = reports.reports(path.read_text(encoding="utf-8"))
    measured = reports.merged((), found, made(ACCURACY, LOSS), found[0].time)
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
    found = [reports.Report(1.0, 1, "f1", 0.5), reports.Report(1.0, 1, "training/hptuning/metric", 0.7)]
    assert reports.merged((), found, made(), 0.0) == (measurement(1, 1.0, acc=0.7),), "a report without a tag is taken"


def test_only_the_last_measurements_are_kept() -> None:
    found = [reports.Report(float(step), step, "acc", 0.5) for step in range(reports.MOST + 5)]
    measured = reports.merged((), found, made(), 0.0)
    assert (len(measured), measured[0].step) == (reports.MOST, 5)


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
    found = made({"metricId": "acc", "goal": goal}, measurementSelectionType=selection)
    assert reports.final(CURVE, found) == measurement(step, acc=dict(CURVE[step - 1].metrics)["acc"])


def test_a_final_measurement_has_every_metric() -> None:
    both = made(ACCURACY, LOSS)
    assert reports.final(CURVE, both) is None
    assert reports.missing(CURVE, both) == ["loss"]
    apart = [measurement(1, acc=0.5), measurement(2, loss=0.2)]
    assert reports.final(apart, both) == Measurement(2, 0.0, (("acc", 0.5), ("loss", 0.2)))
    whole = measurement(3, acc=0.6, loss=0.3)
    assert reports.final([*apart, whole, measurement(4, acc=0.1)], both) == whole
