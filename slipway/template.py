"""The names for authors of job templates: `from slipway.template import JobTemplate, Package, …`."""

from slipway.authoring.template.declaration import Idle, NfsMount, Parameter, Scheduling, Shape, Variant
from slipway.authoring.template.job_template import JobTemplate
from slipway.authoring.template.worker_pool import ANY_RESERVATION, Image, Package, WorkerPool
from slipway.model.kinds.settings import Condition, Metric, ModelUpload, Search, Stopping, Study
from slipway.model.machines.spec import Disk
from slipway.model.rules.code import SCRIPT

__all__ = [
    "ANY_RESERVATION",
    "SCRIPT",
    "Condition",
    "Disk",
    "Idle",
    "Image",
    "JobTemplate",
    "Metric",
    "ModelUpload",
    "NfsMount",
    "Package",
    "Parameter",
    "Scheduling",
    "Search",
    "Shape",
    "Stopping",
    "Study",
    "Variant",
    "WorkerPool",
]
