"""The catalog, which every submitter reads: published once all that it names exists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi

from slipway.deploying.deployment.package_restoration import restore_for_catalog
from slipway.google.catalog.document import PublishedCatalog, write
from slipway.google.live import Unknown
from slipway.model.catalog import model
from slipway.model.facts import CATALOG

from .args import at_key, told
from .component import Component
from .engine import in_thread
from .gcp import storage
from .group import Group, all_declared
from .job_template import JobTemplate
from .keywords import arguments_of
from .quota_check import QuotaCheck
from .workspace import Workspace


@told
@dataclass(kw_only=True)
class CatalogArgs:
    """Arguments of `Catalog`. A change holds once it is published; jobs that were sent stay as they are."""

    workspace: Workspace
    """The workspace whose submitters read it."""
    templates: Sequence[JobTemplate] = ()
    """Templates that people may submit."""
    quota: QuotaCheck | None = None
    """The check that says which capacity types have quota."""
    policy: Mapping[str, Any] | None = at_key("slipway:policy")
    """Rules of one's own below "mandatory" or "advisory", with the keys of docs/policy.md; none by default."""


class Catalog(Component):
    """The publication of a workspace's clusters and templates, under one name that is overwritten in place.

    Deleted first of all when a stack is destroyed, as it depends on everything: the guard on it stops a destruction
    that would cancel jobs before any of it has happened.

    Attributes:
        address: Its address, which `slipway use` takes.
    """

    kind = "catalog"
    args: CatalogArgs
    address: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        args: CatalogArgs | pulumi.ResourceOptions | None = None,
        opts: pulumi.ResourceOptions | None = None,
        **arguments: Any,
    ) -> None:
        """Declare the catalog of a workspace.

        `arguments`: those of `CatalogArgs` as keywords, in place of `args`.
        """
        given, opts = arguments_of(CatalogArgs, name, args, opts, arguments)
        super().__init__(CATALOG, name, given, opts, "object", "checks", "restored")
        self.address = self.output("address")

    # Properties, as Pulumi holds annotated attributes against the facts of the same names.

    @property
    def clusters(self) -> pulumi.Output[Mapping[str, str]]:
        """Ids of clusters by name."""
        return self.output("clusters")

    @property
    def retiring(self) -> pulumi.Output[Sequence[str]]:
        """Ids of earlier generations that still have jobs."""
        return self.output("retiring")

    async def facts(self, group: Group) -> Mapping[str, Any]:
        return (await group.as_made()).facts.published

    async def declare(self, group: Group) -> Mapping[str, Any]:
        made, creation, workspace = await group.as_made(), await group.creating(), self.args.workspace
        rest = await group.rest()
        others = [component for component in group.components if component is not self]
        await all_declared(others)
        name = group.child(self, "catalog")
        published = storage.BucketObject(
            name,
            bucket=workspace.catalog_bucket,
            name=model.NAME,
            content=write(made.catalog),
            content_type="application/json",
            cache_control="no-cache",
            opts=pulumi.ResourceOptions.merge(
                pulumi.ResourceOptions(
                    parent=self,
                    depends_on=[*others, *rest, *([creation.object] if creation else [])],
                    hooks=self._hooks(group, name),
                    # An overwritten object may have others of these. They would replace it: the new object is written
                    # over the old one, whose deletion then takes the new publication.
                    ignore_changes=["cacheControl", "contentType"],
                ),
                group.hooks.kept if self._is_published(group) else None,
            ),
        )
        self.later = workspace.keep_shared(published.name)
        return {
            "object": published.name,
            "checks": made.facts.checks,
            "restored": {made.catalog.catalog_bucket: times} if (times := made.catalog.restored) else None,
            "clusters": {
                cluster.spec.name: group.of("cluster")[cluster.spec.name].cluster_id for cluster in made.plan.current
            },
            "retiring": [action.id for action in made.plan.retiring],
            "address": pulumi.Output.concat("gs://", workspace.catalog_bucket, "/", published.name),
        }

    def _hooks(self, group: Group, name: str) -> pulumi.ResourceHookBinding:
        """Return the hooks of the catalog's object: the guard, and the restoration of what its users need."""
        found = group.deployment.restoration
        if not (found.packages or found.deleted):
            return group.hooks.guard

        async def restore() -> None:
            await in_thread(lambda: restore_for_catalog(found, group.deployment.packages, group.guard))

        group.hooks.makers[name] = restore
        writing: list[Any] = [group.hooks.making]
        return pulumi.ResourceHookBinding(
            before_create=writing, before_update=writing, before_delete=group.hooks.guard.before_delete
        )

    @staticmethod
    def _is_published(group: Group) -> bool:
        """Return whether the catalog exists in the bucket that the engine knows: a replacement would delete it."""
        state, deployment = group.state, group.deployment
        if isinstance(state, Unknown) or not isinstance(deployment.live.catalog, PublishedCatalog):
            return False
        return state.catalog_bucket == deployment.stack.workspace.catalog_bucket
