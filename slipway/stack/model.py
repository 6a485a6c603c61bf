"""A stack as the rest of Slipway sees it: typed, checked, with every default resolved."""

from __future__ import annotations

from dataclasses import dataclass, field

from slipway.cluster import ClusterSpec


@dataclass(frozen=True)
class QuotaSettings:
    """`mode`: enforce (what is drawn now must fit) or warn. `strict`: ceilings and ways must fit as well."""

    mode: str = "enforce"
    contact_email: str = ""
    strict: bool = False


@dataclass(frozen=True)
class WorkspaceSettings:
    """`submitters` are IAM members; bucket names; `trainer` is the account id of the trainer's service account."""

    submitters: tuple[str, ...]
    catalog_bucket: str
    work_bucket: str
    trainer: str


@dataclass(frozen=True)
class Stack:
    """One environment. `name` is the Pulumi stack's."""

    name: str
    project: str
    region: str
    workspace: WorkspaceSettings
    clusters: tuple[ClusterSpec, ...] = ()
    quota: QuotaSettings = field(default_factory=QuotaSettings)
    templates: tuple[str, ...] = ()
