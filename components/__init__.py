"""Pulumi components for training capacity on Vertex AI: clusters with autoscaling pools, quota, templates of jobs.

Each takes a name, its `Args` and Pulumi's options. They are decided about together (`components/composition.py`), by
the rules in `slipway`. A component's facts are among its inputs, because a preview shows those and hides outputs and
object contents.
"""

from .args import (
    AcceleratorArgs,
    AgentsArgs,
    AlternativeArgs,
    BudgetArgs,
    DiskArgs,
    DiskType,
    DnsPeeringArgs,
    MachineArgs,
    PoolArgs,
    PscInterfaceArgs,
    QuotaMode,
    Replacement,
    ReplicasArgs,
    ReservationArgs,
    SessionsArgs,
    TeamArgs,
    TrainerArgs,
)
from .catalog import Catalog, CatalogArgs
from .job_template import JobTemplate, JobTemplateArgs
from .namesakes import watch
from .persistent_resource import PersistentResource, PersistentResourceArgs
from .quota_check import QuotaCheck, QuotaCheckArgs
from .workspace import Workspace, WorkspaceArgs

__all__ = (
    "AcceleratorArgs",
    "AgentsArgs",
    "AlternativeArgs",
    "BudgetArgs",
    "Catalog",
    "CatalogArgs",
    "DiskArgs",
    "DiskType",
    "DnsPeeringArgs",
    "JobTemplate",
    "JobTemplateArgs",
    "MachineArgs",
    "PersistentResource",
    "PersistentResourceArgs",
    "PoolArgs",
    "PscInterfaceArgs",
    "QuotaCheck",
    "QuotaCheckArgs",
    "QuotaMode",
    "Replacement",
    "ReplicasArgs",
    "ReservationArgs",
    "SessionsArgs",
    "TeamArgs",
    "TrainerArgs",
    "Workspace",
    "WorkspaceArgs",
)

watch()  # A program imports this before it declares anything.
