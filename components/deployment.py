"""All resources of a deployment, in the order in which they depend on each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

import pulumi

from components.catalog import Catalog
from components.creation import Creation
from components.job_template import JobTemplate
from components.persistent_resource import PersistentResource, RetiringResource
from components.quota_check import QuotaCheck
from components.workspace import Workspace
from slipway.deployment.deployment import Deployment


def declare(
    deployment: Deployment,
    *,
    create: Callable[[Sequence[str]], None],
    created_before: bool,
    hooks: pulumi.ResourceHookBinding,
    packages: Path,
    now: datetime,
    preview: bool,
) -> None:
    """`create` makes the clusters of some ids; `created_before` says that the state has the resource for that.

    `packages` is the folder to write built ones to. Raises PolicyError when quota does not suffice, or the stack breaks
    a mandatory rule of its own: before anything else, but in a preview at the end, as a review reads what is declared.
    """
    stack, plan, facts = deployment.stack, deployment.plan, deployment.facts
    if not preview:
        deployment.refuse()
    project, region = stack.project, stack.region
    quota = QuotaCheck(
        "quota",
        facts=facts.quota_check,
        requests=deployment.report.requests,
        project=project,
        contact=stack.quota.contact_email,
        justification=stack.quota.justification,
    )
    workspace = Workspace(
        "workspace",
        project=project,
        region=region,
        settings=stack.workspace,
        live=deployment.live,
        trainer_roles=deployment.trainer_roles,
        trainers=deployment.trainers,
        plan=plan.workspace,
        facts=facts.workspace,
        hooks=hooks,
    )
    creation, creates = None, [item.id for item in plan.current if not item.import_]
    # A stack that never made one in this way gets no new resource for it.
    if creates or created_before:
        creation = Creation(
            creates, create, bucket=workspace.catalog.name, workspace=workspace, after=quota.requests, now=now
        )
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
    }
    retiring = [
        RetiringResource(
            item, project=project, region=region, facts=facts.clusters[item.cluster.id], hooks=hooks, opts=later
        )
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
        after=[workspace, *clusters.values(), *retiring, *templates, *([creation.object] if creation else [])],
        hooks=hooks,
    )
    pulumi.export("clusters", {name: cluster.resource.name for name, cluster in clusters.items()})
    pulumi.export("retiring", [item.resource.name for item in retiring])
    pulumi.export("catalog", pulumi.Output.concat("gs://", workspace.catalog.name, "/", catalog.object.name))
    pulumi.export("work", pulumi.Output.concat("gs://", workspace.work.name))
    pulumi.export("trainer", workspace.trainer.email)
    if preview:
        deployment.refuse()
