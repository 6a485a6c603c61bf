"""A stack as the rest of Slipway sees it: typed, checked, with every default resolved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from slipway.cluster import ClusterSpec, Reservation


@dataclass(frozen=True)
class QuotaSettings:
    """`mode`: enforce (what is drawn now must fit) or warn. `strict`: ceilings and offers must fit as well."""

    mode: str = "enforce"
    contact_email: str = ""
    strict: bool = False


@dataclass(frozen=True)
class WorkspaceSettings:
    """`submitters` are IAM members; bucket names; `trainer` is the account id of the trainer's service account.

    `code` allows `submit --code` on templates that allow it too.
    """

    submitters: tuple[str, ...]
    catalog_bucket: str
    work_bucket: str
    trainer: str
    code: bool = False


@dataclass(frozen=True)
class Stack:
    """One environment. `name` is the Pulumi stack's. `reservations` by the names that templates use."""

    name: str
    project: str
    region: str
    workspace: WorkspaceSettings
    clusters: tuple[ClusterSpec, ...] = ()
    quota: QuotaSettings = field(default_factory=QuotaSettings)
    templates: tuple[str, ...] = ()
    reservations: Mapping[str, Reservation] = field(default_factory=dict)
