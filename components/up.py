"""From a plan to declared resources: what is published while clusters are made, who makes them, and what is said."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pulumi

from components.deployment import declare
from components.engine import ADVICE, Run
from slipway.creation.parallel_creation import creator
from slipway.deployment.alternatives import as_made, told
from slipway.deployment.checkout import checkout_revision
from slipway.deployment.deployment import Deployment, Packages, ProvenStack, build_packages, plan_deployment
from slipway.deployment.grace_period import GracePeriod
from slipway.deployment.interim_catalog import Offers, interim
from slipway.deployment.plan import Plan
from slipway.generations.action import DELETE, What, Why
from slipway.labels import Revision
from slipway.live import Live, Unknown, Use
from slipway.review.preview_text import preview_text
from slipway.state import State

PACKAGES = Path(".slipway/packages")  # relative: the state keeps the path, and checkouts differ


@dataclass(frozen=True)
class Up:
    """What a run has to go by beside the plan."""

    run: Run
    proven: ProvenStack
    grace: GracePeriod
    use: Callable[[str | None], Use | Unknown]
    revision: Revision
    packages: Packages

    @classmethod
    def built(cls, run: Run, proven: ProvenStack, grace: GracePeriod, use: Callable[[str | None], Use | Unknown]) -> Up:
        """With the packages of the checkout's templates."""
        revision = checkout_revision(run.checkout, os.environ)
        return cls(run, proven, grace, use, revision, build_packages(proven, run.checkout))

    def declare(self, live: Live, plan: Plan, now: datetime, hooks: pulumi.ResourceHookBinding) -> None:
        """Tells what is going to be done, and declares it."""
        log, run = pulumi.log, self.run
        state = run.state if isinstance(run.state, State) else None

        def planned(plan: Plan) -> Deployment:
            known = run.state
            return plan_deployment(
                self.proven, self.packages, self.revision, live, plan, preview=run.preview, now=now, known=known
            )

        deployment = planned(plan)
        catalog = deployment.catalog
        self.grace.began_with(live.catalog, catalog.catalog_bucket, catalog.trainer, *catalog.trainers.values())
        for message in preview_text(deployment, run.state, now, preview=run.preview):
            log.info(message)
        for warning in deployment.warnings:
            log.warn(warning)
        if run.deployed and not run.preview and plan.of(What.CREATE, *DELETE):
            log.info(ADVICE)  # A program that is killed amid clusters leaves the engine's words alone.
        seasons = frozenset(one.id for one in plan.of(What.CREATE) if one.why is Why.SEASON)

        def become(made: Mapping[str, str]) -> Deployment:
            after = as_made(plan, made, seasons)
            for line in told(plan, after, self.proven.templates.values(), run.region):
                log.warn(line)
            return planned(after)

        offers = Offers(
            live.deployed,
            interim(plan, live, lambda plan: planned(plan).catalog),
            lambda made: planned(as_made(plan, made, seasons)).catalog,
            (state.catalog_bucket if state else "") or catalog.catalog_bucket,
            tuple(one for built in self.packages.values() for one in built.values()),
            self.revision,
            now,
        )
        declare(
            deployment,
            create=self._creator(plan, deployment.report.awaited, offers, seasons),
            become=become,
            created_before=state is not None and state.creation,
            hooks=hooks,
            packages=PACKAGES,
            now=now,
            preview=run.preview,
        )

    def _creator(
        self, plan: Plan, awaited: Mapping[str, int], offers: Offers, seasons: frozenset[str]
    ) -> Callable[[Sequence[str]], Mapping[str, str]]:
        place = (self.run.name, self.run.project, self.run.region)
        return creator(
            plan,
            os.environ,
            place,
            self.use,
            say=pulumi.log.info,
            warn=pulumi.log.warn,
            awaited=awaited,
            offers=offers,
            grace=self.grace,
            seasons=seasons,
        )
