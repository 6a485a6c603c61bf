"""The official clients, unmodified, against a running local cloud: the wire is right when they work."""

import sys
from pathlib import Path
from typing import Any

import pytest
from google.api_core import exceptions
from google.protobuf import duration_pb2

from tests.official import aiplatform, cloudquotas_v1, generated, persistent_resource
from vertex_local.nodes import mounts
from vertex_local.testing.local_cloud import LocalCloud

PROJECT, REGION = "local-project", "us-central1"
PARENT = f"projects/{PROJECT}/locations/{REGION}"
DEPLOYER = f"deployer@{PROJECT}.iam.gserviceaccount.com"
PREBUILT = "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:latest"
PLAIN = "python:3.10"
MACHINE = {"machine_type": "n1-standard-4"}


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
    listed = aiplatform.CustomJob.list(filter='labels.made="by-sdk" AND display_name="sdk-job"')
    assert [item.resource_name for item in listed] == [job.resource_name]
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
    assert made.name in [item.name for item in client.list_quota_preferences(parent=parent)]


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
    again = aiplatform.ExperimentRun("run-1", "sdk-exp")
    assert list(again.get_time_series_data_frame()["loss"]) == pytest.approx([1, 1 / 2, 1 / 3])


def test_a_run_can_be_resumed_and_a_failed_one_is_told(vertex_sdk: LocalCloud) -> None:
    aiplatform.init(experiment="sdk-resumed", experiment_tensorboard=False)
    with pytest.raises(ZeroDivisionError), aiplatform.start_run("run-1"):
        aiplatform.log_params({"batch": 8})
        raise ZeroDivisionError
    assert aiplatform.ExperimentRun("run-1", "sdk-resumed").get_state() == "FAILED"
    with aiplatform.start_run("run-1", resume=True):
        aiplatform.log_metrics({"loss": 2})
    run = aiplatform.ExperimentRun("run-1", "sdk-resumed")
    assert (run.get_state(), run.get_params(), run.get_metrics()) == ("COMPLETE", {"batch": 8}, {"loss": 2})


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
    again = aiplatform.Tensorboard(made.resource_name)
    assert (again.display_name, again.labels) == ("renamed", {"team": "ml"})
    # Without a bucket for its blobs the SDK's uploader, which is not installed here, calls it obsolete.
    for board in (again, *aiplatform.Tensorboard.list()):
        assert board.gca_resource.blob_storage_path_prefix.startswith("cloud-ai-platform-")
    assert made.resource_name in [item.resource_name for item in aiplatform.Tensorboard.list()]
    made.delete()
    with pytest.raises(exceptions.NotFound):
        aiplatform.Tensorboard(made.resource_name)


# --- The SDK's training classes and its model registry (W5, B5).


SERVING = "us-docker.pkg.dev/vertex-ai/prediction/sklearn-cpu.1-6:latest"
# Leaves a model where the service says, with nothing but the standard library.
TRAIN = """
import os, sys, urllib.parse, urllib.request
bucket, _, directory = os.environ["AIP_MODEL_DIR"].removeprefix("gs://").partition("/")
name = urllib.parse.quote(directory + "model.joblib", safe="")
url = f"{os.environ['STORAGE_EMULATOR_HOST']}/upload/storage/v1/b/{bucket}/o?uploadType=media&name={name}"
token = os.environ["GOOGLE_OAUTH_ACCESS_TOKEN"]
request = urllib.request.Request(url, b"a model", {"Authorization": f"Bearer {token}"}, method="POST")
urllib.request.urlopen(request).read()
print("trained with", *sys.argv[1:])
"""


def container(**labels: str) -> Any:
    """A training job of the SDK's, whose type says of most of its answers that they may be none."""
    return aiplatform.CustomContainerTrainingJob(
        display_name="sdk-container",
        container_uri=PLAIN,
        command=[sys.executable, "-c", TRAIN],
        model_serving_container_image_uri=SERVING,
        labels=labels,
    )


@pytest.mark.journey
def test_a_container_trains_on_a_persistent_resource_and_leaves_versions_of_a_model(
    vertex_sdk: LocalCloud, cluster: str
) -> None:
    where: dict[str, Any] = {**MACHINE, "service_account": DEPLOYER, "persistent_resource_id": cluster}
    job = container(made="by-training")
    model = job.run(
        args=["--trees=3"], model_display_name="forest", model_labels={"kind": "forest"}, timeout=600, **where
    )
    assert job.state.name == "PIPELINE_STATE_SUCCEEDED"
    assert (model.version_id, model.version_aliases, model.labels) == ("1", ["default"], {"kind": "forest"})
    assert model.uri.endswith("/model")
    assert model.container_spec.image_uri == SERVING
    assert model.gca_resource.training_pipeline == job.resource_name
    assert isinstance(model.training_job, aiplatform.CustomTrainingJob), "as the SDK reads it from the definition's URI"
    backing = vertex_sdk.rest("GET", f"/v1/{job.resource_name}")["trainingTaskMetadata"]["backingCustomJob"]
    assert aiplatform.CustomJob.get(backing).display_name == "sdk-container-custom-job"
    second = container().run(
        parent_model=model.resource_name, is_default_version=False, model_version_aliases=["challenger"], **where
    )
    assert (second.resource_name, second.version_id) == (model.resource_name, "2")
    assert [item.resource_name for item in aiplatform.Model.list(filter='labels.kind="forest"')] == [
        model.resource_name
    ]
    registry = second.versioning_registry
    assert sorted(item.version_id for item in registry.list_versions()) == ["1", "2"]
    registry.add_version_aliases(["champion"], version="challenger")
    assert aiplatform.Model(model.resource_name, version="champion").version_id == "2"
    registry.remove_version_aliases(["champion"], version="2")
    registry.delete_version("2")
    assert [item.version_id for item in registry.list_versions()] == ["1"]
    assert model.update(description="of the woods").description == "of the woods"
    model.delete()
    with pytest.raises(exceptions.NotFound, match="does not exist"):
        aiplatform.Model(model.resource_name)
    again: Any = aiplatform.CustomContainerTrainingJob.get(job.resource_name)
    assert again.state.name == "PIPELINE_STATE_SUCCEEDED"
    assert job.resource_name in [
        item.resource_name for item in aiplatform.CustomContainerTrainingJob.list(filter='labels.made="by-training"')
    ]
    again.delete()
