"""Trials as real processes that report with the real cloudml-hypertune, on a cloud that is killed (N15)."""

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.official import aiplatform, hyperparameter_tuning
from tests.vertex.tuning.conftest import TUNING, tuning_body
from vertex_local.testing.calling import PARENT
from vertex_local.testing.local_cloud import LocalCloud

DEPLOYER = "deployer@local-project.iam.gserviceaccount.com"
MACHINE = {"machine_type": "n1-standard-4"}
pytestmark = pytest.mark.journey

# The tests' own interpreter has the package; which image a job runs in does not matter to how it reports.
TRAIN = """
import argparse, os, time
import hypertune
parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float)
parser.add_argument("--until", default="")
parser.add_argument("--solver")
parser.add_argument("--beta")
options = parser.parse_args()
print("attempt", os.environ["CLOUD_ML_TRIAL_ID"], flush=True)
reporter = hypertune.HyperTune()
for step in (1, 2, 3):
    reporter.report_hyperparameter_tuning_metric("acc", 1 - (options.lr - 0.3) ** 2 - 0.1 / step, global_step=step)
while options.until and not os.path.exists(options.until):
    time.sleep(0.05)
"""


def task(*arguments: str) -> dict[str, Any]:
    return {
        "machineSpec": {"machineType": "n1-standard-4"},
        "replicaCount": "1",
        "containerSpec": {"imageUri": "python:3.10", "command": [sys.executable, "-c", TRAIN], "args": arguments},
    }


def said(cloud: LocalCloud, job: str, trial: dict[str, Any]) -> list[str]:
    """Return what a trial's own code printed. Its lines bear the tuning job's id: gcloud asks for that alone. # N17"""
    wanted = (
        f'resource.labels.job_id="{job.rpartition("/")[2]}" AND '
        f'labels."ml.googleapis.com/trial_id"="{trial["id"]}" AND resource.labels.task_name!="service"'
    )
    body = {"resourceNames": ["projects/local-project"], "filter": wanted}
    return [entry["textPayload"] for entry in cloud.rest("POST", "/v2/entries:list", body).get("entries", [])]


def test_a_killed_cloud_goes_on_with_the_trials_it_had_decided(own_cloud: LocalCloud, tmp_path: Path) -> None:
    own_cloud.fast()
    go = tmp_path / "go"
    pool = {"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": "2"}
    clusters = f"/v1/{PARENT}/persistentResources?persistentResourceId=cpu"
    own_cloud.rest("POST", clusters, {"resourcePools": [pool]})
    spec = {"workerPoolSpecs": [task(f"--until={go}")], "persistentResourceId": "cpu"}
    body = tuning_body(trials=4, parallel=2, trialJobSpec=spec)
    name = own_cloud.rest("POST", TUNING, body)["name"]

    def measured(job: dict[str, Any]) -> bool:
        return [len(trial.get("measurements", [])) for trial in job.get("trials", [])] == [3, 3]

    before = own_cloud.seen(name, measured)
    own_cloud.kill()
    go.touch()
    own_cloud.up()
    done = own_cloud.seen(name, lambda job: job["state"].endswith("ED") and job["state"] != "JOB_STATE_QUEUED")
    assert done["state"] == "JOB_STATE_SUCCEEDED"
    assert [trial["customJob"] for trial in done["trials"][:2]] == [trial["customJob"] for trial in before["trials"]]
    assert len(own_cloud.rest("GET", f"/v1/{PARENT}/customJobs")["customJobs"]) == len(done["trials"]) == 4
    for trial in done["trials"]:
        assert [item["stepCount"] for item in trial["measurements"]] == ["1", "2", "3"], "each once"
        assert said(own_cloud, name, trial) == [f"attempt {trial['id']}"]


def trial(*command: str, **more: Any) -> aiplatform.CustomJob:
    container = {"image_uri": "python:3.10", "command": list(command)}
    pools: Any = [{"machine_spec": MACHINE, "replica_count": 1, "container_spec": container}]
    return aiplatform.CustomJob(display_name="trial", worker_pool_specs=pools, **more)


def test_the_sdk_tunes_on_a_persistent_resource(vertex_sdk: LocalCloud) -> None:
    pool = {"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": "2"}
    account = {"serviceAccountSpec": {"enableCustomServiceAccount": True}}
    body = {"resourcePools": [pool], "resourceRuntimeSpec": account}
    vertex_sdk.rest("POST", f"/v1/{PARENT}/persistentResources?persistentResourceId=tuning", body)
    double = hyperparameter_tuning.DoubleParameterSpec
    job = aiplatform.HyperparameterTuningJob(
        display_name="sdk-tuning",
        custom_job=trial(sys.executable, "-c", TRAIN, persistent_resource_id="tuning"),
        metric_spec={"acc": "maximize"},
        parameter_spec={
            "lr": double(min=0.001, max=1, scale="log"),
            "solver": hyperparameter_tuning.CategoricalParameterSpec(
                values=["plain", "momentum"],
                conditional_parameter_spec={
                    "beta": hyperparameter_tuning.DiscreteParameterSpec(
                        values=[0.5, 0.9], scale="linear", parent_values=["momentum"]
                    )
                },
            ),
        },
        max_trial_count=4,
        parallel_trial_count=2,
        labels={"made": "by-sdk"},
    )
    job.run(service_account=DEPLOYER, timeout=8000, disable_retries=True)
    assert job.state.name == "JOB_STATE_SUCCEEDED"
    assert [trial.state.name for trial in job.trials] == ["SUCCEEDED"] * 4
    for one in job.trials:
        values = {parameter.parameter_id: parameter.value for parameter in one.parameters}
        assert ("beta" in values) == (values["solver"] == "momentum")
    best = max(job.trials, key=lambda trial: trial.final_measurement.metrics[0].value)
    assert best.final_measurement.step_count in (2, 3), "the best measurement is the SDK's choice"
    spec = aiplatform.CustomJob.get(best.custom_job).gca_resource.job_spec
    assert spec.persistent_resource_id == "tuning"
    assert spec.base_output_directory.output_uri_prefix.endswith(f"/{best.id}")
    listed = aiplatform.HyperparameterTuningJob.list(filter='labels.made="by-sdk"')
    assert [item.resource_name for item in listed] == [job.resource_name]
    again = aiplatform.HyperparameterTuningJob.get(job.resource_name)
    again.delete()
