"""The whole program: what the stack file asks for, beside what lives, becomes resources. The rules are in `slipway`."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from datetime import UTC, datetime
from pathlib import Path

import pulumi

from components.guard import guard, refusal_of_destruction
from components.settings import configured, place
from components.state import known
from slipway.deployment.decide import decide
from slipway.deployment.grace_period import GracePeriod
from slipway.deployment.stack_location import refuse_move
from slipway.deployment.use import guarded_use
from slipway.errors import SlipwayError
from slipway.live import Unknown
from slipway.state import State

CHECKOUT = Path(__file__).resolve().parent
PACKAGES = Path(".slipway/packages")  # relative: the state keeps the path, and checkouts differ
SAID = 32  # the exit code by which Pulumi's language host knows that the person has been told why


def main() -> None:
    """Everything is read and decided first: from the first resource on, nothing is refused any more."""
    if os.environ.get("SLIPWAY_PURPOSE") == "destroy":
        take_down()
        return
    name, (project, region) = pulumi.get_stack(), place()
    grace, state = GracePeriod.of(os.environ), known()
    use = guarded_use(os.environ, ((project, region),), name, state)

    def ends() -> None:
        from slipway.deployment.orphan_cleanup import OrphanCleanup

        log = pulumi.log
        OrphanCleanup(
            os.environ, state, stack=name, project=project, region=region, file=stack, say=log.info, warn=log.warn
        ).must_leave_none()

    hooks = guard(use, grace.left, grace.moved, ends)
    stack, preview, now = configured(CHECKOUT), pulumi.runtime.is_dry_run(), datetime.now(UTC)
    if isinstance(state, Unknown):
        pulumi.log.warn(f"can't tell what the stack has already, from {state.api}: {state.why}")
    else:
        refuse_move(state, stack=name, project=project, region=region)
    from slipway.deployment.publication import draws, template_entry
    from slipway.quota import assess, drawn, table
    from slipway.template.load import load
    from slipway.template.proof import prove_all

    templates = {template.name: template for template in load(stack.templates, CHECKOUT / "templates")}
    placements = prove_all(templates.values(), stack.clusters, region=region, reservations=stack.reservations)
    offers = tuple(draw for key, template in templates.items() for draw in draws(template, placements[key]))
    metrics = drawn(stack.clusters, offers)
    with ThreadPoolExecutor(1) as background:  # the cloud answers while Python imports
        log = pulumi.log
        deciding = background.submit(
            copy_context().run, decide, stack, os.environ, preview, now, log.info, log.warn, metrics, state
        )
        from components.catalog import Catalog
        from components.creation import Creation
        from components.job_template import JobTemplate
        from components.persistent_resource import PersistentResource, RetiringResource
        from components.quota_check import QuotaCheck
        from components.workspace import Workspace
        from slipway.deployment.checkout import checkout_revision
        from slipway.deployment.cluster_creation import creator
        from slipway.deployment.publication import catalog_of
        from slipway.deployment.summary import neighbours, overdue, summary
        from slipway.deployment.workspace_plan import trainer_email, trainer_roles
        from slipway.packages import build
        from slipway.stack import open_to
        from slipway.template.jobspec import CompileContext

        commit = checkout_revision(CHECKOUT, os.environ)
        packages = {
            key: {code: build(key, CHECKOUT / code.folder) for code in template.packages}
            for key, template in templates.items()
        }
        live, plan = deciding.result()
        grace.began_with(live.catalog, stack.workspace.catalog_bucket, trainer_email(stack.workspace.trainer, project))

    quota = stack.quota
    report = assess(
        plan.current,
        live,
        region=region,
        offers=offers,
        mode=quota.mode,
        strict=quota.strict,
        preview=preview,
        old=plan.old,
    )
    pulumi.log.info(summary(name, commit, plan, placements, report, region, now, stack.workspace.catalog_bucket))
    if preview and report.lines:
        pulumi.log.info(table(report))
    late = (overdue(item) for item in plan.retiring if item.overdue)
    for warning in (*report.warnings, *late, *neighbours(name, live), *open_to(stack.workspace.submitters)):
        pulumi.log.warn(warning)

    creates = [item.id for item in plan.current if not item.import_]
    create = creator(plan, os.environ, (name, project, region), use, pulumi.log.info, pulumi.log.warn)
    context = CompileContext(
        stack=name,
        region=region,
        commit=commit.commit,
        dirty=bool(commit.dirty),
        catalog_bucket=stack.workspace.catalog_bucket,
        work_bucket=stack.workspace.work_bucket,
        trainer=trainer_email(stack.workspace.trainer, project),
        clusters={item.spec.name: item.id for item in plan.current},
        project=project,
        reservations=stack.reservations,
        code_allowed=stack.workspace.code,
    )
    entries = {
        key: template_entry(
            template,
            placements[key],
            report.offers[key],
            context,
            {code: one.path for code, one in packages[key].items()},
        )
        for key, template in templates.items()
    }

    QuotaCheck("quota", region=region, report=report)
    workspace = Workspace(
        "workspace",
        project=project,
        region=region,
        settings=stack.workspace,
        live=live,
        trainer_roles=trainer_roles(templates.values()),
        plan=plan.workspace,
        hooks=hooks,
    )
    creation = None
    # A stack that never made one in this way gets no new resource for it.
    if creates or (isinstance(state, State) and state.creation):
        creation = Creation(creates, create, bucket=workspace.catalog.name, workspace=workspace, now=now)
    # Deleted in reverse: what jobs need goes after the clusters, each of which may still be found busy.
    later = pulumi.ResourceOptions(depends_on=[workspace])
    clusters = {
        item.spec.name: PersistentResource(
            item, project=project, region=region, hooks=hooks, creation=creation, opts=later
        )
        for item in plan.current
    }
    retiring = [
        RetiringResource(item, project=project, region=region, hooks=hooks, opts=later) for item in plan.retiring
    ]
    published = [
        JobTemplate(
            key,
            entry=entry,
            packages={one.save(PACKAGES): one for one in packages[key].values()},
            bucket=workspace.catalog.name,
        )
        for key, entry in entries.items()
    ]
    catalog = Catalog(
        "catalog",
        catalog=catalog_of(context, stack, plan.current, (one.cluster.id for one in plan.retiring), commit, entries),
        bucket=workspace.catalog.name,
        after=[workspace, *clusters.values(), *retiring, *published, *([creation.object] if creation else [])],
        hooks=hooks,
    )
    pulumi.export("clusters", {key: cluster.resource.name for key, cluster in clusters.items()})
    pulumi.export("retiring", [item.resource.name for item in retiring])
    pulumi.export("catalog", pulumi.Output.concat("gs://", workspace.catalog.name, "/", catalog.object.name))
    pulumi.export("work", pulumi.Output.concat("gs://", workspace.work.name))
    pulumi.export("trainer", workspace.trainer.email)


def take_down() -> None:
    """The engine deletes all that it knows, as nothing is declared. What it does not know is deleted here, before."""
    pulumi.log.warn("SLIPWAY_PURPOSE=destroy: nothing is declared, so `pulumi up` would delete the stack too")
    from slipway.deployment.orphan_cleanup import OrphanCleanup
    from slipway.deployment.summary import outliving

    name, (project, region) = pulumi.get_stack(), place()
    try:
        file = configured(CHECKOUT)
    except SlipwayError:
        file = None  # A mistake in the stack file must not prevent a destruction.
    state = known()
    clearing = OrphanCleanup(
        os.environ,
        state,
        stack=name,
        project=project,
        region=region,
        file=file,
        say=pulumi.log.info,
        warn=pulumi.log.warn,
    )
    preview = pulumi.runtime.is_dry_run()
    spared = clearing.run(preview=preview)
    grace, use = GracePeriod.of(os.environ), guarded_use(os.environ, clearing.where, name, state, spared)
    guard(use, grace.left, grace.moved)
    if preview and (refusal := refusal_of_destruction(use)):
        pulumi.log.warn(refusal)
    if not isinstance(state, Unknown) and (stays := outliving(state)):
        pulumi.log.info(stays)


try:
    main()
except SlipwayError as error:
    pulumi.log.error(str(error))
    sys.exit(SAID)
