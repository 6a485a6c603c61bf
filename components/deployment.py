"""The program of Slipway's own checkout, for `deploy`: the same lines as in its `__main__.py`, which no wheel has."""

from typing import TYPE_CHECKING, Any

from pulumi import Output, ResourceOptions

from .catalog import Catalog, JobTemplate, QuotaCheck
from .persistent_resource import AdoptedResource, OtherRegions, PersistentResource, RetiringResource
from .run import Outputs, Run
from .workspace import Workspace

if TYPE_CHECKING:
    from slipway.deploying.deployment.deployment import Deployment


def declare(run: Run) -> None:
    stack = run.read_stack()  # stacks/Pulumi.STACK.yaml, checked
    planned = run.plan(stack)  # by what lives; the person is told before anything is declared
    place = {"project": stack.project, "region": stack.region}
    if planned.catalog.other_regions:
        OtherRegions(planned.catalog.other_regions)  # recorded before any cluster is asked for there
    workspace = Workspace(
        "workspace",
        **place,
        settings=stack.workspace,
        trainers=stack.trainers,
        work_elsewhere=stack.work_elsewhere,
        writers=planned.writers,
        live=planned.live,
        plan=planned.plan.workspace,
        facts=planned.facts.workspace,
        hooks=run.guard,
    )

    def check_quota(of: "Deployment") -> QuotaCheck:
        why = {"contact": stack.quota.contact_email, "justification": stack.quota.justification}
        requests, project = of.report.requests, stack.project
        return QuotaCheck("quota", project=project, requests=requests, facts=of.facts.quota_check, **why)

    # Requests come before the clusters that need them. Without any, the check tells of the clusters that came to be.
    requests = check_quota(planned).requests if planned.report.requests else []
    # Missing clusters are made once these exist. None in a stack that never made one in this way.
    creation = run.creation(workspace, after=[*workspace.works, *workspace.accounts, *requests])

    @run.after_creation  # at once, unless a cluster may become another one, or none
    def declare_rest(made: "Deployment") -> Outputs:
        if not requests:
            check_quota(made)
        # Deleted in reverse: what jobs need goes after the clusters, each of which may still be found busy.
        later, facts = ResourceOptions(depends_on=[workspace]), made.facts.clusters
        guarded: dict[str, Any] = {**place, "hooks": run.guard, "opts": later}
        clusters = {
            now.spec.name: AdoptedResource(now.id, facts=facts[now.id], opts=later)
            if now.spec.adopted
            else PersistentResource(
                now.id, now.marked(stack.name), exists=now.import_, facts=facts[now.id], creation=creation, **guarded
            )
            for now in made.plan.current
        }
        retiring = [
            RetiringResource(old.id, old.spec.pools, location=old.region, facts=facts[old.id], **guarded)
            for old in made.plan.retired
        ]
        bucket = workspace.catalog.name
        templates = [
            JobTemplate(name, packages=built.values(), facts=made.facts.templates[name], bucket=bucket)
            for name, built in made.packages.items()
        ]
        named = [workspace, *clusters.values(), *retiring, *templates, *([creation.object] if creation else [])]
        shown = made.facts.published
        catalog = Catalog("catalog", catalog=made.catalog, facts=shown, bucket=bucket, after=named, hooks=run.guard)
        return Outputs(
            clusters={name: cluster.id for name, cluster in clusters.items()},
            retiring=[old.id for old in retiring],
            catalog=Output.concat("gs://", bucket, "/", catalog.object.name),
            work=Output.concat("gs://", workspace.work.name),
            trainer=workspace.trainer.email,
        )
