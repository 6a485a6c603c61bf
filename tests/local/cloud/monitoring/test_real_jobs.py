"""A real job is measured, and Google's API client for Python reads it (Z5)."""

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from googleapiclient import discovery

from tests.local.cloud.calling import PARENT
from tests.local.conftest import LocalCloud

BURN = "import time; until = time.monotonic() + 600\nwhile time.monotonic() < until: sum(range(10000))"


def monitoring(cloud: LocalCloud) -> Any:
    options = {"api_endpoint": cloud.url}
    return discovery.build(
        "monitoring", "v3", credentials=cloud.credentials(), static_discovery=True, client_options=options
    )


@pytest.mark.journey
def test_a_busy_job_is_seen_to_be_busy(own_cloud: LocalCloud) -> None:
    own_cloud.up("--set", "monitoring_seconds=0.2", "--set", "quota.custom_model_training_nvidia_t4_gpus=4")
    task = {"imageUri": "python:3.10", "command": ["python", "-c", BURN]}
    machine = {"machineType": "n1-standard-4", "acceleratorType": "NVIDIA_TESLA_T4", "acceleratorCount": 1}
    pool = {"machineSpec": machine, "replicaCount": "1", "containerSpec": task}
    body = {"displayName": "burn", "jobSpec": {"workerPoolSpecs": [pool]}}
    name = own_cloud.rest("POST", f"/v1/{PARENT}/customJobs", body)["name"]
    wanted = (
        'metric.type="ml.googleapis.com/training/accelerator/utilization" AND resource.type="cloudml_job" '
        f'AND resource.labels.job_id="{name.rpartition("/")[2]}"'
    )
    client, until = monitoring(own_cloud), time.monotonic() + 600
    points: list[Any] = []
    while len(points) < 3 or not any(point["value"]["doubleValue"] > 0.1 for point in points):
        assert time.monotonic() < until, points
        time.sleep(0.2)
        now = datetime.now(UTC)
        found = (
            client.projects()
            .timeSeries()
            .list(
                name="projects/slipway-local",
                filter=wanted,
                interval_startTime=(now - timedelta(hours=1)).isoformat(),
                interval_endTime=now.isoformat(),
            )
            .execute()
        )
        points = [point for series in found.get("timeSeries", []) for point in series["points"]]
    own_cloud.rest("POST", f"/v1/{name}:cancel", {})
