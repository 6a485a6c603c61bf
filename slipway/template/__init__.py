"""Job templates: what people submit by name. Declared in templates/*.py, proven against the pools, compiled to JSON."""

from slipway.cluster import Disk
from slipway.template.model import JobTemplate, Package, Parameter, WorkerPool

__all__ = ["Disk", "JobTemplate", "Package", "Parameter", "WorkerPool"]
