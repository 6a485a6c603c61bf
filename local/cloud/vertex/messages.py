"""The message types of the Vertex AI API. Bodies are kept in the v1beta1 form, which has every field of v1."""

from local.cloud.messages import Messages

MESSAGES = Messages(
    packages={"v1": "aiplatform_v1", "v1beta1": "aiplatform_v1beta1"},
    modules={
        "CustomJob": "custom_job",
        "CustomJobSpec": "custom_job",
        "HyperparameterTuningJob": "hyperparameter_tuning_job",
        "MergeVersionAliasesRequest": "model_service",
        "Model": "model",
        "PersistentResource": "persistent_resource",
        "TrainingPipeline": "training_pipeline",
        "UploadModelRequest": "model_service",
    },
)


def type_url(version: str, message: str) -> str:
    return f"type.googleapis.com/google.cloud.aiplatform.{version}.{message}"
