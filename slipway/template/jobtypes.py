"""The official messages of jobs."""

from __future__ import annotations

from typing import Any

from slipway import messages

_MODULES = {
    "CustomJob": "custom_job",
    "HyperparameterTuningJob": "hyperparameter_tuning_job",
    "TrainingPipeline": "training_pipeline",
}


def message(name: str) -> Any:
    """The protobuf class `google.cloud.aiplatform.v1.NAME` of a job."""
    return messages.message("google.cloud.aiplatform_v1", _MODULES[name], name)
