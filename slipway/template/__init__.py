"""Job templates: the jobs that people submit by name. Declared in templates/*.py, proven against the pools, compiled to
JSON."""

from slipway.kinds.settings import Condition, Metric, ModelUpload, Search, Stopping, Study
from slipway.machines.spec import Disk
from slipway.rules.code import SCRIPT
from slipway.template.declaration import NfsMount, Parameter, Scheduling, Variant
from slipway.template.job_template import JobTemplate
from slipway.template.worker_pool import ANY_RESERVATION, Image, Package, WorkerPool

__all__ = [
    "ANY_RESERVATION",
    "SCRIPT",
    "Condition",
    "Disk",
    "Image",
    "JobTemplate",
    "Metric",
    "ModelUpload",
    "NfsMount",
    "Package",
    "Parameter",
    "Scheduling",
    "Search",
    "Stopping",
    "Study",
    "Variant",
    "WorkerPool",
]
