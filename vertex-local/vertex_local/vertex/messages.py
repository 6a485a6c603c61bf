"""The message types of the Vertex AI API. Bodies are kept in the v1beta1 form, which has every field of v1."""

from ..messages import Messages

MESSAGES = Messages(
    packages={"v1": "aiplatform_v1", "v1beta1": "aiplatform_v1beta1"},
    modules={
        "AddContextArtifactsAndExecutionsRequest": "metadata_service",
        "AddContextChildrenRequest": "metadata_service",
        "AddExecutionEventsRequest": "metadata_service",
        "Artifact": "artifact",
        "BatchCancelPipelineJobsRequest": "pipeline_service",
        "BatchDeletePipelineJobsRequest": "pipeline_service",
        "BatchCreateTensorboardRunsRequest": "tensorboard_service",
        "BatchCreateTensorboardTimeSeriesRequest": "tensorboard_service",
        "Context": "context",
        "CustomJob": "custom_job",
        "CustomJobSpec": "custom_job",
        "Execution": "execution",
        "HyperparameterTuningJob": "hyperparameter_tuning_job",
        "LineageSubgraph": "lineage_subgraph",
        "MergeVersionAliasesRequest": "model_service",
        "MetadataStore": "metadata_store",
        "Model": "model",
        "PersistentResource": "persistent_resource",
        "PipelineJob": "pipeline_job",
        "Tensorboard": "tensorboard",
        "TensorboardExperiment": "tensorboard_experiment",
        "TensorboardRun": "tensorboard_run",
        "TensorboardTimeSeries": "tensorboard_time_series",
        "TimeSeriesData": "tensorboard_data",
        "TrainingPipeline": "training_pipeline",
        "UploadModelRequest": "model_service",
        "WriteTensorboardExperimentDataRequest": "tensorboard_service",
        "WriteTensorboardRunDataRequest": "tensorboard_service",
    },
    told=("RaySpec", "ServiceAccountSpec"),
)


def type_url(version: str, message: str) -> str:
    return f"type.googleapis.com/google.cloud.aiplatform.{version}.{message}"
