"""What a composition sees of its components: each kind's part in the decision."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import pulumi

from slipway.deploying.deployment.workspace_plan import SharedGrant

Kind = Literal["workspace", "cluster", "template", "quota", "catalog"]


class Member(pulumi.ComponentResource):
    """A component of a composition."""

    kind: Kind
    name: str
    args: Any
    options: pulumi.ResourceOptions
    #: Set when its children are declared.
    children: asyncio.Future[None]

    def workspaces(self) -> Iterator[Member]:
        """Yield the workspaces that the arguments name."""
        return iter(())


class WorkspaceMember(Member):
    catalog_bucket: pulumi.Output[str]
    #: The buckets and accounts that jobs need.
    needed_by_jobs: list[pulumi.Resource]

    def keep(self, staying: Iterable[SharedGrant]) -> None:
        """Declare grants that stay, as other stacks need them."""
        raise NotImplementedError


class ClusterMember(Member):
    cluster_id: pulumi.Output[str]
    #: The resources without which the cluster is not asked for.
    waits_for: Sequence[pulumi.Resource]
    #: What the engine's protection means for its entry.
    protection: Mapping[str, str]


class TemplateMember(Member):
    #: The template's own name, by which people submit it.
    template: str
    folder: Path


class QuotaMember(Member):
    #: The requests as resources, for which clusters wait.
    requests: list[pulumi.Resource]
