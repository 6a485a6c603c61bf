"""The making of a deployment's clusters: told before, offered meanwhile, and planned anew by what came to be."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

import pulumi

from slipway.deploying.creation.parallel_creation import creator
from slipway.deploying.deployment.deletion_guard import GuardSubject
from slipway.deploying.deployment.deployment import Deployment, ProvenStack
from slipway.deploying.deployment.interim_catalog import DeploymentCatalogs, interim
from slipway.deploying.deployment.plan import Plan, as_made
from slipway.deploying.deployment.removal import GracePeriod
from slipway.deploying.deployment.summary import made_otherwise
from slipway.deploying.generations.action import DELETE, What
from slipway.google.live import InUse, Unknown
from slipway.reviewing.preview_text import preview_text

from .engine import ADVICE, EngineRun


class Making:
    """The clusters that a deployment makes, and the deployment as it comes to be by them."""

    first: Deployment
    #: The deployment of the clusters that came to be; `first` until they run.
    made: Deployment

    def __init__(
        self, run: EngineRun, proven: ProvenStack, plan: Plan, now: datetime, planned: Callable[[Plan], Deployment]
    ) -> None:
        self._run, self._proven, self._planned, self.now = run, proven, planned, now
        self.first = self.made = planned(plan)
        self.ids = [action.id for action in plan.of(What.CREATE)]
        # A cluster may become an alternative, or that of a season none: then what depends on it comes after it.
        self.open = bool(plan.seasons) or any(action.instead for action in plan.of(What.CREATE))

    def tell(self) -> None:
        run, first, log = self._run, self.first, pulumi.log
        for message in preview_text(first, run.state, self.now, preview=run.preview):
            log.info(message)
        for warning in first.warnings:
            log.warn(warning)
        if run.deployed and not run.preview and first.plan.of(What.CREATE, *DELETE):
            log.info(ADVICE)  # After a kill of the program amid clusters only the engine's words remain.

    def creator(
        self, use: Callable[[GuardSubject], InUse | Unknown], grace: GracePeriod
    ) -> Callable[[Sequence[str]], Mapping[str, str]]:
        """Return the function that makes the clusters of these ids, and returns the ids of those that run by the first
        ids. Raises ConfigError for settings that can't be read."""
        run, first, planned = self._run, self.first, self._planned
        catalogs = DeploymentCatalogs(
            before=first.live.deployed,
            interim=interim(first.plan, first.live, lambda plan: planned(plan).catalog),
            final=lambda made: planned(as_made(first.plan, made, last=True)).catalog,
            bucket=first.catalog.catalog_bucket,
            packages=tuple(package for built in first.packages.values() for package in built.values()),
            revision=first.revision,
            now=self.now,
        )
        create = creator(
            first.plan,
            os.environ,
            (run.name, run.project, run.region),
            use,
            say=pulumi.log.info,
            warn=pulumi.log.warn,
            awaited=first.report.awaited,
            catalogs=catalogs,
            grace=grace,
        )

        def make(ids: Sequence[str]) -> Mapping[str, str]:
            made = create(ids)
            if self.open:
                final = as_made(first.plan, made, last=True)
                for line in made_otherwise(first.plan, final, self._proven.templates.values(), run.region):
                    pulumi.log.warn(line)
                self.made = planned(final)
            return made

        return make
