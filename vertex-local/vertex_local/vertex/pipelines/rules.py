"""Rules for a training pipeline (vertex-rules 5.2)."""

from collections.abc import Mapping
from typing import Any, Literal

from ...wire import ApiError, unimplemented
from ..field_errors import Mistake, display_name_mistakes, label_mistakes
from ..models import rules as model_rules

Task = Literal["custom", "tuning"]
_SCHEMAS = "gs://google-cloud-aiplatform/schema/trainingjob/definition/"
TASKS: Mapping[str, Task] = {
    f"{_SCHEMAS}custom_task_1.0.0.yaml": "custom",
    f"{_SCHEMAS}hyperparameter_tuning_task_1.0.0.yaml": "tuning",
}


def mistakes(body: Mapping[str, Any], region: str) -> list[Mistake]:
    """Return the errors in a create's canonical body, without those of the job in its inputs."""
    problems = display_name_mistakes("display_name", body.get("displayName", ""), required=True)
    problems += label_mistakes("labels", body.get("labels", {}))
    definition = body.get("trainingTaskDefinition", "")
    if not definition.startswith(_SCHEMAS):
        text = f'"{definition}" is not a training task definition; those are under {_SCHEMAS}.'
        problems.append(Mistake("training_task_definition", text))
    inputs = body.get("trainingTaskInputs")
    if not isinstance(inputs, Mapping):
        problems.append(Mistake("training_task_inputs", "The inputs of the training task are required, as an object."))
    problems += model_rules.id_mistakes("model_id", body.get("modelId", ""))
    if "modelToUpload" in body:
        problems += model_rules.upload_mistakes(body["modelToUpload"], region, "model_to_upload")
    return problems


def not_here(body: Mapping[str, Any]) -> ApiError | None:
    """Return the 501 of a pipeline that the service would take and this cloud does not, or None."""
    if body["trainingTaskDefinition"] not in TASKS:
        name = body["trainingTaskDefinition"].removeprefix(_SCHEMAS)
        return unimplemented(f"The training task {name} is not in the local cloud; custom and tuning tasks are.")
    if "inputDataConfig" in body:
        return unimplemented("input_data_config: managed datasets are not in the local cloud.")
    return None


def output_mistakes(body: Mapping[str, Any], job_spec: Mapping[str, Any]) -> list[Mistake]:
    """Return an error for a model without files: neither an artifact URI nor an output directory of the job."""
    model = body.get("modelToUpload", {})
    if not model or model.get("artifactUri") or job_spec.get("baseOutputDirectory"):
        return []
    text = "One of artifact_uri and the training task's base_output_directory is required to upload a model."
    return [Mistake("model_to_upload.artifact_uri", text)]
