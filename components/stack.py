"""A stack: a workspace, and all that belongs to it, as one component."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pulumi

from .catalog import Catalog, CatalogArgs
from .entries import ArgumentError, refuse_unfit
from .job_template import JobTemplate, JobTemplateArgs
from .options import STACK, lasting_name
from .persistent_resource import PersistentResource, PersistentResourceArgs
from .quota_check import QuotaCheck, QuotaCheckArgs
from .workspace import Workspace, WorkspaceArgs


@dataclass(kw_only=True)
class StackParts:
    """Arguments of `Stack`."""

    clusters: dict[str, PersistentResourceArgs] = field(default_factory=dict)
    """Clusters by name."""
    workspace: WorkspaceArgs | None = None
    """Workspace that people submit in; none by default, and then there is no catalog either."""
    templates: dict[str, JobTemplateArgs] = field(default_factory=dict)
    """Templates that people may submit, by name. They need a workspace."""
    quota: QuotaCheckArgs = field(default_factory=QuotaCheckArgs)
    """Check that quota suffices; an error where it does not by default."""
    policy: Mapping[str, Any] | None = None
    """Rules of one's own, as `policy` of `CatalogArgs` has them. They need a workspace."""


@dataclass(frozen=True)
class Composed:
    """The components that a stack is made of."""

    clusters: Sequence[PersistentResource]
    quota: QuotaCheck
    workspace: Workspace | None
    catalog: Catalog | None

    @property
    def outputs(self) -> Mapping[str, pulumi.Output[Any]]:
        """Return what other programs read of the stack."""
        if self.workspace is None or self.catalog is None:
            ids = pulumi.Output.all(**{each.name: each.cluster_id for each in self.clusters})
            retiring = pulumi.Output.all(*(each.retiring for each in self.clusters))
            return {"clusters": ids, "retiring": retiring.apply(lambda every: [id_ for each in every for id_ in each])}
        return {
            "clusters": self.catalog.clusters,
            "retiring": self.catalog.retiring,
            "catalog": self.catalog.address,
            "work": pulumi.Output.concat("gs://", self.workspace.work_bucket),
            "trainer": self.workspace.trainer,
        }


def compose(
    parts: StackParts,
    *,
    workspace: str = "workspace",
    quota: str = "quota",
    catalog: str = "catalog",
    opts: pulumi.ResourceOptions | None = None,
) -> Composed:
    """Declare the components of a stack. The texts are the names of those that have none among their arguments."""
    ground = Workspace(workspace, parts.workspace, opts) if parts.workspace else None
    clusters = [PersistentResource(name, args, opts) for name, args in parts.clusters.items()]
    templates = [JobTemplate(name, args, opts) for name, args in parts.templates.items()]
    check = QuotaCheck(quota, replace(parts.quota, clusters=clusters, templates=templates), opts)
    published = None
    if ground:
        args = CatalogArgs(workspace=ground, templates=templates, quota=check, policy=parts.policy)
        published = Catalog(catalog, args, opts)
    return Composed(clusters, check, ground, published)


class Stack(pulumi.ComponentResource):
    """Clusters with autoscaling pools that no edit takes from a running job, and the check that quota suffices. With a
    workspace also what people need to submit jobs to them: buckets, roles, templates and a catalog."""

    clusters: pulumi.Output[Mapping[str, str]]
    """Ids of the clusters, by name."""
    retiring: pulumi.Output[Sequence[str]]
    """Ids of earlier generations that still have jobs."""
    catalog: pulumi.Output[str | None]
    """Address of the catalog, which `slipway use` takes."""
    work: pulumi.Output[str | None]
    """Address of the bucket that jobs write to."""
    trainer: pulumi.Output[str | None]
    """Address of the account that jobs run as."""

    def __init__(self, name: str, parts: StackParts, opts: pulumi.ResourceOptions | None = None) -> None:
        """Declare a stack. Raises ConfigError for arguments that none can have."""
        if parts.workspace is None and (parts.templates or parts.policy):
            raise ArgumentError(
                f"Stack {name}: templates and policy need a workspace",
                why="without one there is no catalog that would name them",
                fix="`workspace: {}` among its arguments, or leave them out",
            )
        given = opts or pulumi.ResourceOptions()
        refuse_unfit("Stack", name, given)
        super().__init__(STACK, name, {}, opts)
        # The components look for it among their own options.
        below = pulumi.ResourceOptions(parent=self, depends_on=given.depends_on)
        name = lasting_name(name, given)
        self._composed = compose(parts, workspace=name, quota=name, catalog=name, opts=below)
        nothing = dict.fromkeys(("catalog", "work", "trainer"), pulumi.Output.from_input(None))
        vars(self).update(outputs := {**nothing, **self._composed.outputs})
        self.register_outputs(outputs)

    async def ended(self) -> None:
        """Wait until all is declared. Raises RunError where it is refused."""
        quota = self._composed.quota
        await quota.composition.end(quota)
