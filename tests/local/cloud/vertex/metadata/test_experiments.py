"""Experiments of the unmodified SDK: runs, parameters, metrics, series, events (W8)."""

from __future__ import annotations

import pytest

from tests.local.conftest import LocalCloud
from tests.local.official import aiplatform


def test_a_run_keeps_parameters_metrics_and_series(vertex_sdk: LocalCloud) -> None:
    board = aiplatform.Tensorboard.create(display_name="experiments")
    aiplatform.init(experiment="sdk-exp", experiment_description="of the tests", experiment_tensorboard=board)
    with aiplatform.start_run("run-1") as run:
        run.log_params({"lr": 0.1, "layers": 3, "optimizer": "adam"})
        run.log_metrics({"accuracy": 0.9})
        for step in range(3):
            run.log_time_series_metrics({"loss": 1.0 / (step + 1)})
    frame = aiplatform.get_experiment_df("sdk-exp")
    assert frame.to_dict("records") == [
        {
            "experiment_name": "sdk-exp",
            "run_name": "run-1",
            "run_type": "system.ExperimentRun",
            "state": "COMPLETE",
            "param.lr": 0.1,
            "param.layers": 3.0,
            "param.optimizer": "adam",
            "metric.accuracy": 0.9,
            "time_series_metric.loss": pytest.approx(1 / 3),
        }
    ]
    found = aiplatform.ExperimentRun("run-1", "sdk-exp")
    assert list(found.get_time_series_data_frame()["loss"]) == pytest.approx([1, 1 / 2, 1 / 3])


def test_a_run_can_be_resumed_and_a_failed_one_is_told(vertex_sdk: LocalCloud) -> None:
    aiplatform.init(experiment="sdk-resumed", experiment_tensorboard=False)
    with pytest.raises(ZeroDivisionError), aiplatform.start_run("run-1"):
        aiplatform.log_params({"batch": 8})
        raise ZeroDivisionError
    assert aiplatform.ExperimentRun("run-1", "sdk-resumed").get_state() == "FAILED"
    with aiplatform.start_run("run-1", resume=True):
        aiplatform.log_metrics({"loss": 2})
    found = aiplatform.ExperimentRun("run-1", "sdk-resumed")
    assert (found.get_state(), found.get_params(), found.get_metrics()) == ("COMPLETE", {"batch": 8}, {"loss": 2})


def test_a_default_tensorboard_is_made_for_an_experiment_without_one(vertex_sdk: LocalCloud) -> None:
    aiplatform.init(experiment="sdk-default")
    backing = aiplatform.Experiment("sdk-default").get_backing_tensorboard_resource()
    assert backing and backing.gca_resource.is_default
    aiplatform.init(experiment="sdk-default-2")
    assert aiplatform.Experiment("sdk-default-2").backing_tensorboard_resource_name == backing.resource_name


def test_executions_tell_what_a_model_was_made_of(vertex_sdk: LocalCloud) -> None:
    aiplatform.init(experiment="sdk-events", experiment_tensorboard=False)
    with aiplatform.start_run("run-1") as run:
        data = aiplatform.Artifact.create(schema_title="system.Dataset", uri="gs://b/data")
        with aiplatform.start_execution(schema_title="system.ContainerExecution", display_name="train") as train:
            train.assign_input_artifacts([data])
            train.assign_output_artifacts([aiplatform.Artifact.create(schema_title="system.Model", uri="gs://b/m")])
        assert [item.uri for item in train.get_input_artifacts()] == ["gs://b/data"]
        assert [item.uri for item in train.get_output_artifacts()] == ["gs://b/m"]
        assert {item.uri for item in run.get_artifacts()} == {"gs://b/data", "gs://b/m"}
        assert [item.state.name for item in run.get_executions()] == ["COMPLETE"]


def test_an_experiment_is_removed_with_its_runs(vertex_sdk: LocalCloud) -> None:
    aiplatform.init(experiment="sdk-gone")
    with aiplatform.start_run("run-1"):
        aiplatform.log_time_series_metrics({"loss": 1.0})
    assert [item.name for item in aiplatform.ExperimentRun.list(experiment="sdk-gone")] == ["run-1"]
    aiplatform.Experiment("sdk-gone").delete(delete_backing_tensorboard_runs=True)
    assert aiplatform.Experiment.get("sdk-gone") is None
    assert "sdk-gone" not in [item.name for item in aiplatform.Experiment.list()]
