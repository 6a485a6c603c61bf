"""The message types of TensorBoard, and what of each a client may set."""

from local.cloud.collection import Kind
from local.cloud.messages import Messages

MESSAGES = Messages(
    packages={"v1": "aiplatform_v1", "v1beta1": "aiplatform_v1beta1"},
    modules={
        "Tensorboard": "tensorboard",
        "TensorboardExperiment": "tensorboard_experiment",
        "TensorboardRun": "tensorboard_run",
        "TensorboardTimeSeries": "tensorboard_time_series",
        "TimeSeriesData": "tensorboard_data",
        "BatchCreateTensorboardRunsRequest": "tensorboard_service",
        "BatchCreateTensorboardTimeSeriesRequest": "tensorboard_service",
        "WriteTensorboardExperimentDataRequest": "tensorboard_service",
        "WriteTensorboardRunDataRequest": "tensorboard_service",
    },
)

_WRITABLE = ("displayName", "description", "labels")
# What jobs log to has limits of its own in the service, far above those of other resources.
_UNLIMITED = ""
TENSORBOARD = Kind(
    "Tensorboard", "/tensorboards", "tensorboard", "tensorboards", (*_WRITABLE, "encryptionSpec", "isDefault")
)
EXPERIMENT = Kind(
    "TensorboardExperiment",
    "/tensorboards/{tensorboard}/experiments",
    "experiment",
    "tensorboardExperiments",
    (*_WRITABLE, "source"),
    _UNLIMITED,
)
RUN = Kind(
    "TensorboardRun",
    "/tensorboards/{tensorboard}/experiments/{experiment}/runs",
    "run",
    "tensorboardRuns",
    _WRITABLE,
    _UNLIMITED,
)
TIME_SERIES = Kind(
    "TensorboardTimeSeries",
    "/tensorboards/{tensorboard}/experiments/{experiment}/runs/{run}/timeSeries",
    "series",
    "tensorboardTimeSeries",
    ("displayName", "description", "valueType", "pluginName", "pluginData"),
    _UNLIMITED,
)
