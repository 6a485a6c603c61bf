"""The kinds of resources of TensorBoard, and the fields that a client may set."""

from ..collection import Kind

_WRITABLE = ("displayName", "description", "labels")
# Resources that jobs log to have limits of their own in the service, far above those of other resources.
_UNLIMITED = ""
_PAGE = (50, 1000)
TENSORBOARD = Kind(
    "Tensorboard",
    "/tensorboards",
    "tensorboard",
    "tensorboards",
    (*_WRITABLE, "encryptionSpec", "isDefault"),
    page=(100, 100),
)
EXPERIMENT = Kind(
    "TensorboardExperiment",
    "/tensorboards/{tensorboard}/experiments",
    "experiment",
    "tensorboardExperiments",
    (*_WRITABLE, "source"),
    _UNLIMITED,
    page=_PAGE,
)
RUN = Kind(
    "TensorboardRun",
    "/tensorboards/{tensorboard}/experiments/{experiment}/runs",
    "run",
    "tensorboardRuns",
    _WRITABLE,
    _UNLIMITED,
    page=_PAGE,
)
TIME_SERIES = Kind(
    "TensorboardTimeSeries",
    "/tensorboards/{tensorboard}/experiments/{experiment}/runs/{run}/timeSeries",
    "series",
    "tensorboardTimeSeries",
    ("displayName", "description", "valueType", "pluginName", "pluginData"),
    _UNLIMITED,
    page=_PAGE,
)
