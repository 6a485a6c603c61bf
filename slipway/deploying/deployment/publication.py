"""The catalog that a deployment publishes, and the quota that its templates' placements draw."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from slipway.authoring.stack.stack import Stack
from slipway.authoring.template.compile import request
from slipway.authoring.template.declaration import file_of
from slipway.authoring.template.job_template import JobTemplate
from slipway.authoring.template.jobspec import CompileContext
from slipway.authoring.template.proof import Placement, prove
from slipway.authoring.template.stack_machines import on_stack, resources_of
from slipway.authoring.template.template_error import TemplateError
from slipway.authoring.template.worker_pool import Code, Image, Package, WorkerPool, places
from slipway.base.errors import ConfigError
from slipway.base.formatting import last_part
from slipway.deploying.deployment.actions import of_current
from slipway.deploying.deployment.plan import Plan
from slipway.deploying.deployment.shared_grants import submitters_of
from slipway.deploying.deployment.workspace_plan import trainer_email
from slipway.deploying.generations.action import What
from slipway.deploying.generations.dormant import Dormancy
from slipway.deploying.generations.published_clusters import published, published_dormant
from slipway.google.catalog import document
from slipway.google.quota.report import OfferDraw, OfferVerdict
from slipway.model.capacity import CAPACITY_TYPES
from slipway.model.catalog import model
from slipway.model.catalog import template as offered
from slipway.model.catalog.forms import Removed
from slipway.model.cluster import CurrentCluster, taken
from slipway.model.labels import Revision
from slipway.model.machines.images import misfits
from slipway.model.machines.spec import MachineGroup
from slipway.model.prices import Price, hourly
from slipway.model.secret import secret_version


def compile_context(stack: Stack, revision: Revision, plan: Plan) -> CompileContext:
    workspace = stack.workspace
    return CompileContext(
        stack=stack.name,
        region=stack.region,
        commit=revision.commit,
        dirty=bool(revision.dirty),
        catalog_bucket=workspace.catalog_bucket,
        work_bucket=workspace.work_bucket,
        trainer=trainer_email(workspace.trainer, stack.project),
        clusters={action.cluster: action.id for action in plan.actions if action.current or action.what is What.REST},
        project=stack.project,
        reservations=stack.reservations,
        code_allowed=workspace.code,
        trainers={name: trainer_email(trainer.account, stack.project) for name, trainer in stack.trainers.items()},
        kms_key=workspace.kms_key,
        program=stack.program,
        pulumi_project=stack.pulumi_project,
    )


def readable(catalog: model.Catalog) -> model.Catalog:
    """Return the catalog, once it has been read as every submitter will. Raises ConfigError."""
    try:
        for template in document.read(document.write(catalog).encode(), model.NAME).templates.values():
            if template.unread:
                raise ValueError(template.unread)
    except (ConfigError, TypeError, ValueError) as problem:
        raise ConfigError(
            "nobody could read the catalog that this would publish",
            why=problem.why if isinstance(problem, ConfigError) else str(problem),
            fix="correct what is named there; templates.x-y is templates/x_y.py",
        ) from problem
    return catalog


def rehearse(template: JobTemplate, stack: Stack, requirements: Iterable[str] = ()) -> offered.Template:
    """Publish a template to nobody, as far as the stack file tells: for a check without the engine. Return the result.
    `requirements`: those of its packages.

    Raises the ConfigError that a preview would raise for this template, whatever lives in the cloud.
    """
    template = on_stack(template, stack)
    placements = prove(template, resources_of(stack))
    current = (CurrentCluster(spec, f"{spec.name}-0000000", "0000000", import_=False) for spec in stack.clusters)
    plan = Plan(tuple(map(of_current, current)))
    context = compile_context(stack, Revision("unknown", dirty=False), plan)
    barred = {placement.label: placement.refusal or placement.dormant for placement in placements}
    verdicts = {label: OfferVerdict(available=not why, why=why) for label, why in barred.items()}
    packages = {code: f"packages/code.{'tar.gz' if isinstance(code, Package) else 'pyz'}" for code in template.uploaded}
    entry = template_entry(template, placements, verdicts, context, packages, requirements)
    readable(catalog_of(context, stack, plan, {template.name: entry}))
    return entry


def catalog_of(
    context: CompileContext,
    stack: Stack,
    plan: Plan,
    templates: Mapping[str, offered.Template],
    other_regions: Iterable[str] = (),
) -> model.Catalog:
    """Return the whole catalog. `other_regions`: regions of the stack's clusters that the stack file does not name."""
    return model.Catalog(
        stack=stack.name,
        project=stack.project,
        region=stack.region,
        commit=context.commit,
        dirty=context.dirty,
        work_bucket=context.work_bucket,
        trainer=context.trainer,
        trainers=context.trainers,
        clusters={cluster.spec.name: published(cluster, stack.region) for cluster in plan.current},
        retiring=tuple(action.id for action in plan.retiring),
        removed=_removed_clusters(plan) or None,
        templates=templates,
        catalog_bucket=context.catalog_bucket,
        work_elsewhere=stack.work_elsewhere or None,
        dormant={dormancy.spec.name: published_dormant(dormancy, stack.region) for dormancy in plan.dormant},
        reservations={reservation.path: reservation for reservation in stack.reservations.values()},
        confirm_above=stack.workspace.confirm_above,
        teams={name: model.Team(team.submitters, team.clusters) for name, team in stack.teams.items()},
        budget=stack.budget,
        agents=stack.agents,
        board=stack.workspace.board or None,
        code=stack.workspace.code or None,
        shell=stack.workspace.shell or None,
        urgent=stack.workspace.urgent or None,
        shares=stack.shares or None,
        sessions=stack.sessions,
        notify=_notification_secret(stack),
        submitters=submitters_of(stack),
        other_regions=tuple(dict.fromkeys((*stack.other_regions, *other_regions))) or None,
        program=stack.program,
        pulumi_project=stack.pulumi_project or None,
    )


def _removed_clusters(plan: Plan) -> dict[str, Removed]:
    """Return the draining clusters that the stack file no longer names, by id."""
    return {action.id: action.removed for action in plan.retiring if action.removed}


def _notification_secret(stack: Stack) -> str | None:
    notify = stack.workspace.notify
    return secret_version(notify, stack.project) if notify else None


def mark_dormant(placements: tuple[Placement, ...], dormant: Iterable[Dormancy]) -> tuple[Placement, ...]:
    """Return the placements; those on a dormant cluster say so."""
    why = {dormancy.spec.name: dormancy.words for dormancy in dormant}
    return tuple(
        replace(placement, dormant=why[placement.cluster.name])
        if placement.cluster and placement.cluster.name in why
        else placement
        for placement in placements
    )


def draws(template: JobTemplate, placements: tuple[Placement, ...]) -> tuple[OfferDraw, ...]:
    """Return the quota that each placement draws beside the pools at the usual replicas, by its label."""
    by_label: dict[str, Placement] = {}
    for placement in placements:
        by_label.setdefault(placement.label, placement)
    return tuple(_draw(template, placement) for placement in by_label.values())


def _draw(template: JobTemplate, placement: Placement) -> OfferDraw:
    row = CAPACITY_TYPES[placement.capacity_type]
    named = (template.name, placement.capacity_type, placement.label)
    if placement.dormant:
        return OfferDraw(*named, refusal=placement.dormant, dormant=True)
    if placement.refusal or row.draws == "nothing":
        intended = placement.case.variant is not None and bool(placement.case.variant.refusal)
        return OfferDraw(*named, refusal=placement.refusal, intended=intended)
    times = template.trials_at_once(placement.kind)
    groups = tuple(
        MachineGroup(worker.spec, template.usual_replicas(worker) * times * worker.shape.vms)
        for worker in placement.case.worker_pools(template)
        if template.usual_replicas(worker)
    )
    return OfferDraw(*named, groups, preemptible=row.preemptible, doubtful=row.draws == "unknown")


def template_entry(
    template: JobTemplate,
    placements: tuple[Placement, ...],
    verdicts: Mapping[str, OfferVerdict],
    context: CompileContext,
    packages: Mapping[Code, str],
    requirements: Iterable[str] = (),
    known: offered.Template | None = None,
) -> offered.Template:
    """Return a template's part of the catalog. `verdicts` by the placements' labels, `packages` are names in the
    catalog bucket, and `requirements` those of the packages. `known` is the published part of that name.

    Raises ConfigError when the official message type, or a rule of the service, rejects the template, and when an image
    of it can't run on its GPUs.
    """
    uris = {code: f"gs://{context.catalog_bucket}/{name}" for code, name in packages.items()}
    code, parameters = template.code, tuple(parameter.published for parameter in template.parameters)
    checked = [offer.request for offer in known.offers] if known and known.parameters == parameters else []
    takes_code = template.code_flag and context.code_allowed
    required = tuple(dict.fromkeys(requirements))
    offers = tuple(
        _offer(template, placement, verdicts[placement.label], context, uris, checked) for placement in placements
    )
    _require_fitting_images(template, offers, required)
    return offered.Template(
        name=template.name,
        summary=template.summary,
        kind=template.kind,
        roles=_aligned(template.worker_pools, (worker.role for worker in template.worker_pools)),
        parameters=parameters,
        offers=offers,
        kinds=tuple(template.kinds),
        package=uris[code] if isinstance(code, Package) else "",
        code_flag=takes_code and not template.inputs,
        code_why=_code_refusal(template, context),
        study=_study(template),
        image=code.uri if isinstance(code, Image) else "",
        requirements=required,
        checkpoints=template.checkpoints,
        yields=(template.checkpoints and bool(template.uploaded)) or None,
        shared=tuple(dict.fromkeys(last_part(folder) for package in template.packages for folder in package.shared))
        or None,
        code_with_inputs=(takes_code and bool(template.inputs)) or None,
        regions=template.regions or None,
    )


def _require_fitting_images(
    template: JobTemplate, offers: Iterable[offered.Offer], requirements: Iterable[str]
) -> None:
    """Refuse prebuilt images that can't run on their GPUs. Folders of one's own may bring another framework."""
    pools = (pool for offer in offers for pool in offer.worker_pools)
    if not template.code_flag and (why := dict.fromkeys(misfits(pools, requirements))):
        raise TemplateError(
            template.name,
            ("would", "would"),
            "fail on its machines",
            why="\n".join(why),
            fix="name a newer framework in the code's requirements.txt, or run an image that has one: code=Image(…)",
        )


def _code_refusal(template: JobTemplate, context: CompileContext) -> str:
    if not template.uploaded:  # A pipeline, or an image without the launcher: no edit makes a folder's code run.
        return ""
    if template.inputs and template.code_flag and context.code_allowed:
        return "an earlier slipway packs no launcher that copies its inputs: update slipway"
    lacking = [] if template.code_flag else [f"code_flag=True is not in templates/{file_of(template.name)}"]
    if not context.code_allowed:
        lacking.append(f"{context.origin.setting('slipway:workspace', 'code', True)} is not in {context.origin.file}")
    return ", and ".join(lacking)


def _study(template: JobTemplate) -> offered.Study | None:
    study = template.study
    if study is None:
        return None
    return offered.Study(
        max_trials=study.max_trials,
        parallel_trials=study.parallel_trials,
        algorithm=study.algorithm,
        metrics=tuple((metric.id, metric.goal) for metric in study.metrics),
        parameters=tuple(study.names()),
    )


def _offer(
    template: JobTemplate,
    placement: Placement,
    verdict: OfferVerdict,
    context: CompileContext,
    uris: Mapping[Code, str],
    checked: Iterable[Mapping[str, Any]],
) -> offered.Offer:
    cluster, workers = placement.cluster, placement.case.worker_pools(template)
    there = None if placement.dormant else cluster
    return offered.Offer(
        capacity_type=placement.capacity_type,
        available=verdict.available,
        why=verdict.why,
        cluster=there.name if there else "",
        pools=_aligned(workers, (pool.name for pool in placement.pools)) if there else (),
        price_per_hour=_usual_price(template, placement, (cluster.region if cluster else "") or context.region),
        request=request(
            template,
            placement.capacity_type,
            context,
            uris,
            cluster.name if cluster else None,
            kind=placement.kind,
            case=placement.case,
            on=cluster,
            refused=bool(placement.refusal),
            checked=checked,
        ),
        kind=placement.kind,
        when={name: tuple(values) for name, values in placement.case.when.items()},
        wait=template.waits.get(placement.capacity_type),
        roles=_aligned(workers, (worker.role for worker in workers)),
        note=CAPACITY_TYPES[placement.capacity_type].differs,
        lacks_quota=verdict.lacks_quota,
        dormant=cluster.name if cluster and not there else "",
        shape=placement.case.shape_name,
    )


def _aligned(workers: tuple[WorkerPool, ...], names: Iterable[str]) -> tuple[str, ...]:
    """Return a name for each place in the request, an empty one where a worker pool is skipped."""
    at = dict(zip(places(workers), names, strict=True))
    return tuple(at.get(place, "") for place in range(max(at) + 1))


def _usual_price(template: JobTemplate, placement: Placement, region: str) -> Price:
    times, workers = template.trials_at_once(placement.kind), placement.case.worker_pools(template)
    counts = [template.usual_replicas(worker) * times for worker in workers]
    pairs = [(worker.spec, count) for worker, count in zip(workers, counts, strict=True)]
    if placement.pools:  # A pipeline's tasks take any machine that suffices, as many as there are.
        machines = [pool.machine for pool in placement.pools]
        pairs = list(zip(machines, taken(placement.pools, counts), strict=True))
    prices = (hourly(machine, region, placement.capacity_type) * count for machine, count in pairs)
    return sum(prices, Price()).kept
