"""A deployment, from its plan to declared resources: reported first, then declared in the order of dependencies."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pulumi

from slipway.deploying.creation.parallel_creation import creator
from slipway.deploying.deployment.checkout import checkout_revision
from slipway.deploying.deployment.deployment import Deployment, ProvenStack, build_packages, plan_deployment
from slipway.deploying.deployment.interim_catalog import Offers, interim
from slipway.deploying.deployment.plan import Plan, as_made
from slipway.deploying.deployment.removal import GracePeriod
from slipway.deploying.deployment.summary import made_otherwise
from slipway.deploying.generations.action import DELETE, What
from slipway.google.foreign_words import ON_ERROR
from slipway.google.live import Live
from slipway.model.state import State
from slipway.reviewing.preview_text import preview_text

from .catalog import Catalog, JobTemplate, QuotaCheck
from .engine import ADVICE, Run
from .guard import UseOf
from .persistent_resource import (
    AdoptedResource,
    Creation,
    OtherRegions,
    PersistentResource,
    RetiringResource,
)
from .workspace import Workspace

_PACKAGES = Path(".slipway/packages")  # relative: the state keeps the path, and checkouts differ
_OUTPUTS = ("clusters", "retiring", "catalog", "work", "trainer")


def up(
    run: Run,
    proven: ProvenStack,
    grace: GracePeriod,
    use: UseOf,
    hooks: pulumi.ResourceHookBinding,
    decided: Callable[[], tuple[Live, Plan, datetime]],
) -> None:
    """Report the coming steps, and declare them. `decided` returns the live resources, the plan and the time, once they
    are there: the packages of the checkout's templates are built meanwhile.

    Raises PolicyError when quota does not suffice, or the stack breaks a mandatory rule of its own: before anything is
    declared, but in a preview at the end, as a review reads the declaration.
    """
    log, revision = pulumi.log, checkout_revision(run.checkout, os.environ)
    packages = build_packages(proven, run.checkout)
    live, plan, now = decided()
    state = run.state if isinstance(run.state, State) else State()

    def planned(plan: Plan) -> Deployment:
        return plan_deployment(proven, packages, revision, live, plan, preview=run.preview, now=now, known=run.state)

    def final(made: Mapping[str, str]) -> Plan:
        return as_made(plan, made, last=True)

    deployment = became = planned(plan)
    catalog, creations = deployment.catalog, plan.of(What.CREATE)
    grace.began_with(live.catalog, catalog.catalog_bucket, catalog.trainer, *catalog.trainers.values())
    for message in preview_text(deployment, run.state, now, preview=run.preview):
        log.info(message)
    for warning in deployment.warnings:
        log.warn(warning)
    if run.deployed and not run.preview and plan.of(What.CREATE, *DELETE):
        log.info(ADVICE)  # After a kill of the program amid clusters only the engine's words remain.
    offers = Offers(
        live.deployed,
        interim(plan, live, lambda plan: planned(plan).catalog),
        lambda made: planned(final(made)).catalog,
        catalog.catalog_bucket,
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
    pulumi.export("onError", ON_ERROR)
    if not run.preview:
        deployment.refuse()
    if catalog.other_regions:
        OtherRegions(catalog.other_regions)
    # A cluster may become an alternative, or none: resources that depend on the outcome are declared after it.
    is_open = bool(plan.seasons) or any(one.instead for one in creations)
    later = is_open and not run.preview
    # The quota check reports on the clusters to be created; its requests are declared before them.
    quota = None if later and not deployment.report.requests else _quota_check(deployment)
    workspace = Workspace(
        "workspace",
        project=run.project,
        region=run.region,
        settings=proven.stack.workspace,
        live=live,
        work_elsewhere=proven.stack.work_elsewhere,
        trainers=proven.stack.trainers,
        writers=deployment.writers,
        plan=plan.workspace,
        facts=deployment.facts.workspace,
        hooks=hooks,
    )

    def make(ids: Sequence[str]) -> Mapping[str, str]:
        nonlocal became
        made = create(ids)
        if is_open:
            for line in made_otherwise(plan, final(made), proven.templates.values(), run.region):
                log.warn(line)
            became = planned(final(made))
        return made

    # A stack that never made a cluster in this way gets no new resource for it.
    creation = None
    if creations or state.creation:
        creation = Creation(
            [one.id for one in creations],
            make,
            bucket=workspace.catalog.name,
            workspace=workspace,
            after=[*workspace.works, *workspace.accounts, *(quota.requests if quota else ())],
            now=now,
        )

    def rest() -> Mapping[str, pulumi.Input[Any]]:
        if quota is None:
            _quota_check(became)
        return _rest(became, workspace, creation, hooks)

    # The URN exists when the hook has been called, or when the engine has found that it need not be.
    after = creation.object.urn if creation and later else None
    outputs: Any = after.apply(lambda _: pulumi.Output.all(**rest())) if after else rest()
    for name in _OUTPUTS:
        pulumi.export(name, outputs[name])
    if run.preview:
        deployment.refuse()


def _quota_check(deployment: Deployment) -> QuotaCheck:
    stack = deployment.stack
    return QuotaCheck(
        "quota",
        facts=deployment.facts.quota_check,
        requests=deployment.report.requests,
        project=stack.project,
        contact=stack.quota.contact_email,
        justification=stack.quota.justification,
    )


def _rest(
    deployment: Deployment, workspace: Workspace, creation: Creation | None, hooks: pulumi.ResourceHookBinding
) -> Mapping[str, pulumi.Input[Any]]:
    """Declare the resources that depend on the existing clusters. Returns the stack's outputs."""
    plan, facts = deployment.plan, deployment.facts
    place = {"project": deployment.stack.project, "region": deployment.stack.region}
    # Deleted in reverse: the resources that jobs need go after the clusters, each of which may still be found busy.
    later = pulumi.ResourceOptions(depends_on=[workspace])
    names: dict[str, pulumi.Input[str]] = {}
    there: list[pulumi.Resource] = []
    for item in plan.current:
        told = facts.clusters[item.id]
        if item.spec.adopted:
            there.append(AdoptedResource(item.id, facts=told, opts=later))
            names[item.spec.name] = item.id
        else:
            made = PersistentResource(item, **place, facts=told, hooks=hooks, creation=creation, opts=later)
            there.append(made)
            names[item.spec.name] = made.resource.name
    retiring = [
        RetiringResource(item, **place, facts=facts.clusters[item.id], hooks=hooks, opts=later)
        for item in plan.retiring
    ]
    templates = [
        JobTemplate(
            name,
            facts=facts.templates[name],
            packages={one.save(_PACKAGES): one for one in built.values()},
            bucket=workspace.catalog.name,
        )
        for name, built in deployment.packages.items()
    ]
    catalog = Catalog(
        "catalog",
        catalog=deployment.catalog,
        facts=facts.published,
        bucket=workspace.catalog.name,
        after=[workspace, *there, *retiring, *templates, *([creation.object] if creation else [])],
        hooks=hooks,
    )
    return {
        "clusters": names,
        "retiring": [item.resource.name for item in retiring],
        "catalog": pulumi.Output.concat("gs://", workspace.catalog.name, "/", catalog.object.name),
        "work": pulumi.Output.concat("gs://", workspace.work.name),
        "trainer": workspace.trainer.email,
    }
