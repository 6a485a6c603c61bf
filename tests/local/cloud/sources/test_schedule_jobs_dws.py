"""Source 000, "Dynamic Workload Scheduler": its REST body, its gcloud file, its Python (W1–W8, P2)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from google.api_core import exceptions

from tests.local.cloud.sources.conftest import (
    TRAINER,
    gpus_drawn,
    later,
    log,
    machines,
    posted,
    refusal,
    state_stays,
)
from tests.local.conftest import LocalCloud
from tests.local.official import aiplatform, hyperparameter_tuning
from tests.local.official import custom_job as gca_custom_job_compat

A100 = "a2-highgpu-1g"
IMAGE = "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-5:latest"
L4: dict[str, Any] = {"machine_type": "g2-standard-4", "accelerator_type": "NVIDIA_L4", "accelerator_count": 1}
DAY_S = 86400


def flex_start() -> Any:
    return gca_custom_job_compat.Scheduling.Strategy.FLEX_START


def body(**scheduling: str) -> dict[str, Any]:
    """The document's REST body; `scheduling` goes over what it says of it."""
    return {
        "displayName": "MyDwsJob",
        "jobSpec": {
            "workerPoolSpecs": [
                {
                    "machineSpec": {
                        "machineType": A100,
                        "acceleratorType": "NVIDIA_TESLA_A100",
                        "acceleratorCount": 1,
                    },
                    "replicaCount": 1,
                    "diskSpec": {"bootDiskType": "pd-ssd", "bootDiskSizeGb": 100},
                    "containerSpec": {"imageUri": "python:3.10", "command": ["sleep"], "args": ["100"]},
                }
            ],
            "scheduling": {"maxWaitDuration": "1800s", "strategy": "FLEX_START"} | scheduling,
        },
    }


@pytest.fixture
def waiting(cloud: LocalCloud) -> Iterator[list[str]]:
    """Jobs to end after the test."""
    names: list[str] = []
    yield names
    for name in names:
        if "endTime" not in cloud.rest("GET", f"/v1/{name}"):
            cloud.rest("POST", f"/v1/{name}:cancel", {})
            cloud.until(name, "JOB_STATE_CANCELLED")


@pytest.mark.journey
def test_the_body_waits_for_its_machine_and_runs(cloud: LocalCloud, waiting: list[str]) -> None:
    machines(cloud, A100, (0, 0), (600, 1), strategy="flex-start")
    name = posted(cloud, body())
    waiting.append(name)
    state_stays(cloud, name, "JOB_STATE_PENDING")
    # Nothing is drawn, and nothing is to be paid, until there are machines.
    assert gpus_drawn(cloud, "a100") == (0, 0) and "startTime" not in cloud.rest("GET", f"/v1/{name}")
    later(cloud, 601)
    assert cloud.until(name, "JOB_STATE_RUNNING")["startTime"]
    assert gpus_drawn(cloud, "a100") == (0, 1)
    cloud.rest("POST", f"/v1/{name}:cancel", {})
    cloud.until(name, "JOB_STATE_CANCELLED")
    assert gpus_drawn(cloud, "a100") == (0, 0)


def test_the_job_fails_when_its_wait_runs_out(cloud: LocalCloud) -> None:
    machines(cloud, A100, (0, 0))
    name = posted(cloud, body())
    state_stays(cloud, name, "JOB_STATE_PENDING")
    later(cloud, 1801)
    ended = cloud.until(name, "JOB_STATE_FAILED")
    assert "duration of 1800 s" in ended["error"]["message"] and "startTime" not in ended


@pytest.mark.parametrize(("wait", "days", "state"), [(None, 1, "JOB_STATE_FAILED"), ("0s", 30, "JOB_STATE_PENDING")])
def test_the_usual_wait_is_a_day_and_0_is_for_ever(
    cloud: LocalCloud, waiting: list[str], wait: str | None, days: int, state: str
) -> None:
    machines(cloud, A100, (0, 0))
    sent = body()
    if wait is None:
        del sent["jobSpec"]["scheduling"]["maxWaitDuration"]
    else:
        sent["jobSpec"]["scheduling"]["maxWaitDuration"] = wait
    name = posted(cloud, sent)
    waiting.append(name)
    later(cloud, days * DAY_S - 60)
    state_stays(cloud, name, "JOB_STATE_PENDING")
    later(cloud, 120)
    cloud.until(name, state)


def test_it_runs_for_seven_days_at_most(cloud: LocalCloud) -> None:
    code, words = refusal(cloud, body(timeout=f"{7 * DAY_S + 1}s"))
    assert code == 400 and "at most 604800s (7 days)" in words


def test_all_worker_pools_have_one_machine_configuration(cloud: LocalCloud) -> None:
    sent = body()
    other = {"machineType": "a2-highgpu-2g", "acceleratorType": "NVIDIA_TESLA_A100", "acceleratorCount": 2}
    pools = sent["jobSpec"]["workerPoolSpecs"]
    pools.append({**pools[0], "machineSpec": other})
    code, words = refusal(cloud, sent)
    assert code == 400 and "the same machine configuration" in words


def test_the_preemptible_quota_is_the_one_that_counts(cloud: LocalCloud) -> None:
    metric = "custom_model_training_preemptible_nvidia_a100_gpus"
    cloud.rest("POST", "/slipway/settings", {f"quota.{metric}": 0})
    try:
        code, words = refusal(cloud, body())
    finally:
        cloud.rest("POST", "/slipway/settings", {f"quota.{metric}": 8})
    assert code == 429 and words.endswith(f"aiplatform.googleapis.com/{metric}")


def test_the_gcloud_file_s_cpu_machine_is_refused_today(cloud: LocalCloud) -> None:
    """The document asks for an n1-highmem-2; the service's pages now want one of some accelerators."""
    pool = {
        "machineSpec": {"machineType": "n1-highmem-2"},
        "replicaCount": 1,
        "containerSpec": {
            "imageUri": "gcr.io/ucaip-test/ucaip-training-test",
            "args": ["port=8500"],
            "command": ["start"],
        },
    }
    scheduling = {"strategy": "FLEX_START", "maxWaitDuration": "1800s"}
    code, words = refusal(
        cloud, {"displayName": "config", "jobSpec": {"workerPoolSpecs": [pool], "scheduling": scheduling}}
    )
    assert code == 400 and "FLEX_START requires one of" in words


def create_custom_job_with_dws_sample(
    display_name: str, script_path: str, experiment: str, experiment_run: str | None = None, **machine: Any
) -> aiplatform.CustomJob:
    """The document's sample. What it leaves out is the machine: the SDK's own, without accelerators, is refused."""
    aiplatform.init(experiment=experiment)
    job = aiplatform.CustomJob.from_local_script(
        display_name=display_name, script_path=script_path, container_uri=IMAGE, enable_autolog=True, **machine
    )
    job.run(
        service_account=TRAINER,
        experiment=experiment,
        experiment_run=experiment_run,
        max_wait_duration=1800,
        scheduling_strategy=flex_start(),
    )
    return job


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "train.py"
    path.write_text(
        "from sklearn.datasets import load_iris\n"
        "from sklearn.linear_model import LogisticRegression\n"
        "model = LogisticRegression(C=0.5, max_iter=500).fit(*load_iris(return_X_y=True))\n"
        "print('trained')\n",
        encoding="utf-8",
    )
    return str(path)


def test_the_sample_without_an_accelerator_is_refused_today(sdk: LocalCloud, script: str) -> None:
    with pytest.raises(exceptions.BadRequest, match="FLEX_START requires one of the accelerators"):
        create_custom_job_with_dws_sample("dws", script, "dws-refused")


@pytest.mark.long
@pytest.mark.journey
def test_the_sample_logs_by_itself_what_it_trained(sdk: LocalCloud, script: str) -> None:
    """W8: parameters and metrics of scikit-learn come to the experiment from inside the job."""
    job = create_custom_job_with_dws_sample("dws-autolog", script, "dws-exp", **L4)
    assert "trained" in log(sdk, job.resource_name)
    scheduling = job.gca_resource.job_spec.scheduling
    assert (scheduling.strategy, scheduling.max_wait_duration.seconds) == (flex_start(), 1800)
    (row,) = aiplatform.get_experiment_df("dws-exp", include_time_series=False).to_dict("records")
    assert row["run_name"].startswith("dws-autolog-") and row["state"] == "COMPLETE"
    assert (row["param.C"], row["param.max_iter"]) == ("0.5", "500")
    assert row["metric.training_accuracy_score"] > 0.9
    run = aiplatform.ExperimentRun(row["run_name"], "dws-exp")
    assert [item.resource_name for item in run.get_logged_custom_jobs()] == [job.resource_name]


@pytest.mark.journey
def test_the_sample_logs_to_the_run_that_it_names(sdk: LocalCloud, script: str) -> None:
    aiplatform.init(experiment="dws-named")
    aiplatform.start_run("mine")
    aiplatform.log_params({"by": "hand"})
    job = create_custom_job_with_dws_sample("dws-autolog", script, "dws-named", "mine", **L4)
    assert job.state.name == "JOB_STATE_SUCCEEDED"
    run = aiplatform.ExperimentRun("mine", "dws-named")
    assert run.get_params()["by"] == "hand" and run.get_params()["C"] == "0.5"
    assert float(run.get_metrics()["training_accuracy_score"]) > 0.9


# What the package cloudml-hypertune writes, with the standard library.
REPORT = """
import json, os, sys
value = float(sys.argv[1].partition("=")[2])
measured = {"timestamp": 1.0, "trial": os.environ["CLOUD_ML_TRIAL_ID"], "score": str(value), "global_step": "1"}
path = os.environ["CLOUD_ML_HP_METRIC_FILE"]
os.makedirs(os.path.dirname(path), exist_ok=True)
print(json.dumps({**measured, "checkpoint_path": ""}), file=open(path, "a"))
"""


@pytest.mark.journey
def test_a_tuning_job_takes_the_strategy_as_well(sdk: LocalCloud) -> None:
    """W5. The other kind, the training pipeline, is source 003's."""
    machines(sdk, "g2-standard-4", (0, 0), (300, 2))
    task = {"image_uri": "python:3.10", "command": ["python", "-c", REPORT]}
    spec: Any = {"machine_spec": L4, "replica_count": 1, "container_spec": task}
    trial = aiplatform.CustomJob(display_name="dws-trial", worker_pool_specs=[spec])
    job: Any = aiplatform.HyperparameterTuningJob(
        display_name="dws-tuning",
        custom_job=trial,
        metric_spec={"score": "maximize"},
        parameter_spec={"x": hyperparameter_tuning.DoubleParameterSpec(min=0, max=1, scale="linear")},
        max_trial_count=2,
        parallel_trial_count=2,
        search_algorithm="random",
    )
    job.run(scheduling_strategy=flex_start(), max_wait_duration=1800, sync=False)
    job._wait_for_resource_creation()
    later(sdk, 301)
    job.wait()
    scheduling = job.gca_resource.trial_job_spec.scheduling
    assert (scheduling.strategy, scheduling.max_wait_duration.seconds) == (flex_start(), 1800)
    assert [trial.final_measurement.metrics[0].value for trial in job.trials] == [
        pytest.approx(trial.parameters[0].value) for trial in job.trials
    ]
