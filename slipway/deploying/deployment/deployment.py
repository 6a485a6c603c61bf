"""A deployment: a stack with its templates proven, and all decisions before a resource is declared.

Pure, but for `prove_stack` and `build_packages`, which read files.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from slipway.authoring.packages.source_package import SourcePackage, built
from slipway.authoring.policy.rules import refuse as refuse_violations
from slipway.authoring.policy.rules import sentence, violations
from slipway.authoring.stack.members import open_to
from slipway.authoring.stack.stack import Stack
from slipway.authoring.template.job_template import JobTemplate
from slipway.authoring.template.load import load, source
from slipway.authoring.template.proof import Placement, place_all
from slipway.authoring.template.proof import refuse as refuse_templates
from slipway.authoring.template.stack_machines import on_stack, resources_of
from slipway.authoring.template.worker_pool import Code
from slipway.base.errors import ConfigError, SlipwayError
from slipway.deploying.deployment.live_plan import asked_for
from slipway.deploying.deployment.plan import Plan, absent, chosen, former_regions, regions_of_old
from slipway.deploying.deployment.publication import (
    catalog_of,
    compile_context,
    draws,
    mark_dormant,
    readable,
    template_entry,
)
from slipway.deploying.deployment.restoration import Restoration, restoration
from slipway.deploying.deployment.schedule import with_seasons
from slipway.deploying.deployment.shared_grants import asked_of, by_member
from slipway.deploying.deployment.summary import (
    doubtful_grants,
    kept_settings,
    lost,
    of_alternatives,
    of_images,
    of_quota,
    overdue,
)
from slipway.deploying.deployment.workspace_plan import (
    ACT_AS,
    CATALOG,
    SUBMITTER_ROLES,
    WORK,
    RetiringWorkspaceResource,
    metric_writers,
)
from slipway.deploying.generations.action import Action
from slipway.google.live import Live, Unknown
from slipway.google.quota.assessment import assess
from slipway.google.quota.report import OfferDraw, QuotaReport, QuotaRow, refuse_shortage
from slipway.google.quota.seasons import quota_ids
from slipway.google.quota.usage import drawn
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.template import Template
from slipway.model.cluster import CurrentCluster
from slipway.model.facts import Facts, Kept, QuotaFacts, QuotaLine, TrainerFacts
from slipway.model.findings.finding import Finding, Grade
from slipway.model.labels import Revision
from slipway.model.state import State

_NOTHING = State()
Packages = Mapping[str, Mapping[Code, SourcePackage]]
"""The built packages, by template and declaration of its code."""


@dataclass(frozen=True)
class ProvenStack:
    stack: Stack
    templates: Mapping[str, JobTemplate]
    placements: Mapping[str, tuple[Placement, ...]]
    #: The quota metrics that clusters and offers draw.
    metrics: frozenset[str]
    sources: Mapping[str, str]
    #: Of templates that can't be loaded or packed, or fit no pool. A preview raises them at its end.
    errors: tuple[ConfigError, ...]


def prove_stack(stack: Stack, folder: Path, folders: Mapping[str, Path] | None = None) -> ProvenStack:
    """Prove the templates in `folder`, without those that can't be loaded. `folders`: those of single templates."""
    at = {name: (folders or {}).get(name, folder) for name in stack.templates}
    templates, errors = dict[str, JobTemplate](), list[ConfigError]()
    for name in stack.templates:
        try:
            templates[name] = on_stack(load(name, at[name]), stack)
        except ConfigError as error:
            errors.append(error)
    placements, misfits = place_all(templates.values(), resources_of(stack))
    sources = {name: source(name, at[name]) for name in templates}
    options = [option for cluster in stack.clusters for option in cluster.options]
    metrics = drawn(options, _draws(templates, placements))
    return ProvenStack(stack, templates, placements, metrics, sources, (*errors, *misfits))


def _placements(proven: ProvenStack, plan: Plan) -> Mapping[str, tuple[Placement, ...]]:
    """Return the placements on the clusters as they are: alternatives of the proven ones, or their predecessors."""
    stack, present = proven.stack, chosen(proven.stack.clusters, plan)
    if [(cluster.pools, cluster.region) for cluster in present] == [
        (cluster.pools, cluster.region) for cluster in stack.clusters
    ]:
        return proven.placements
    here = replace(resources_of(stack), clusters=present, absent=absent(stack.clusters, present))
    return place_all(proven.templates.values(), here)[0]


def _draws(
    templates: Mapping[str, JobTemplate], placements: Mapping[str, tuple[Placement, ...]]
) -> tuple[OfferDraw, ...]:
    return tuple(draw for name, template in templates.items() for draw in draws(template, placements[name]))


@dataclass(frozen=True)
class Deployment:
    stack: Stack
    revision: Revision
    live: Live
    plan: Plan
    report: QuotaReport
    catalog: Catalog
    packages: Packages
    #: The trainers whose jobs write metrics, as `metric_writers` returns them.
    writers: frozenset[str]
    facts: Facts
    violations: tuple[Finding, ...]
    warnings: tuple[str, ...]
    errors: tuple[ConfigError, ...] = ()
    #: What was deleted outside of Pulumi.
    restoration: Restoration = field(default_factory=Restoration)

    def refuse(self, beside: Sequence[SlipwayError] = ()) -> None:
        """Raise ConfigError for templates that can't be deployed, with the errors `beside` them, and PolicyError when
        quota does not suffice, or the stack breaks a mandatory rule of its own."""
        refuse_templates((*beside, *self.errors))
        refuse_violations(self.violations)
        refuse_shortage(self.report, self.stack.region, self.stack.origin)


def build_packages(proven: ProvenStack, checkout: Path) -> tuple[ProvenStack, Packages]:
    """Pack the folders that templates name. Return the stack without templates that can't be packed."""
    packages, errors = dict[str, Mapping[Code, SourcePackage]](), list[ConfigError]()
    for name, template in proven.templates.items():
        try:
            packages[name] = {code: built(name, code, checkout) for code in template.uploaded}
        except ConfigError as error:
            errors.append(error)
    packed = {name: proven.templates[name] for name in packages}
    return replace(proven, templates=packed, errors=(*proven.errors, *errors)), packages


def plan_deployment(
    proven: ProvenStack,
    packages: Packages,
    revision: Revision,
    live: Live,
    plan: Plan,
    *,
    preview: bool,
    now: datetime,
    known: State | Unknown = _NOTHING,
) -> Deployment:
    """Plan a deployment. `known` is the engine's state of the stack. Lack of quota is reported.

    Raises ConfigError when its catalog can't be read and, outside of a preview, for a template that can't be compiled.
    """
    stack = proven.stack
    placements = {name: mark_dormant(placed, plan.dormant) for name, placed in _placements(proven, plan).items()}
    then = live.without(plan.deleted_by_program)
    offers = _draws(proven.templates, placements)

    def assessed(clusters: tuple[CurrentCluster, ...], beside: Live) -> QuotaReport:
        return assess(
            clusters,
            beside,
            region=stack.region,
            offers=offers,
            mode=stack.quota.mode,
            strict=stack.quota.strict,
            preview=preview,
            old=plan.superseded_ids,
            known=() if isinstance(known, Unknown) else known.preferences,
        )

    def alone(clusters: tuple[CurrentCluster, ...]) -> QuotaReport:
        return assessed(
            clusters,
            then.without((*plan.superseded_ids, *(cluster.id for cluster in plan.current if cluster not in clusters))),
        )

    report = assessed(plan.current, then)
    if stack.quota.mode == "request":
        report = replace(report, requests=with_seasons(report.requests, plan, now, alone))
    context = compile_context(stack, revision, plan)
    known_templates = live.deployed.templates if live.deployed else {}
    entries, errors = dict[str, Template](), list[ConfigError]()
    for name, template in proven.templates.items():
        packed = packages[name]
        try:
            entry = template_entry(
                template,
                placements[name],
                report.offers[name],
                context,
                {code: package.path for code, package in packed.items()},
                [requirement for package in packed.values() for requirement in package.requirements],
                known_templates.get(name),
            )
            entries[name] = replace(entry, source=proven.sources[name])
        except ConfigError as error:
            if not preview:
                raise
            errors.append(error)
    old_regions = (former for former in regions_of_old(plan, known) if former not in ("", stack.region))
    catalog = catalog_of(context, stack, plan, entries, old_regions)
    left = former_regions(live, catalog.regions) or None
    writers = metric_writers(proven.templates.values())
    restores = restoration(known, live, _wanted(stack, plan), by_path(packages).keys(), asked_of(stack, writers))
    catalog = readable(replace(catalog, former_regions=left, quotas=quota_ids(live), restored=restores.times))
    known_facts = facts(stack, plan, catalog, report)
    broken = violations(known_facts)
    return Deployment(
        stack=stack,
        revision=revision,
        live=live,
        plan=plan,
        report=report,
        catalog=catalog,
        packages={name: packages[name] for name in entries},
        writers=writers,
        facts=known_facts,
        violations=broken,
        errors=(*proven.errors, *errors),
        restoration=restores,
        warnings=(
            *restores.warnings(stack.origin),
            *of_quota(report),
            *of_alternatives(plan, then, stack, proven.templates.values()),
            *("\n  fix: ".join(cluster.spec.closed) for cluster in plan.current if cluster.spec.closed),
            *(dormancy.waits for dormancy in plan.dormant if dormancy.lacks),
            *(overdue(item) for item in plan.retiring if item.overdue),
            *(str(refusal.error) for refusal in plan.refusals),
            *doubtful_grants(plan.workspace.shared),
            *lost(plan.workspace.lost, stack.origin),
            *kept_settings(plan.workspace.adopted, live.lacking, stack.workspace.kms_key),
            *open_to(stack.submitters),
            *(sentence(violation) for violation in broken if violation.grade is Grade.WARNING),
            *of_images(entries, known_templates, now),
        ),
    )


def _wanted(stack: Stack, plan: Plan) -> Collection[str]:
    """Return the names of the declared buckets and accounts. An adopted bucket that its owner deleted is another
    resource for Pulumi, which creates it."""
    return {*asked_for(stack).values()} - {*plan.workspace.lost.values()}


def by_path(packages: Packages) -> Mapping[str, SourcePackage]:
    """Return the packages by their names in the catalog's bucket: several templates may have one."""
    named: dict[str, SourcePackage] = {}
    for packed in packages.values():
        for package in packed.values():
            named[package.path] = package
    return named


def facts(stack: Stack, plan: Plan, catalog: Catalog, report: QuotaReport) -> Facts:
    kept = (*map(_kept, plan.retiring), *map(_kept, plan.workspace.retiring))
    return Facts(
        catalog=catalog,
        submitters={member: dict(SUBMITTER_ROLES) for member in stack.workspace.submitters},
        code=stack.workspace.code,
        kms_key=stack.workspace.kms_key if {CATALOG, WORK} & plan.workspace.logical.keys() else None,
        quota=QuotaFacts(
            region=stack.region,
            mode=stack.quota.mode,
            strict=stack.quota.strict,
            lines={line.key: _line(line) for line in report.lines},
            requests={request.metric: request.value for request in report.requests} or None,
        ),
        policy={
            key: rules for key, rules in stack.policy.model_dump(by_alias=True, exclude_none=True).items() if rules
        },
        kept={resource.id: resource for resource in kept},
        trainers={
            name: TrainerFacts(name, catalog.trainers[name], dict.fromkeys(trainer.submitters, ACT_AS))
            for name, trainer in stack.trainers.items()
        },
        adopted=plan.workspace.adopted,
        shared=by_member(plan.workspace.shared),
        unloaded=frozenset(stack.templates).difference(catalog.templates),
    )


def _line(line: QuotaRow) -> QuotaLine:
    """Return the line without its present use, which an autoscaler moves."""
    return QuotaLine(
        key=line.key,
        state=line.state,
        short=line.short,
        drawn=dict(line.drawn),
        ceiling=line.ceiling,
        limit=line.limit,
    )


def _kept(retiring: Action | RetiringWorkspaceResource) -> Kept:
    jobs, why = {job.name: job.display_name for job in retiring.jobs}, retiring.why.value
    if isinstance(retiring, Action):
        return Kept(retiring.id, "cluster", retiring.cluster, why, jobs, overdue=retiring.overdue)
    return Kept(retiring.name, retiring.kind, retiring.role, why, jobs)
