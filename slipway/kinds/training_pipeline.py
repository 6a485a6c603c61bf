"""A training pipeline: a custom job that the service makes of its inputs, and the model that it uploads then."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from slipway.kinds.custom_job import CUSTOM_JOB
from slipway.kinds.kind import JobKind, Json
from slipway.kinds.tuning_job import TUNING_JOB

if TYPE_CHECKING:
    from slipway.kinds.model_upload import ModelUpload
    from slipway.kinds.study import Study

CUSTOM_TASK = "gs://google-cloud-aiplatform/schema/trainingjob/definition/custom_task_1.0.0.yaml"


class TrainingPipelineKind(JobKind):
    name, words = "training-pipeline", "training pipeline"
    collection, message = "trainingPipelines", "TrainingPipeline"
    module, spec = "training_pipeline", "trainingTaskInputs"
    takes = ("model",)
    ended = ("CANCELLED", "FAILED", "SUCCEEDED")

    def body(self, spec: Json, study: Study | None, model: ModelUpload | None) -> dict[str, Any]:
        output = spec["baseOutputDirectory"]["outputUriPrefix"]
        return {
            "trainingTaskDefinition": CUSTOM_TASK,
            self.spec: spec,
            **(model.fields(output) if model is not None else {}),
        }

    def parsed(self, body: Json, parse: Callable[[JobKind, Json], Any]) -> Any:
        """The inputs are any JSON to the pipeline's own type: a custom job's knows better."""
        parse(CUSTOM_JOB, {CUSTOM_JOB.spec: body[self.spec]})
        return parse(self, body)

    def living(self, body: Json) -> tuple[Json, int]:
        """Its inputs are a job's spec or a tuning job's, in either spelling of the keys."""
        inputs = _in_camel_case(self.spec_of(body))
        tunes = TUNING_JOB.spec_of(inputs)
        return (tunes, TUNING_JOB.trials(inputs)) if tunes else (inputs, 1)

    def state(self, body: Json) -> str:
        return super().state(body).replace("PIPELINE_STATE_", "JOB_STATE_")

    def backing(self, body: Json) -> str:
        """The one that the service made of it. Of a pipeline that others made it may be a tuning job."""
        metadata = body.get("trainingTaskMetadata", {})
        found = metadata if isinstance(metadata, Mapping) else {}
        return str(found.get("backingCustomJob") or found.get("backingHyperparameterTuningJob") or "")

    def filter(self, filter: str) -> str:
        return filter.replace("JOB_STATE_", "PIPELINE_STATE_")


def _in_camel_case(value: Any) -> Any:
    """JSON with its keys in camelCase and without null: the SDK sends pipelines' inputs in snake_case, others send null
    for what they leave out, and they come back like that."""
    if isinstance(value, Mapping):
        known = {key: one for key, one in value.items() if one is not None}
        return {re.sub("_([a-z0-9])", lambda at: at[1].upper(), key): _in_camel_case(one) for key, one in known.items()}
    return [_in_camel_case(one) for one in value] if isinstance(value, list) else value


PIPELINE = TrainingPipelineKind()
