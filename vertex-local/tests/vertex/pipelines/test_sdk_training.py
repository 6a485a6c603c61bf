"""The SDK's training classes and its model registry, unmodified, against a running local cloud (W5, B5)."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from google.api_core import exceptions

from tests.official import aiplatform, generated
from vertex_local.testing.calling import NUMBERED, PARENT
from vertex_local.testing.local_cloud import LocalCloud

DEPLOYER = "deployer@local-project.iam.gserviceaccount.com"
PLACE: dict[str, Any] = {"machine_type": "n1-standard-4", "replica_count": 1}
SERVING = "us-docker.pkg.dev/vertex-ai/prediction/sklearn-cpu.1-6:latest"
TRAINING = "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:latest"
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


def container(**changes: Any) -> Any:
    """A training job of the SDK's, whose type says of most of its answers that they may be none."""
    return aiplatform.CustomContainerTrainingJob(
        **{
            "display_name": "sdk-container",
            "container_uri": "python:3.10",
            "command": [sys.executable, "-c", TRAIN],
            "model_serving_container_image_uri": SERVING,
        }
        | changes
    )


@pytest.mark.journey
def test_a_container_trains_on_a_persistent_resource_and_leaves_versions_of_a_model(vertex_sdk: LocalCloud) -> None:
    pool = {"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": "1"}
    account = {"serviceAccountSpec": {"enableCustomServiceAccount": True}}
    body = {"resourcePools": [pool], "resourceRuntimeSpec": account}
    vertex_sdk.rest("POST", f"/v1/{PARENT}/persistentResources?persistentResourceId=training", body)
    where: dict[str, Any] = {**PLACE, "service_account": DEPLOYER, "persistent_resource_id": "training"}
    job = container(labels={"made": "by-sdk"})
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
        item.resource_name for item in aiplatform.CustomContainerTrainingJob.list(filter='labels.made="by-sdk"')
    ]
    again.delete()


@pytest.mark.journey
def test_a_local_script_and_a_package_train_without_a_model(vertex_sdk: LocalCloud, tmp_path: Path) -> None:
    pool = {"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": "1"}
    clusters = f"/v1/{PARENT}/persistentResources?persistentResourceId=scripts"
    vertex_sdk.rest("POST", clusters, {"resourcePools": [pool]})
    where = {**PLACE, "persistent_resource_id": "scripts"}
    script = tmp_path / "task.py"
    script.write_text("import sys, sklearn\nprint('script', *sys.argv[1:])\n", encoding="utf-8")
    job: Any = aiplatform.CustomTrainingJob(display_name="sdk-script", script_path=str(script), container_uri=TRAINING)
    assert job.run(args=["--trees=3"], **where) is None
    job_id = vertex_sdk.rest("GET", f"/v1/{job.resource_name}")["trainingTaskMetadata"]["backingCustomJob"]
    assert "script --trees=3" in vertex_sdk.lines(job_id, "")
    packages = vertex_sdk.rest("GET", f"/v1/{job_id}")["jobSpec"]["workerPoolSpecs"][0]["pythonPackageSpec"]
    again: Any = aiplatform.CustomPythonPackageTrainingJob(
        display_name="sdk-package",
        python_package_gcs_uri=packages["packageUris"][0],
        python_module_name=packages["pythonModule"],
        container_uri=TRAINING,
    )
    assert again.run(**where) is None
    assert again.state.name == "PIPELINE_STATE_SUCCEEDED"


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_generated_clients_speak_rest(cloud: LocalCloud, version: str) -> None:
    library, arguments = generated(version), cloud.to_client()
    pipelines, models = library.PipelineServiceClient(**arguments), library.ModelServiceClient(**arguments)
    worker = {
        "machineSpec": {"machineType": "n1-standard-4"},
        "replicaCount": "1",
        "containerSpec": {"imageUri": "python:3.10", "command": ["sleep", "600"]},
    }
    body = {
        "displayName": f"gapic-{version}",
        "trainingTaskDefinition": "gs://google-cloud-aiplatform/schema/trainingjob/definition/custom_task_1.0.0.yaml",
        "trainingTaskInputs": {"workerPoolSpecs": [worker]},
    }
    declared = library.TrainingPipeline.from_json(json.dumps(body))
    made = pipelines.create_training_pipeline(parent=PARENT, training_pipeline=declared)
    assert made.state.name == "PIPELINE_STATE_PENDING"
    listed = pipelines.list_training_pipelines({"parent": PARENT, "filter": f'display_name="gapic-{version}"'})
    assert [item.name for item in listed] == [made.name]
    with pytest.raises(exceptions.BadRequest, match="only one that has ended"):
        pipelines.delete_training_pipeline(name=made.name)
    pipelines.cancel_training_pipeline(name=made.name)
    state = pipelines.get_training_pipeline(name=made.name).state.name
    assert state in ("PIPELINE_STATE_CANCELLING", "PIPELINE_STATE_CANCELLED"), "it may have ended meanwhile"
    spec = library.ModelContainerSpec(image_uri=SERVING, ports=[library.Port(container_port=8080)])
    model_id = f"gapic-{version}"
    for parent in ("", f"{PARENT}/models/{model_id}"):
        request = library.UploadModelRequest(
            parent=PARENT,
            parent_model=parent,
            model_id="" if parent else model_id,
            model=library.Model(display_name="m", container_spec=spec),
        )
        uploaded = models.upload_model(request).result(timeout=30)
    assert (uploaded.model, uploaded.model_version_id) == (f"{NUMBERED}/models/{model_id}", "2")
    merged = models.merge_version_aliases(name=f"{uploaded.model}@2", version_aliases=["default", "golden"])
    assert list(merged.version_aliases) == ["default", "golden"]
    assert models.get_model(name=f"{uploaded.model}@golden").container_spec.ports[0].container_port == 8080
    versions = {item.version_id for item in models.list_model_versions(name=uploaded.model)}
    assert versions == {"1", "2"}
    models.delete_model_version(name=f"{uploaded.model}@1").result(timeout=30)
    update = library.Model(name=uploaded.model, display_name="renamed")
    assert models.update_model(model=update, update_mask={"paths": ["display_name"]}).display_name == "renamed"
    found = models.list_models({"parent": PARENT, "filter": f'model="{model_id}"'})
    assert [item.display_name for item in found] == ["renamed"]
    models.delete_model(name=uploaded.model).result(timeout=30)


def test_serving_is_not_here_and_says_so(vertex_sdk: LocalCloud) -> None:
    """Models are kept and given back; endpoints are another product's work."""
    model = aiplatform.Model.upload(display_name="served", serving_container_image_uri=SERVING)
    with pytest.raises(exceptions.MethodNotImplemented, match=r"endpoints\.create is a method of Google's API"):
        model.deploy(machine_type="n1-standard-4")
