"""The official clients, unmodified, against a running local cloud: the wire is right when they work."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from google.api_core import exceptions
from google.protobuf import duration_pb2, field_mask_pb2

from local.cloud.nodes import mounts
from tests.local.conftest import LocalCloud
from tests.local.official import aiplatform, aiplatform_v1, cloudquotas_v1, persistent_resource

PROJECT, REGION = "slipway-local", "us-central1"
PARENT = f"projects/{PROJECT}/locations/{REGION}"
DEPLOYER = f"deployer@{PROJECT}.iam.gserviceaccount.com"
PREBUILT = "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:latest"
PLAIN = "python:3.10"
MACHINE = {"machine_type": "n1-standard-4"}


@pytest.fixture
def sdk(cloud: LocalCloud, monkeypatch: pytest.MonkeyPatch) -> str:
    """The SDK set up as the deployer, with a staging bucket, which is given back.

    Setting it up again replaces all of it, so nothing is left to undo.
    """
    bucket = "sdk-staging"
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", f"{cloud.url}/t/{cloud.token('deployer')}")
    if f"/{bucket}" not in json.dumps(cloud.rest("GET", f"/storage/v1/b?project={PROJECT}")):
        cloud.rest("POST", f"/storage/v1/b?project={PROJECT}", {"name": bucket, "location": "us-central1"})
    aiplatform.init(
        project=PROJECT,
        location=REGION,
        staging_bucket=f"gs://{bucket}",
        credentials=cloud.credentials("deployer"),
        api_endpoint=cloud.url,
        api_transport="rest",
    )
    return bucket


def test_clients_list_locations_before_anything_else(cloud: LocalCloud) -> None:
    client = aiplatform_v1.JobServiceClient(
        credentials=cloud.credentials(), transport="rest", client_options={"api_endpoint": cloud.url}
    )
    listed = client.list_locations({"name": f"projects/{PROJECT}"})
    found = {place.location_id: place for place in listed.locations}
    assert {"us-central1", "europe-west4"} <= found.keys()
    one = client.get_location({"name": f"projects/{PROJECT}/locations/{REGION}"})
    assert (one, dict(one.labels)) == (found[REGION], {"cloud.googleapis.com/region": REGION})


@pytest.fixture(scope="module")
def cluster(cloud: LocalCloud) -> str:
    """The id of a cluster with one autoscaled pool, made once."""
    name = "clients"
    pool = {
        "machineSpec": {"machineType": "n1-standard-4"},
        "diskSpec": {"bootDiskType": "pd-ssd", "bootDiskSizeGb": 100},
        "autoscalingSpec": {"minReplicaCount": "1", "maxReplicaCount": "3"},
    }
    body = {
        "resourcePools": [pool],
        "resourceRuntimeSpec": {"serviceAccountSpec": {"enableCustomServiceAccount": True}},
    }
    cloud.rest("POST", f"/v1/{PARENT}/persistentResources?persistentResourceId={name}", body)
    return name


def worker(command: list[str], replicas: int = 1) -> dict[str, Any]:
    return {
        "machine_spec": MACHINE,
        "replica_count": replicas,
        "container_spec": {"image_uri": PLAIN, "command": command},
    }


def ended(job: aiplatform.CustomJob) -> str:
    """The job's last state; looks more often than the SDK's own five seconds."""
    until = time.monotonic() + 60
    while time.monotonic() < until and job.state.name not in (
        "JOB_STATE_SUCCEEDED",
        "JOB_STATE_FAILED",
        "JOB_STATE_CANCELLED",
    ):
        time.sleep(0.1)
    return str(job.state.name)


def logs(cloud: LocalCloud, job_id: str) -> list[str]:
    wanted = {"resourceNames": [f"projects/{PROJECT}"], "filter": f'resource.labels.job_id="{job_id}"'}
    return [entry.get("textPayload", "") for entry in cloud.rest("POST", "/v2/entries:list", wanted).get("entries", [])]


def test_sdk_creates_reads_lists_and_deletes_a_persistent_resource(sdk: str) -> None:
    made = persistent_resource.PersistentResource.create(
        persistent_resource_id="sdk-made",
        resource_pools=[{"machine_spec": MACHINE, "replica_count": 2}],
        labels={"team": "ml"},
        enable_custom_service_account=True,
    )
    assert made.state.name == "RUNNING"
    assert made.display_name == "sdk-made"
    assert made.resource_name == f"projects/100000000001/locations/{REGION}/persistentResources/sdk-made"
    again = persistent_resource.PersistentResource("sdk-made")
    pool = again.gca_resource.resource_pools[0]
    assert (pool.id, pool.replica_count, pool.disk_spec.boot_disk_type) == ("n1-standard-4", 2, "pd-ssd")
    assert "sdk-made" in [item.name for item in persistent_resource.PersistentResource.list()]
    again.reboot()
    again.delete()
    with pytest.raises(exceptions.NotFound, match="The PersistentResource does not exist"):
        persistent_resource.PersistentResource("sdk-made")


def test_sdk_runs_a_job_on_a_persistent_resource_to_its_end(cloud: LocalCloud, sdk: str, cluster: str) -> None:
    job = aiplatform.CustomJob(
        display_name="sdk-job",
        worker_pool_specs=[worker(["python", "-c", "import os; print('rank', os.environ['RANK'])"]), worker(["true"])],
        labels={"made": "by-sdk"},
    )
    job.run(service_account=DEPLOYER, persistent_resource_id=cluster, timeout=8000, disable_retries=True)
    assert job.state.name == "JOB_STATE_SUCCEEDED"
    assert "rank 0" in logs(cloud, job.name)
    found = aiplatform.CustomJob.list(filter='labels.made="by-sdk" AND display_name="sdk-job"')
    assert [item.resource_name for item in found] == [job.resource_name]
    assert aiplatform.CustomJob.get(job.resource_name).display_name == "sdk-job"
    job.delete()
    with pytest.raises(exceptions.NotFound):
        aiplatform.CustomJob.get(job.resource_name)


def test_sdk_runs_a_local_script_as_a_package(cloud: LocalCloud, sdk: str, cluster: str, tmp_path: Path) -> None:
    script = tmp_path / "task.py"
    script.write_text("import sys, sklearn\nprint('script', sys.argv[1:], sklearn.__version__)\n", encoding="utf-8")
    job = aiplatform.CustomJob.from_local_script(
        display_name="from-script",
        script_path=str(script),
        container_uri=PREBUILT,
        args=["--trees", "3"],
        machine_type="n1-standard-4",
    )
    job.submit(service_account=DEPLOYER, persistent_resource_id=cluster)
    assert ended(job) == "JOB_STATE_SUCCEEDED"
    assert any(line.startswith("script ['--trees', '3']") for line in logs(cloud, job.name))


@pytest.mark.skipif(not mounts.possible(buckets=True), reason="this machine can't mount buckets")
def test_sdk_runs_a_local_script_in_an_image_that_is_not_prebuilt(
    cloud: LocalCloud, sdk: str, cluster: str, tmp_path: Path
) -> None:  # N17
    """By a shell, which installs the script's package from /gcs, for its user."""
    script = tmp_path / "task.py"
    script.write_text("import sys\nprint('script', sys.argv[1:])\nprint(__file__, *sys.path)\n", encoding="utf-8")
    job = aiplatform.CustomJob.from_local_script(
        display_name="from-script-of-ones-own",
        script_path=str(script),
        container_uri=PLAIN,
        args=["--trees", "3"],
        machine_type="n1-standard-4",
    )
    job.submit(service_account=DEPLOYER, persistent_resource_id=cluster)
    assert ended(job) == "JOB_STATE_SUCCEEDED", logs(cloud, job.name)
    *_, said, places = logs(cloud, job.name)
    assert said == "script ['--trees', '3']"
    own, *path = places.split()
    assert own.startswith(f"{cloud.state}/jobs/{job.name}/1/workerpool0-0/work/.local/lib/")
    packages = [folder for folder in path if folder.endswith("-packages")]
    assert len(packages) == 2 and all(f"/jobs/{job.name}/" in folder for folder in packages), "none of this machine's"


def test_sdk_cancels_a_job(sdk: str, cluster: str) -> None:
    job = aiplatform.CustomJob(display_name="cancelled", worker_pool_specs=[worker(["sleep", "600"])])
    job.submit(service_account=DEPLOYER, persistent_resource_id=cluster)
    job.cancel()
    assert ended(job) == "JOB_STATE_CANCELLED"
    assert "The job was cancelled." in str(job.error)
    with pytest.raises(exceptions.BadRequest, match="cannot be cancelled"):
        job.cancel()


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_generated_clients_speak_rest(cloud: LocalCloud, version: str) -> None:
    if version == "v1":
        library: Any = aiplatform_v1
    else:
        from google.cloud import aiplatform_v1beta1 as library
    options = {"api_endpoint": cloud.url}
    arguments = {"transport": "rest", "client_options": options, "credentials": cloud.credentials("deployer")}
    clusters = library.PersistentResourceServiceClient(**arguments)
    name = f"gapic-{version}"
    spec = library.MachineSpec(
        machine_type="n1-standard-8",
        accelerator_type=library.AcceleratorType.NVIDIA_TESLA_T4,
        accelerator_count=1,
    )
    pool = library.ResourcePool(machine_spec=spec, replica_count=1)
    body = library.PersistentResource(resource_pools=[pool])
    operation = clusters.create_persistent_resource(
        parent=PARENT, persistent_resource=body, persistent_resource_id=name
    )
    made = operation.result(timeout=30)
    assert made.name.endswith(f"/persistentResources/{name}")
    assert operation.metadata.progress_message == "Your persistent resource is ready."
    read = clusters.get_persistent_resource(name=made.name)
    assert read.resource_pools[0].machine_spec.accelerator_type.name == "NVIDIA_TESLA_T4"
    assert read.resource_pools[0].id == "n1-standard-8-nvidia-tesla-t4-1"
    jobs = library.JobServiceClient(**arguments)
    task = library.ContainerSpec(image_uri=PLAIN, command=["sleep", "60"])
    workers = library.WorkerPoolSpec(machine_spec=spec, replica_count=1, container_spec=task)
    job = jobs.create_custom_job(
        parent=PARENT,
        custom_job=library.CustomJob(
            display_name=f"gapic-{version}",
            job_spec=library.CustomJobSpec(
                worker_pool_specs=[workers],
                persistent_resource_id=name,
                scheduling=library.Scheduling(timeout=duration_pb2.Duration(seconds=60)),
            ),
        ),
    )
    assert job.state.name in ("JOB_STATE_PENDING", "JOB_STATE_QUEUED")
    assert job.job_spec.worker_pool_specs[0].disk_spec.boot_disk_size_gb == 100
    listed = list(jobs.list_custom_jobs({"parent": PARENT, "filter": f'display_name="gapic-{version}"'}))
    assert [item.name for item in listed] == [job.name]
    assert clusters.get_persistent_resource(name=made.name).resource_pools[0].used_replica_count == 1
    # Deleting a cluster cancels the jobs on it (vertex-rules 1.6).
    clusters.delete_persistent_resource(name=made.name).result(timeout=30)
    assert jobs.get_custom_job(name=job.name).state.name == "JOB_STATE_CANCELLED"
    jobs.delete_custom_job(name=job.name).result(timeout=30)


def test_quota_client_reads_limits_and_asks_for_more(cloud: LocalCloud) -> None:
    client = cloudquotas_v1.CloudQuotasClient(
        transport="rest",
        client_options={"api_endpoint": cloud.url},
        credentials=cloud.credentials("deployer"),
    )
    parent = f"projects/{PROJECT}/locations/global"
    infos = {
        info.quota_id: info for info in client.list_quota_infos(parent=f"{parent}/services/aiplatform.googleapis.com")
    }
    info = infos["CustomModelTrainingT4GPUsPerProjectPerRegion"]
    assert info.metric == "aiplatform.googleapis.com/custom_model_training_nvidia_t4_gpus"
    assert limit_in(info, REGION) == 12
    assert limit_in(info, "us-west2") == 0
    name = f"{parent}/services/aiplatform.googleapis.com/quotaInfos/CustomModelTrainingL4GPUsPerProjectPerRegion"
    assert limit_in(client.get_quota_info(name=name), REGION) == 0
    before = preferences(client, parent)
    wanted = cloudquotas_v1.QuotaPreference(
        service="aiplatform.googleapis.com",
        quota_id="CustomModelTrainingL4GPUsPerProjectPerRegion",
        dimensions={"region": "europe-west4"},
        quota_config=cloudquotas_v1.QuotaConfig(preferred_value=4),
        contact_email="ml-platform@acme.example",
    )
    made = client.create_quota_preference(parent=parent, quota_preference=wanted, quota_preference_id="l4")
    assert made.quota_config.granted_value == 4
    assert not made.reconciling
    assert limit_in(client.get_quota_info(name=name), "europe-west4") == 4
    made.quota_config.preferred_value = 6
    made.contact_email = "ml-platform@acme.example"
    assert client.update_quota_preference(quota_preference=made).quota_config.granted_value == 6
    made.etag = "of-another-day"
    with pytest.raises(exceptions.Conflict, match="etag"):
        client.update_quota_preference(quota_preference=made)
    assert preferences(client, parent) == [*before, "l4"]


def test_quota_client_is_told_what_became_of_a_request(cloud: LocalCloud) -> None:
    """Pending, then granted in part or not at all, as the settings have it; nothing is lowered meanwhile."""
    client = cloudquotas_v1.CloudQuotasClient(
        transport="rest", client_options={"api_endpoint": cloud.url}, credentials=cloud.credentials("deployer")
    )
    parent = f"projects/{PROJECT}/locations/global"
    name = f"{parent}/services/aiplatform.googleapis.com/quotaInfos/CustomModelTrainingH200GPUsPerProjectPerRegion"
    where = {"region": "europe-west4"}
    wanted = cloudquotas_v1.QuotaPreference(
        service="aiplatform.googleapis.com",
        quota_id="CustomModelTrainingH200GPUsPerProjectPerRegion",
        dimensions=where,
        quota_config=cloudquotas_v1.QuotaConfig(preferred_value=16),
        contact_email="ml-platform@acme.example",
        justification="training",
    )
    before = cloud.rest("GET", "/slipway/settings")
    try:
        cloud.rest("POST", "/slipway/settings", {"quota_reconcile_seconds": 3600})
        pending = client.create_quota_preference(parent=parent, quota_preference=wanted, quota_preference_id="h200")
        assert pending.reconciling and pending.quota_config.granted_value is None and pending.quota_config.trace_id
        assert limit_in(client.get_quota_info(name=name), where["region"]) == 0
        cloud.rest("POST", "/slipway/settings", {"quota_reconcile_seconds": 0, "quota_grant_ceiling": 8})
        pending.contact_email, pending.quota_config.preferred_value = "ml-platform@acme.example", 24
        partly = client.update_quota_preference(quota_preference=pending)
        assert not partly.reconciling
        assert partly.quota_config.preferred_value == 24
        assert partly.quota_config.granted_value == 8
        assert "8 of 24" in partly.quota_config.state_detail
        assert limit_in(client.get_quota_info(name=name), where["region"]) == 8
        denied = client.update_quota_preference(
            quota_preference=cloudquotas_v1.QuotaPreference(
                name=partly.name,
                quota_config=cloudquotas_v1.QuotaConfig(preferred_value=32),
                contact_email="ml-platform@acme.example",
            ),
            update_mask=field_mask_pb2.FieldMask(paths=["quota_config.preferred_value", "contact_email"]),
        )
        assert denied.quota_config.granted_value == 8
        assert denied.quota_config.state_detail == "The request was denied."
        assert client.get_quota_preference(name=partly.name).quota_config.preferred_value == 32
    finally:
        cloud.rest(
            "POST",
            "/slipway/settings",
            {key: before[key] for key in ("quota_reconcile_seconds", "quota_grant_ceiling")},
        )


def preferences(client: cloudquotas_v1.CloudQuotasClient, parent: str) -> list[str]:
    """The ids of all there are, oldest first: other tests of the same cloud may have made some."""
    return [item.name.rpartition("/")[2] for item in client.list_quota_preferences(parent=parent)]


def limit_in(info: cloudquotas_v1.QuotaInfo, region: str) -> int:
    """As Google's sample reads it: the first entry whose locations have the region."""
    return next(item.details.value for item in info.dimensions_infos if region in item.applicable_locations)
