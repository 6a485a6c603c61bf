"""The program of Slipway's own checkout, for `deploy`: the same lines as in its `__main__.py`, which no wheel has."""

from typing import TYPE_CHECKING

from pulumi import Output, ResourceOptions

from .catalog import Catalog, JobTemplate, check_quota
from .persistent_resource import Creation, OtherRegions, RetiringResource, current_resource
from .run import Outputs, Run
from .workspace import Workspace

if TYPE_CHECKING:
    from slipway.deploying.deployment.deployment import Deployment


def declare(run: Run) -> None:
    stack = run.read_stack()  # stacks/Pulumi.STACK.yaml, checked
    planned = run.plan(stack)  # by what lives; the person is told before anything is declared
    if planned.catalog.other_regions:
        OtherRegions(planned.catalog.other_regions)  # recorded before any cluster is asked for there
    workspace = Workspace(
        "workspace",
        project=stack.project,
        region=stack.region,
        settings=stack.workspace,
        trainers=stack.trainers,
        work_elsewhere=stack.work_elsewhere,
        writers=planned.writers,
        live=planned.live,
        plan=planned.plan.workspace,
        facts=planned.facts.workspace,
        hooks=run.guard,
    )
    # Requests come before the clusters that need them. Without any, the check tells of the clusters that came to be.
    requests = check_quota(planned).requests if planned.report.requests else []
    creation = run.creation(workspace, after=[*workspace.works, *workspace.accounts, *requests])
    # At once, unless a missing cluster may become one of its alternatives, or none: then when that is known.
    run.after_creation(lambda made: declare_clusters(run, planned, made, workspace, creation))


def declare_clusters(
    run: Run, planned: "Deployment", made: "Deployment", workspace: Workspace, creation: Creation | None
) -> Outputs:
    if not planned.report.requests:
        check_quota(made)
    facts, bucket = made.facts, workspace.catalog.name
    # Deleted in reverse: what jobs need goes after the clusters, each of which may still be found busy.
    guarded = run.guarded(ResourceOptions(depends_on=[workspace]))
    clusters = {
        cluster.spec.name: current_resource(
            cluster, stack=made.stack.name, facts=facts.clusters[cluster.id], creation=creation, **guarded
        )
        for cluster in made.plan.current
    }
    retiring = [
        RetiringResource(old.id, old.spec.pools, location=old.region, facts=facts.clusters[old.id], **guarded)
        for old in made.plan.retired
    ]
    templates = [
        JobTemplate(name, packages=packages.values(), facts=facts.templates[name], bucket=bucket)
        for name, packages in made.packages.items()
    ]
    named = [workspace, *clusters.values(), *retiring, *templates, *([creation.object] if creation else [])]
    catalog = Catalog(
        "catalog", catalog=made.catalog, facts=facts.published, bucket=bucket, after=named, hooks=run.guard
    )
    return Outputs(
        clusters={name: cluster.id for name, cluster in clusters.items()},
        retiring=[old.id for old in retiring],
        catalog=Output.concat("gs://", bucket, "/", catalog.object.name),
        work=Output.concat("gs://", workspace.work.name),
        trainer=workspace.trainer.email,
    )
