"""The official clients, unmodified, against a running local cloud: the wire is right when they work."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from google.api_core import exceptions
from google.protobuf import duration_pb2

from tests.official import aiplatform, aiplatform_v1, cloudquotas_v1, generated, persistent_resource
from vertex_local.nodes import mounts
from vertex_local.testing.local_cloud import LocalCloud

PROJECT, REGION = "local-project", "us-central1"
PARENT = f"projects/{PROJECT}/locations/{REGION}"
DEPLOYER = f"deployer@{PROJECT}.iam.gserviceaccount.com"
PREBUILT = "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:latest"
PLAIN = "python:3.10"
MACHINE = {"machine_type": "n1-standard-4"}


def test_clients_list_locations_before_anything_else(cloud: LocalCloud) -> None:
    client = aiplatform_v1.JobServiceClient(**cloud.to_client())
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


def test_sdk_creates_reads_lists_and_deletes_a_persistent_resource(vertex_sdk: LocalCloud) -> None:
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


def test_sdk_runs_a_job_on_a_persistent_resource_to_its_end(vertex_sdk: LocalCloud, cluster: str) -> None:
    job = aiplatform.CustomJob(
        display_name="sdk-job",
        worker_pool_specs=[worker(["python", "-c", "import os; print('rank', os.environ['RANK'])"]), worker(["true"])],
        labels={"made": "by-sdk"},
    )
    job.run(service_account=DEPLOYER, persistent_resource_id=cluster, timeout=8000, disable_retries=True)
    assert job.state.name == "JOB_STATE_SUCCEEDED"
    assert "rank 0" in vertex_sdk.lines(job.name, "")
    found = aiplatform.CustomJob.list(filter='labels.made="by-sdk" AND display_name="sdk-job"')
    assert [item.resource_name for item in found] == [job.resource_name]
    assert aiplatform.CustomJob.get(job.resource_name).display_name == "sdk-job"
    job.delete()
    with pytest.raises(exceptions.NotFound):
        aiplatform.CustomJob.get(job.resource_name)


def test_sdk_runs_a_local_script_as_a_package(vertex_sdk: LocalCloud, cluster: str, tmp_path: Path) -> None:
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
    vertex_sdk.until(job.resource_name, "JOB_STATE_SUCCEEDED")
    assert any(line.startswith("script ['--trees', '3']") for line in vertex_sdk.lines(job.name, ""))


@pytest.mark.skipif(not mounts.possible(buckets=True), reason="this machine can't mount buckets")
def test_sdk_runs_a_local_script_in_an_image_that_is_not_prebuilt(
    vertex_sdk: LocalCloud, cluster: str, tmp_path: Path
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
    vertex_sdk.until(job.resource_name, "JOB_STATE_SUCCEEDED")
    *_, said, places = vertex_sdk.lines(job.name, "")
    assert said == "script ['--trees', '3']"
    own, *path = places.split()
    assert own.startswith(f"{vertex_sdk.state}/jobs/{job.name}/1/workerpool0-0/work/.local/lib/")
    packages = [folder for folder in path if folder.endswith("-packages")]
    assert len(packages) == 2 and all(f"/jobs/{job.name}/" in folder for folder in packages), "none of this machine's"


def test_sdk_cancels_a_job(vertex_sdk: LocalCloud, cluster: str) -> None:
    job = aiplatform.CustomJob(display_name="cancelled", worker_pool_specs=[worker(["sleep", "600"])])
    job.submit(service_account=DEPLOYER, persistent_resource_id=cluster)
    job.cancel()
    vertex_sdk.until(job.resource_name, "JOB_STATE_CANCELLED")
    assert "The job was cancelled." in str(job.error)
    with pytest.raises(exceptions.BadRequest, match="cannot be cancelled"):
        job.cancel()


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_generated_clients_speak_rest(cloud: LocalCloud, version: str) -> None:
    library = generated(version)
    clusters = library.PersistentResourceServiceClient(**cloud.to_client())
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
    jobs = library.JobServiceClient(**cloud.to_client())
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
    client = cloudquotas_v1.CloudQuotasClient(**cloud.to_client())
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


def preferences(client: cloudquotas_v1.CloudQuotasClient, parent: str) -> list[str]:
    """The ids of all there are, oldest first: other tests of the same cloud may have made some."""
    return [item.name.rpartition("/")[2] for item in client.list_quota_preferences(parent=parent)]


def limit_in(info: cloudquotas_v1.QuotaInfo, region: str) -> int:
    """As Google's sample reads it: the first entry whose locations have the region."""
    return next(item.details.value for item in info.dimensions_infos if region in item.applicable_locations)


# --- Experiments of the unmodified SDK: runs, parameters, metrics, series, events (W8).


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


# --- `aiplatform.Tensorboard` of the unmodified SDK.


def test_the_sdk_keeps_a_tensorboard(vertex_sdk: LocalCloud) -> None:
    made = aiplatform.Tensorboard.create(display_name="sdk", labels={"team": "ml"})
    made.update(display_name="renamed", description="of the tests")
    found = aiplatform.Tensorboard(made.resource_name)
    assert (found.display_name, found.labels) == ("renamed", {"team": "ml"})
    # Without a bucket for its blobs the SDK's uploader, which is not installed here, calls it obsolete.
    for board in (found, *aiplatform.Tensorboard.list()):
        assert board.gca_resource.blob_storage_path_prefix.startswith("cloud-ai-platform-")
    assert made.resource_name in [item.resource_name for item in aiplatform.Tensorboard.list()]
    made.delete()
    with pytest.raises(exceptions.NotFound):
        aiplatform.Tensorboard(made.resource_name)


def test_the_sdk_writes_and_reads_scalars(vertex_sdk: LocalCloud) -> None:
    board = aiplatform.Tensorboard.create(display_name="scalars")
    experiment = aiplatform.TensorboardExperiment.create("exp", tensorboard_name=board.name)
    run = aiplatform.TensorboardRun.create("run-1", tensorboard_experiment_name=experiment.resource_name)
    run.create_tensorboard_time_series("loss")
    for step, value in enumerate((1.0, 0.5, 0.25), 1):
        run.write_tensorboard_scalar_data({"loss": value}, step=step)
    data = run.read_time_series_data()["loss"]
    assert [(point.step, point.scalar.value) for point in data.values] == [(1, 1.0), (2, 0.5), (3, 0.25)]
    listed = aiplatform.TensorboardRun.list("exp", tensorboard_id=board.name)
    assert [item.resource_name for item in listed] == [run.resource_name]
    run.delete()
    assert aiplatform.TensorboardRun.list("exp", tensorboard_id=board.name) == []
