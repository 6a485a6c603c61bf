"""Resources of a deployment, in the order in which they depend on each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pulumi

from components.catalog import Catalog, JobTemplate
from components.creation import Creation, Make
from components.persistent_resource import AdoptedResource, OtherRegions, PersistentResource, RetiringResource
from components.quota_check import QuotaCheck
from components.workspace import Workspace
from slipway.cloud.foreign_words import ON_ERROR
from slipway.deployment.deployment import Deployment
from slipway.generations.action import What

_OUTPUTS = ("clusters", "retiring", "catalog", "work", "trainer")

Become = Callable[[Mapping[str, str]], Deployment]
"""The deployment once its clusters run: from their ids, by the ids that were asked for."""


def declare(
    deployment: Deployment,
    *,
    create: Make,
    become: Become,
    created_before: bool,
    hooks: pulumi.ResourceHookBinding,
    packages: Path,
    now: datetime,
    preview: bool,
) -> None:
    """`create` makes the clusters of some ids; `created_before` says that the state has the resource for that.

    `packages` is the folder to write built ones to. Raises PolicyError when quota does not suffice, or the stack breaks
    a mandatory rule of its own: before anything else, but in a preview at the end, as a review reads what is declared.

    Where a cluster may become another one than was asked for first, or none, whatever comes of it is declared after
    that.
    """
    stack, plan, facts = deployment.stack, deployment.plan, deployment.facts
    pulumi.export("onError", ON_ERROR)
    if not preview:
        deployment.refuse()
    project, region = stack.project, stack.region
    if deployment.catalog.other_regions:
        OtherRegions(deployment.catalog.other_regions)
    creations = plan.of(What.CREATE)
    became, open_ = deployment, bool(plan.seasons) or any(one.instead for one in creations)
    # What it says is of the clusters that come. What it asks for comes before them.
    quota = None if open_ and not preview and not deployment.report.requests else _quota_check(deployment)
    workspace = Workspace(
        "workspace",
        project=project,
        region=region,
        settings=stack.workspace,
        live=deployment.live,
        trainers=stack.trainers,
        writers=deployment.writers,
        plan=plan.workspace,
        facts=facts.workspace,
        hooks=hooks,
    )
    creation, creates = None, [one.id for one in creations]

    def make(ids: Sequence[str]) -> Mapping[str, str]:
        nonlocal became
        made = create(ids)
        if open_:
            became = become(made)
        return made

    # A stack that never made one in this way gets no new resource for it.
    if creates or created_before:
        creation = Creation(
            creates,
            make,
            bucket=workspace.catalog.name,
            workspace=workspace,
            after=[workspace.work, *workspace.accounts, *(quota.requests if quota else ())],
            now=now,
        )

    def rest(deployment: Deployment) -> Mapping[str, pulumi.Input[Any]]:
        if quota is None:
            _quota_check(deployment)
        return _rest(deployment, workspace, creation, hooks=hooks, packages=packages)

    if creation and not preview and open_:
        # A URN is there when the hook has been called, or when the engine has found that it need not be.

        def run(_: str) -> pulumi.Output[dict[str, Any]]:
            return pulumi.Output.all(**rest(became))

        later: pulumi.Output[dict[str, Any]] = creation.object.urn.apply(run)
        for name in _OUTPUTS:
            pulumi.export(name, later[name])
    else:
        for name, output in rest(deployment).items():
            pulumi.export(name, output)
    if preview:
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
    deployment: Deployment,
    workspace: Workspace,
    creation: Creation | None,
    *,
    hooks: pulumi.ResourceHookBinding,
    packages: Path,
) -> Mapping[str, pulumi.Input[Any]]:
    """Declare what depends on which clusters there are. Returns the stack's outputs."""
    stack, plan, facts = deployment.stack, deployment.plan, deployment.facts
    project, region = stack.project, stack.region
    # Deleted in reverse: what jobs need goes after the clusters, each of which may still be found busy.
    later = pulumi.ResourceOptions(depends_on=[workspace])
    clusters = {
        item.spec.name: PersistentResource(
            item,
            project=project,
            region=region,
            facts=facts.clusters[item.id],
            hooks=hooks,
            creation=creation,
            opts=later,
        )
        for item in plan.current
        if not item.spec.adopted
    }
    adopted = {
        item.spec.name: AdoptedResource(item.id, facts=facts.clusters[item.id], opts=later)
        for item in plan.current
        if item.spec.adopted
    }
    retiring = [
        RetiringResource(item, project=project, region=region, facts=facts.clusters[item.id], hooks=hooks, opts=later)
        for item in plan.retiring
    ]
    templates = [
        JobTemplate(
            name,
            facts=facts.templates[name],
            packages={one.save(packages): one for one in built.values()},
            bucket=workspace.catalog.name,
        )
        for name, built in deployment.packages.items()
    ]
    catalog = Catalog(
        "catalog",
        catalog=deployment.catalog,
        facts=facts.published,
        bucket=workspace.catalog.name,
        after=[
            workspace,
            *clusters.values(),
            *adopted.values(),
            *retiring,
            *templates,
            *([creation.object] if creation else []),
        ],
        hooks=hooks,
    )
    return {
        "clusters": {
            **{name: cluster.resource.name for name, cluster in clusters.items()},
            **{name: cluster.id for name, cluster in adopted.items()},
        },
        "retiring": [item.resource.name for item in retiring],
        "catalog": pulumi.Output.concat("gs://", workspace.catalog.name, "/", catalog.object.name),
        "work": pulumi.Output.concat("gs://", workspace.work.name),
        "trainer": workspace.trainer.email,
    }
