"""What the samples of two sources do that no other test does: 000, "Dynamic Workload Scheduler" (W5, W8), and 003, a
fine-tune on H100s (Z1–Z7, W5).

The bodies of the sources, and what they say is refused: `contracts/sources.txt`. Waiting, preemption and the jobs of a
persistent resource: `vertex/scheduling` and `vertex/test_official_clients.py`.
"""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from google.api_core import exceptions

from tests.conftest import STAGING
from tests.official import aiplatform, cloudquotas_v1, hyperparameter_tuning
from tests.official import custom_job as gca_custom_job_compat
from tests.sources.conftest import TRAINER, later, machines
from vertex_local.testing.local_cloud import LocalCloud

IMAGE = "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-5:latest"
L4: dict[str, Any] = {"machine_type": "g2-standard-4", "accelerator_type": "NVIDIA_L4", "accelerator_count": 1}


def flex_start() -> Any:
    return gca_custom_job_compat.Scheduling.Strategy.FLEX_START


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


@pytest.mark.long
@pytest.mark.journey
def test_the_sample_logs_by_itself_what_it_trained(sdk: LocalCloud, script: str) -> None:
    """W8: parameters and metrics of scikit-learn come to the experiment from inside the job."""
    job = create_custom_job_with_dws_sample("dws-autolog", script, "dws-exp", **L4)
    assert "trained" in sdk.lines(job.resource_name, "")
    scheduling = job.gca_resource.job_spec.scheduling
    assert (scheduling.strategy, scheduling.max_wait_duration.seconds) == (flex_start(), 1800)
    (row,) = aiplatform.get_experiment_df("dws-exp", include_time_series=False).to_dict("records")
    assert row["run_name"].startswith("dws-autolog-") and row["state"] == "COMPLETE"
    assert (row["param.C"], row["param.max_iter"]) == ("0.5", "500")
    assert row["metric.training_accuracy_score"] > 0.9
    run = aiplatform.ExperimentRun(row["run_name"], "dws-exp")
    assert [item.resource_name for item in run.get_logged_custom_jobs()] == [job.resource_name]


@pytest.mark.long
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


# --- Source 003: quota first, then the notebook's run.


H100: dict[str, Any] = {"machine_type": "a3-highgpu-8g", "accelerator_type": "NVIDIA_H100_80GB", "accelerator_count": 8}
METRIC = "custom_model_training_preemptible_nvidia_h100_gpus"
QUOTA_ID = "CustomModelTrainingPreemptibleH100GPUsPerProjectPerRegion"
OUTPUT = f"gs://{STAGING}/temporal/gemma2-lora-train-20250117"
# 2025/01/17 12:55:34 created, 13:11:59 started.
WAIT = timedelta(minutes=16, seconds=25)
COMMAND = ["sh", "-c", "echo logs in $AIP_TENSORBOARD_LOG_DIR; echo with $0 $*; sleep 3"]


def fine_tune() -> Any:
    """The notebook's call: H100s by flex-start, half an hour of waiting."""
    job = aiplatform.CustomContainerTrainingJob(
        display_name="gemma2-lora-train", container_uri="python:3.10", command=COMMAND
    )
    job.run(
        args=["--pretrained_model_id=google/gemma-2-27b"],
        replica_count=1,
        **H100,
        boot_disk_size_gb=500,
        base_output_dir=OUTPUT,
        max_wait_duration=1800,
        scheduling_strategy=gca_custom_job_compat.Scheduling.Strategy.FLEX_START,
        sync=False,
    )
    return job


def ask_for_quota(cloud: LocalCloud) -> None:
    """The increase to 8 in us-central1, as code."""
    client = cloudquotas_v1.CloudQuotasClient(**cloud.to_client())
    wanted = cloudquotas_v1.QuotaPreference(
        service="aiplatform.googleapis.com",
        quota_id=QUOTA_ID,
        dimensions={"region": "us-central1"},
        quota_config=cloudquotas_v1.QuotaConfig(preferred_value=8),
        contact_email="ml-platform@acme.example",
    )
    parent = "projects/local-project/locations/global"
    made = client.create_quota_preference(parent=parent, quota_preference=wanted, quota_preference_id="h100")
    assert made.quota_config.granted_value == 8


@pytest.mark.journey
def test_the_fine_tune_waits_for_its_h100s_and_runs(sdk: LocalCloud) -> None:
    machines(sdk, "a3-highgpu-8g", (0, 0), (WAIT.total_seconds(), 1))
    refused = fine_tune()
    with pytest.raises(exceptions.TooManyRequests, match=METRIC):
        refused.wait()
    ask_for_quota(sdk)
    job = fine_tune()
    job._wait_for_resource_creation()
    pipeline = sdk.rest("GET", f"/v1/{job.resource_name}")
    assert pipeline["state"] in ("PIPELINE_STATE_PENDING", "PIPELINE_STATE_RUNNING")
    name = sdk.rest("GET", f"/v1/{job.resource_name}")["trainingTaskMetadata"]["backingCustomJob"]
    assert sdk.rest("GET", f"/v1/{name}")["state"] == "JOB_STATE_PENDING"
    later(sdk, WAIT.total_seconds())
    sdk.until(name, "JOB_STATE_RUNNING", "JOB_STATE_SUCCEEDED")
    job.wait()
    assert job.state.name == "PIPELINE_STATE_SUCCEEDED"
    found: Any = aiplatform.CustomJob.get(name)
    assert found.display_name == "gemma2-lora-train-custom-job"
    waited = found.start_time - found.create_time
    # Created to started, as the console shows it.
    assert WAIT - timedelta(seconds=60) < waited < WAIT + timedelta(seconds=60)
    said = sdk.lines(name, "")
    assert f"logs in {OUTPUT}/logs/" in said
    assert "with --pretrained_model_id=google/gemma-2-27b" in said
    assert accelerators(sdk, name) == [str(number) for number in range(8)]


def accelerators(cloud: LocalCloud, name: str) -> list[str]:
    """GPUs of which utilisation and memory can be seen."""
    used: list[list[str]] = []
    for metric in ("utilization", "memory/utilization"):
        query = (
            f'filter=metric.type="ml.googleapis.com/training/accelerator/{metric}" AND '
            f'resource.labels.job_id="{name.rpartition("/")[2]}"'
            "&interval.startTime=2020-01-01T00:00:00Z&interval.endTime=2100-01-01T00:00:00Z"
        )
        series = cloud.rest("GET", f"/v3/projects/local-project/timeSeries?{query}").get("timeSeries", [])
        used.append([item["metric"]["labels"]["accelerator_id"] for item in series])
    assert used[0] == used[1]
    return used[0]
