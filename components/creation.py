"""The creation of missing clusters, by a hook of the engine; without a workspace the provider makes them."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import pulumi

from slipway.deploying.deployment.deletion_guard import StackGuard
from slipway.deploying.deployment.plan import as_made
from slipway.deploying.deployment.strays import CREATION
from slipway.deploying.deployment.summary import made_otherwise
from slipway.deploying.generations.action import What

from .decision import Decision
from .engine import in_thread
from .gcp import storage
from .hooks import Hooks
from .voice import Voice

if TYPE_CHECKING:
    from slipway.deploying.creation.provider_creation import ProviderCreation

NAME = CREATION  # the logical name, by which the state knows it
OBJECT = "clusters/asked-for.json"
PREVIEW = "pulumi preview: a saved plan can't create clusters, so run `pulumi up` without --plan"
"""A value of the object in a preview. The engine rejects a saved plan with it, before any cluster is created: a plan
can't have the import of a cluster that does not exist yet."""


class Creation:
    """The creation of a stack's missing clusters: a hook makes them before the object that lists them is written, and
    after their dependencies, and the provider takes them over as existing clusters. Without any, the object stays
    unchanged. Without a workspace the provider makes them.

    The provider's own create repeats refused requests in silence until its time-out, and forgets a failed cluster. The
    object is in the catalog bucket, as the engine calls the hooks of a cloud's resource in `up` alone. Those of a
    component it calls in `refresh` and `destroy --run-program` as well.
    """

    object: storage.BucketObject

    def __init__(self, decision: Decision, guard: StackGuard, voice: Voice) -> None:
        """Prepare. `voice` reports the progress. Raises ConfigError for settings that can't be read."""
        from slipway.deploying.creation.parallel_creation import creation_policy

        self._decision, self._guard, self._voice = decision, guard, voice
        # An alternative may be had where the cluster itself never is.
        open_ = {each.spec.name for each in decision.deployment.plan.current if each.alternatives}
        self._policy = replace(creation_policy(os.environ), hopeless=decision.deployment.report.never_made - open_)
        self._ids = [action.id for action in decision.deployment.plan.of(What.CREATE)]
        self._running: frozenset[str] = frozenset()
        self._by_provider: ProviderCreation | None = None
        #: The deployment as it is planned, and then of the clusters that came to be.
        self.made = decision.deployment

    @property
    def may_differ(self) -> bool:
        """Tell whether a cluster may become an alternative, or none: then its dependents come after."""
        plan = self._decision.deployment.plan
        return bool(plan.seasons) or any(action.instead for action in plan.of(What.CREATE))

    def declare(
        self,
        name: str,
        hooks: Hooks,
        bucket: pulumi.Input[str],
        workspace: pulumi.Resource,
        after: Sequence[pulumi.Resource] = (),
    ) -> None:
        """Declare the object, `after` what all clusters need."""
        content = {
            # First, as the engine prints the whole content where it rejects a saved plan.
            "by": PREVIEW if pulumi.runtime.is_dry_run() else "pulumi up",
            "clusters": sorted(self._ids),
            # Another time makes the engine call the hook again for clusters that failed.
            "at": self._decision.now.isoformat(timespec="seconds"),
        }
        self.object = storage.BucketObject(
            name,
            bucket=bucket,
            name=OBJECT,
            content=json.dumps(content, indent=1) + "\n",
            content_type="application/json",
            opts=pulumi.ResourceOptions(
                parent=workspace,
                depends_on=list(after),
                hooks=pulumi.ResourceHookBinding(before_create=[hooks.making], before_update=[hooks.making]),
                ignore_changes=[] if self._ids else ["content"],
                # Created first, the new object would be deleted with the old one, which has the same name.
                delete_before_replace=True,
            ),
        )
        hooks.makers[name] = self._run

    def taken_over(self, id: str, full: str) -> pulumi.ResourceOptions:
        """Return the options by which a cluster comes after this, imported by its full name if the hook made it."""

        def transform(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
            if id not in self._running:  # in preview, and without any creation
                return None
            args.opts.import_ = full
            return pulumi.ResourceTransformResult(args.props, args.opts)

        return pulumi.ResourceOptions(depends_on=[self.object], transforms=[transform])

    async def _run(self) -> None:
        self._running = frozenset((await in_thread(self._make)).values())

    def _make(self) -> Mapping[str, str]:
        """Make the clusters, or alternatives of them, and return when all run: their ids, by the first ids."""
        from slipway.deploying.creation.parallel_creation import make_clusters
        from slipway.deploying.deployment.interim_catalog import DeploymentCatalogs, interim

        first, planned, log = self._decision.deployment, self._decision.planned, self._voice
        catalogs = DeploymentCatalogs(
            before=first.live.deployed,
            interim=interim(first.plan, first.live, lambda plan: planned(plan).catalog),
            final=lambda made: planned(as_made(first.plan, made, last=True)).catalog,
            bucket=first.catalog.catalog_bucket,
            packages=tuple(package for built in first.packages.values() for package in built.values()),
            revision=first.revision,
            now=self._decision.now,
        )
        made = make_clusters(
            first.plan,
            os.environ,
            self._policy,
            self._guard,
            say=log.info,
            warn=log.warn,
            awaited=first.report.awaited,
            catalogs=catalogs,
        )
        if self.may_differ:
            final = as_made(first.plan, made, last=True)
            for line in made_otherwise(first.plan, final, self._decision.templates, first.stack.region):
                log.warn(line)
            self.made = planned(final)
        return made

    def may_try_again(self, id_: str, why: str) -> bool:
        """Tell whether the provider, which makes clusters without a workspace, is to try again to make this one."""
        from slipway.deploying.creation.creation_context import CreationContext
        from slipway.deploying.creation.provider_creation import ProviderCreation

        cluster = next((each for each in self.made.plan.current if each.id == id_), None)
        if self._guard.has_workspace or cluster is None:
            return False
        if self._by_provider is None:
            cloud = CreationContext.of(os.environ, self._guard, self._voice.info, self._voice.warn)
            self._by_provider = ProviderCreation(cloud, self._policy)
        return self._by_provider.may_try_again(cluster, why)
