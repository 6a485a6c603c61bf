"""The bucket of a job's output is in the job's own region, whatever kind of job it is. # N17

As people reported it of custom jobs and studies, from 2021 to 2023, in these words; Google answers that a bucket of a
multi-region is no better. What the service says of one that is not there is unknown.
"""

from typing import Any

import pytest

from tests.local.cloud.calling import PARENT, Calling
from tests.local.cloud.vertex.bodies import worker

SCHEMA = "gs://google-cloud-aiplatform/schema/trainingjob/definition"
STUDY = {
    "metrics": [{"metricId": "loss", "goal": "MINIMIZE"}],
    "parameters": [{"parameterId": "lr", "doubleValueSpec": {"minValue": 0.1, "maxValue": 1}}],
}


def of_each_kind(uri: str) -> dict[str, dict[str, Any]]:
    """Return a body with this output for each collection."""
    spec = {"workerPoolSpecs": [worker()], "baseOutputDirectory": {"outputUriPrefix": uri}}
    study = {"studySpec": STUDY, "maxTrialCount": 1, "parallelTrialCount": 1, "trialJobSpec": spec}
    pipelines = {
        "custom": {"trainingTaskDefinition": f"{SCHEMA}/custom_task_1.0.0.yaml", "trainingTaskInputs": spec},
        "tuning": {
            "trainingTaskDefinition": f"{SCHEMA}/hyperparameter_tuning_task_1.0.0.yaml",
            "trainingTaskInputs": study,
        },
    }
    return {
        "customJobs": {"displayName": "a", "jobSpec": spec},
        "hyperparameterTuningJobs": {"displayName": "a", **study},
        **{f"trainingPipelines?{name}": {"displayName": "a", **body} for name, body in pipelines.items()},
    }


ELSEWHERE = "is in location `{}`. It must be in the same regional location as the service location `us-central1`."


@pytest.mark.parametrize("kind", of_each_kind(""))
@pytest.mark.parametrize(
    ("where", "setting", "said"),
    [
        ("us-central1", "", ""),
        ("EUROPE-WEST4", "output_elsewhere", ELSEWHERE),
        ("US", "output_elsewhere", ELSEWHERE),
        ("NAM4", "output_elsewhere", ELSEWHERE),
        ("", "output_missing", "does not exist."),
    ],
)
def test_the_output_is_in_the_jobs_region(calling: Calling, kind: str, where: str, setting: str, said: str) -> None:
    if where:
        calling.bucket("out", where)
    uri = "gs://out/runs/7"
    path, body = f"/v1/{PARENT}/{kind.partition('?')[0]}", of_each_kind(uri)[kind]
    if setting:
        error = calling.refused("POST", path, body)
        assert (error.code, error.status) == (400, "FAILED_PRECONDITION")
        assert error.message == f"The Cloud Storage bucket of `{uri}` {said.format(where.lower())}"
        assert not calling.call("GET", path).get(path.rpartition("/")[2])
        calling.set(**{setting: "accept"})
    calling.call("POST", path, body)
