"""A deployment: everything that is decided before the first resource is declared. Pure, but for `build_packages`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from slipway.catalog.model import Catalog
from slipway.deployment.facts import Facts, facts
from slipway.deployment.plan import Plan
from slipway.deployment.proven_stack import ProvenStack
from slipway.deployment.publication import catalog_of, template_entry
from slipway.deployment.summary import neighbours, overdue, summary
from slipway.deployment.workspace_plan import trainer_email, trainer_roles
from slipway.live import Live
from slipway.packages import SourcePackage, build
from slipway.quota import QuotaReport, assess, table
from slipway.revision import Revision
from slipway.stack import Stack, open_to
from slipway.template.code import Package
from slipway.template.jobspec import CompileContext

Packages = Mapping[str, Mapping[Package, SourcePackage]]
"""Built ones, by template and what it says of its code."""


@dataclass(frozen=True)
class Deployment:
    """What components declare, and the `messages` and `warnings` that people read before.

    `trainer_roles` are those on the project that some template's jobs need.
    """

    stack: Stack
    live: Live
    plan: Plan
    report: QuotaReport
    catalog: Catalog
    packages: Packages
    trainer_roles: tuple[str, ...]
    facts: Facts
    messages: tuple[str, ...]
    warnings: tuple[str, ...]


def build_packages(proven: ProvenStack, checkout: Path) -> Packages:
    """From the folders that templates name. Raises ConfigError for those that can't be packed."""
    return {
        name: {code: build(name, checkout / code.folder) for code in template.packages}
        for name, template in proven.templates.items()
    }


def plan_deployment(
    proven: ProvenStack,
    packages: Packages,
    revision: Revision,
    live: Live,
    plan: Plan,
    *,
    preview: bool,
    now: datetime,
) -> Deployment:
    """Raises ConfigError when a template can't be compiled. Lack of quota is in the report."""
    stack, workspace = proven.stack, proven.stack.workspace
    report = assess(
        plan.current,
        live,
        region=stack.region,
        offers=proven.offers,
        mode=stack.quota.mode,
        strict=stack.quota.strict,
        preview=preview,
        old=plan.old,
    )
    context = CompileContext(
        stack=stack.name,
        region=stack.region,
        commit=revision.commit,
        dirty=bool(revision.dirty),
        catalog_bucket=workspace.catalog_bucket,
        work_bucket=workspace.work_bucket,
        trainer=trainer_email(workspace.trainer, stack.project),
        clusters={item.spec.name: item.id for item in plan.current},
        project=stack.project,
        reservations=stack.reservations,
        code_allowed=workspace.code,
    )
    entries = {
        name: template_entry(
            template,
            proven.placements[name],
            report.offers[name],
            context,
            {code: package.path for code, package in packages[name].items()},
        )
        for name, template in proven.templates.items()
    }
    text = summary(stack.name, revision, plan, proven.placements, report, stack.region, now, workspace.catalog_bucket)
    late = (overdue(item) for item in plan.retiring if item.overdue)
    return Deployment(
        stack=stack,
        live=live,
        plan=plan,
        report=report,
        catalog=catalog_of(
            context, stack, plan.current, (item.cluster.id for item in plan.retiring), revision, entries
        ),
        packages=packages,
        trainer_roles=trainer_roles(proven.templates.values()),
        facts=facts(stack, plan, entries, report, revision),
        messages=(text, table(report)) if preview and report.lines else (text,),
        warnings=(*report.warnings, *late, *neighbours(stack.name, live), *open_to(workspace.submitters)),
    )
