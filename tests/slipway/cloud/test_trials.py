"""What a tuning job has tried, and which trial is the best. (B5)"""

from __future__ import annotations

from slipway.cloud.resources import CustomJob
from slipway.cloud.trials import Trial, best
from slipway.kinds import PIPELINE, TUNING_JOB

JOB = {
    "name": "projects/1/locations/us-central1/hyperparameterTuningJobs/5",
    "state": "JOB_STATE_RUNNING",
    "studySpec": {"metrics": [{"metricId": "accuracy", "goal": "MAXIMIZE"}]},
    "parallelTrialCount": 2,
    "trials": [
        {
            "id": "1",
            "state": "SUCCEEDED",
            "customJob": "projects/1/locations/us-central1/customJobs/71",
            "parameters": [
                {"parameterId": "model", "value": "svc"},
                {"parameterId": "c", "value": 0.30000000000000004},
            ],
            "finalMeasurement": {"metrics": [{"metricId": "accuracy", "value": 0.95}]},
        },
        {"id": "2", "state": "INFEASIBLE", "finalMeasurement": {"metrics": [{"metricId": "accuracy", "value": 0.99}]}},
        {"id": "3", "state": "ACTIVE", "customJob": "projects/1/locations/us-central1/customJobs/73"},
    ],
}


def trial(number: int, accuracy: float) -> Trial:
    return Trial(str(number), "SUCCEEDED", {}, {"accuracy": accuracy}, "")


def test_trials_are_read_with_their_values_and_measurements() -> None:
    job = CustomJob.read(JOB, TUNING_JOB)
    assert [one.state for one in job.tried] == ["SUCCEEDED", "INFEASIBLE", "ACTIVE"]
    assert job.tried[0].values == {"model": "svc", "c": "0.3"}
    assert job.tried[0].metrics == {"accuracy": 0.95}


def test_the_best_is_one_that_succeeded() -> None:
    job = CustomJob.read(JOB, TUNING_JOB)
    assert best(job.tried, job.goals) is job.tried[0]


def test_the_best_follows_the_goal() -> None:
    trials = (trial(1, 0.2), trial(2, 0.9), trial(3, 0.5))
    assert best(trials, {"accuracy": "MAXIMIZE"}) is trials[1]
    assert best(trials, {"accuracy": "MINIMIZE"}) is trials[0]


def test_nothing_is_called_best_where_nothing_was_measured_or_several_metrics_count() -> None:
    assert best((), {"accuracy": "MAXIMIZE"}) is None
    assert best((trial(1, 0.2),), {"accuracy": "MAXIMIZE", "cost": "MINIMIZE"}) is None


def test_the_log_of_a_tuning_job_is_its_trials_and_a_pipelines_that_of_the_job_behind_it() -> None:
    assert CustomJob.read(JOB, TUNING_JOB).log_ids == ("71", "73")
    backing = {"trainingTaskMetadata": {"backingCustomJob": "projects/1/locations/us-central1/customJobs/77"}}
    assert CustomJob.read({"name": "…/trainingPipelines/6", **backing}, PIPELINE).log_ids == ("77",)
    assert CustomJob.read({"name": "…/trainingPipelines/6"}, PIPELINE).log_ids == ()


def test_a_pipelines_model_is_named_with_its_version() -> None:
    uploaded = {"modelToUpload": {"name": "projects/1/locations/us-central1/models/8", "versionId": "2"}}
    assert CustomJob.read({"name": "…/trainingPipelines/6", **uploaded}, PIPELINE).model.endswith("models/8@2")
