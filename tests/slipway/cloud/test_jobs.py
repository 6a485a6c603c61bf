"""Jobs as the service tells of them, whoever made them, and the trials of a tuning job. (B5)"""

from typing import Any

from slipway.cloud.jobs import VertexJob
from slipway.cloud.trials import Trial, best
from slipway.kinds import KINDS, PIPELINE, TUNING_JOB


def test_a_name_is_one_line_and_commands_no_terminal() -> None:
    """The service takes any text for a name, and everybody's jobs are listed together."""
    assert VertexJob.read({"displayName": "läuft 🚀 \x1b[31mred\nrm -rf"}).display_name == "läuft 🚀 ?[31mred?rm -rf"


def test_what_is_typed_for_a_job_is_a_word_that_a_shell_leaves_alone() -> None:
    """What to type next is shown for the jobs of others too, whose names are any text."""
    for name, typed in (
        ("dask-digits-7k2p3f9a", "dask-digits-7k2p3f9a"),
        ("Tuning_2.1", "Tuning_2.1"),
        ("x; touch pwned", "7"),
        ("$(touch pwned)", "7"),
        ("--capacity", "7"),
        ("läuft", "7"),
        ("x\ny", "7"),
        ("", "7"),
    ):
        assert VertexJob.read({"name": "projects/p/locations/r/customJobs/7", "displayName": name}).typed == typed


def test_what_a_job_needs_is_told_whatever_its_kind() -> None:  # N1
    """A deployment keeps it until the job has ended."""
    affinity = {"reservationAffinityType": "SPECIFIC_RESERVATION", "values": ["projects/p/zones/z/reservations/r"]}
    pool = {
        "replicaCount": 1,
        "machineSpec": {"machineType": "a3-highgpu-8g", "reservationAffinity": affinity},
        "pythonPackageSpec": {
            "packageUris": ["gs://acme-catalog/packages/nap.tar.gz"],
            "env": [{"name": "SLIPWAY_PARAMETERS", "value": '{"trees":500}'}],
        },
    }
    spec = {"serviceAccount": "trainer@acme.iam.gserviceaccount.com", "workerPoolSpecs": [pool, {}]}
    for kind in KINDS.values():
        job = VertexJob.read({kind.spec: spec}, kind)
        assert job.service_account == "trainer@acme.iam.gserviceaccount.com"
        assert job.packages == {"gs://acme-catalog/packages/nap.tar.gz"}
        assert job.reservations == {"projects/p/zones/z/reservations/r"}
        assert job.buckets == {"acme-catalog"}
        assert job.parameters == {"trees": 500}


JOB: dict[str, Any] = {
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
    job = VertexJob.read(JOB, TUNING_JOB)
    assert [one.state for one in job.tried] == ["SUCCEEDED", "INFEASIBLE", "ACTIVE"]
    assert job.tried[0].values == {"model": "svc", "c": "0.3"}
    assert job.tried[0].metrics == {"accuracy": 0.95}


def test_the_best_is_one_that_succeeded() -> None:
    job = VertexJob.read(JOB, TUNING_JOB)
    assert best(job.tried, job.goals) is job.tried[0]


def test_the_best_follows_the_goal() -> None:
    trials = (trial(1, 0.2), trial(2, 0.9), trial(3, 0.5))
    assert best(trials, {"accuracy": "MAXIMIZE"}) is trials[1]
    assert best(trials, {"accuracy": "MINIMIZE"}) is trials[0]


def test_nothing_is_called_best_where_nothing_was_measured_or_several_metrics_count() -> None:
    assert best((), {"accuracy": "MAXIMIZE"}) is None
    assert best((trial(1, 0.2),), {"accuracy": "MAXIMIZE", "cost": "MINIMIZE"}) is None


def test_the_log_of_a_job_has_its_own_id_its_trials_and_that_of_the_job_behind_it() -> None:
    own = JOB["name"].rpartition("/")[2]
    assert VertexJob.read(JOB, TUNING_JOB).log_ids == (own, "71", "73")
    backing = {"trainingTaskMetadata": {"backingCustomJob": "projects/1/locations/us-central1/customJobs/77"}}
    assert VertexJob.read({"name": "…/trainingPipelines/6", **backing}, PIPELINE).log_ids == ("77",)
    assert VertexJob.read({"name": "…/trainingPipelines/6"}, PIPELINE).log_ids == ()


def test_a_pipelines_model_is_named_with_its_version() -> None:
    uploaded = {"modelToUpload": {"name": "projects/1/locations/us-central1/models/8", "versionId": "2"}}
    assert VertexJob.read({"name": "…/trainingPipelines/6", **uploaded}, PIPELINE).model.endswith("models/8@2")


def test_what_trials_choose_is_told_with_what_is_searched_under_a_condition_alone() -> None:
    inner = {"parameterSpec": {"parameterId": "depth"}, "parentCategoricalValues": {"values": ["forest"]}}
    study = {"parameters": [{"parameterId": "model", "conditionalParameterSpecs": [inner]}, {"parameterId": "c"}]}
    assert VertexJob.read({"studySpec": study}, TUNING_JOB).tuned == ("model", "depth", "c")
