"""Source 003, H100s for a fine-tune by Dynamic Workload Scheduler: quota first, then the notebook's run (Z1–Z7, W5)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from google.api_core import exceptions

from tests.conftest import STAGING
from tests.official import aiplatform, cloudquotas_v1
from tests.official import custom_job as gca_custom_job_compat
from tests.sources.conftest import later, machines
from vertex_local.testing.local_cloud import LocalCloud

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
    """Of which GPUs there are utilisation and memory to be seen."""
    found: list[list[str]] = []
    for metric in ("utilization", "memory/utilization"):
        query = (
            f'filter=metric.type="ml.googleapis.com/training/accelerator/{metric}" AND '
            f'resource.labels.job_id="{name.rpartition("/")[2]}"'
            "&interval.startTime=2020-01-01T00:00:00Z&interval.endTime=2100-01-01T00:00:00Z"
        )
        series = cloud.rest("GET", f"/v3/projects/local-project/timeSeries?{query}").get("timeSeries", [])
        found.append([item["metric"]["labels"]["accelerator_id"] for item in series])
    assert found[0] == found[1]
    return found[0]
