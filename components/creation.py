"""The creation of missing clusters, by a hook of the engine; without a workspace the provider makes them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import pulumi

from slipway.deploying.deployment.deletion_guard import StackGuard
from slipway.deploying.deployment.plan import as_made
from slipway.deploying.deployment.summary import made_otherwise
from slipway.deploying.generations.action import What

from .engine import in_thread
from .gcp import storage

if TYPE_CHECKING:
    from slipway.deploying.creation.provider_creation import ProviderCreation
    from slipway.deploying.deployment.deployment import Deployment

    from .decision import Decision

NAME = "creation"  # the logical name, by which the state knows it
OBJECT = "clusters/asked-for.json"
Make = Callable[[Sequence[str]], Mapping[str, str]]
"""A function that makes the clusters of these ids, or alternatives of them, and returns when all run: their ids, by the
first ids."""


class Creation:
    """The hook that makes `ids` before the object that lists them is written, and after their dependencies; the
    provider then takes them over as existing clusters. Without any, the object stays unchanged.

    The provider's own create repeats refused requests in silence until its time-out, and forgets a failed cluster. The
    object is in the catalog bucket, as the engine calls the hooks of a cloud's resource in `up` alone. Those of a
    component it calls in `refresh` and `destroy --run-program` as well.
    """

    object: storage.BucketObject

    def __init__(
        self,
        name: str,
        ids: Sequence[str],
        make: Make,
        *,
        hook: pulumi.ResourceHook,
        bucket: pulumi.Input[str],
        workspace: pulumi.Resource,
        now: datetime,
        after: Sequence[pulumi.Resource] = (),
    ) -> None:
        self._ids, self._make = tuple(ids), make
        self._made: frozenset[str] = frozenset()
        content = {"clusters": sorted(self._ids), "at": now.isoformat(timespec="seconds")}
        self.object = storage.BucketObject(
            name,
            bucket=bucket,
            name=OBJECT,
            content=json.dumps(content, indent=1) + "\n",
            content_type="application/json",
            opts=pulumi.ResourceOptions(
                parent=workspace,
                depends_on=list(after),
                hooks=pulumi.ResourceHookBinding(before_create=[hook], before_update=[hook]),
                ignore_changes=[] if self._ids else ["content"],
            ),
        )

    def taken_over(self, id: str, full: str) -> pulumi.ResourceOptions:
        """Return the options by which a cluster comes after this, imported by its full name if the hook made it."""

        def transform(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
            if id not in self._made:  # in preview, and without any creation
                return None
            args.opts.import_ = full
            return pulumi.ResourceTransformResult(args.props, args.opts)

        return pulumi.ResourceOptions(depends_on=[self.object], transforms=[transform])

    async def run(self) -> None:
        """Make the clusters, when the hook is called for the object."""
        self._made = frozenset((await in_thread(lambda: self._make(self._ids))).values())


def maker(decision: Decision, guard: StackGuard, become: Callable[[Deployment], None]) -> Make:
    """Return the function that makes a deployment's clusters. `become` gets the deployment of those that came to be.

    Raises ConfigError for settings that can't be read.
    """
    from slipway.deploying.creation.parallel_creation import creator
    from slipway.deploying.deployment.interim_catalog import DeploymentCatalogs, interim

    first, planned = decision.deployment, decision.planned
    trainers = first.catalog.trainers.values()
    guard.grace.began_with(first.live.catalog, first.catalog.catalog_bucket, first.catalog.trainer, *trainers)
    catalogs = DeploymentCatalogs(
        before=first.live.deployed,
        interim=interim(first.plan, first.live, lambda plan: planned(plan).catalog),
        final=lambda made: planned(as_made(first.plan, made, last=True)).catalog,
        bucket=first.catalog.catalog_bucket,
        packages=tuple(package for built in first.packages.values() for package in built.values()),
        revision=first.revision,
        now=decision.now,
    )
    log = pulumi.log
    create = creator(
        first.plan, os.environ, guard, say=log.info, warn=log.warn, awaited=first.report.awaited, catalogs=catalogs
    )

    def make(ids: Sequence[str]) -> Mapping[str, str]:
        made = create(ids)
        if may_differ(first):
            final = as_made(first.plan, made, last=True)
            for line in made_otherwise(first.plan, final, decision.templates, first.stack.region):
                log.warn(line)
            become(planned(final))
        return made

    return make


def may_differ(deployment: Deployment) -> bool:
    """Tell whether a cluster may become an alternative, or none: then what depends on it comes after."""
    plan = deployment.plan
    return bool(plan.seasons) or any(action.instead for action in plan.of(What.CREATE))


def by_provider(guard: StackGuard) -> ProviderCreation:
    """Return the creation of clusters by the provider. Raises ConfigError for settings that can't be read."""
    from slipway.deploying.creation.creation_context import CreationContext
    from slipway.deploying.creation.parallel_creation import creation_policy
    from slipway.deploying.creation.provider_creation import ProviderCreation

    cloud = CreationContext.of(os.environ, guard, pulumi.log.info, pulumi.log.warn)
    return ProviderCreation(cloud, creation_policy(os.environ))
