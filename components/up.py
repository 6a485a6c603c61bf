"""From a plan to declared resources: what is published while clusters are made, who makes them, and what is said."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path

import pulumi

from components.deployment import declare
from components.engine import ADVICE, Run
from slipway.creation.parallel_creation import creator
from slipway.deployment.alternatives import as_made, told
from slipway.deployment.checkout import checkout_revision
from slipway.deployment.deployment import Deployment, ProvenStack, build_packages, plan_deployment
from slipway.deployment.interim_catalog import Offers, interim
from slipway.deployment.plan import Plan
from slipway.deployment.removal import GracePeriod
from slipway.generations.action import DELETE, What
from slipway.live import Live, Unknown, Use
from slipway.review.preview_text import preview_text
from slipway.state import State

PACKAGES = Path(".slipway/packages")  # relative: the state keeps the path, and checkouts differ


def up(
    run: Run,
    proven: ProvenStack,
    grace: GracePeriod,
    use: Callable[[str | None], Use | Unknown],
    hooks: pulumi.ResourceHookBinding,
    decided: Callable[[], tuple[Live, Plan, datetime]],
) -> None:
    """Tell what is going to be done, and declare it. `decided` gives what lives, the plan and the time, once they are
    there: the packages of the checkout's templates are built meanwhile."""
    log, revision = pulumi.log, checkout_revision(run.checkout, os.environ)
    packages = build_packages(proven, run.checkout)
    live, plan, now = decided()
    state = run.state if isinstance(run.state, State) else State()

    def planned(plan: Plan) -> Deployment:
        return plan_deployment(proven, packages, revision, live, plan, preview=run.preview, now=now, known=run.state)

    def final(made: Mapping[str, str]) -> Plan:
        return as_made(plan, made, last=True)

    def become(made: Mapping[str, str]) -> Deployment:
        for line in told(plan, final(made), proven.templates.values(), run.region):
            log.warn(line)
        return planned(final(made))

    deployment = planned(plan)
    catalog = deployment.catalog
    grace.began_with(live.catalog, catalog.catalog_bucket, catalog.trainer, *catalog.trainers.values())
    for message in preview_text(deployment, run.state, now, preview=run.preview):
        log.info(message)
    for warning in deployment.warnings:
        log.warn(warning)
    if run.deployed and not run.preview and plan.of(What.CREATE, *DELETE):
        log.info(ADVICE)  # A program that is killed amid clusters leaves the engine's words alone.
    offers = Offers(
        live.deployed,
        interim(plan, live, lambda plan: planned(plan).catalog),
        lambda made: planned(final(made)).catalog,
        state.catalog_bucket or catalog.catalog_bucket,
        tuple(one for built in packages.values() for one in built.values()),
        revision,
        now,
    )
    create = creator(
        plan,
        os.environ,
        (run.name, run.project, run.region),
        use,
        say=log.info,
        warn=log.warn,
        awaited=deployment.report.awaited,
        offers=offers,
        grace=grace,
    )
    declare(
        deployment,
        create=create,
        become=become,
        created_before=state.creation,
        hooks=hooks,
        packages=PACKAGES,
        now=now,
        preview=run.preview,
    )
