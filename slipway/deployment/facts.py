"""Facts: what a deployment makes of a stack, as components publish it and a review compares it.

JSON of keys and numbers, without prose, and keyed by name wherever there are several of something: what changes in it
may hurt somebody. Prices are texts of decimals, USD an hour. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from slipway.catalog import codec
from slipway.catalog.model import Offer, Template
from slipway.cluster import CurrentCluster, PoolSpec
from slipway.deployment.plan import Plan
from slipway.deployment.retiring import Retiring, RetiringCluster
from slipway.deployment.workspace_plan import SUBMITTER_ROLES, trainer_email
from slipway.labels import Revision
from slipway.prices import hourly, price_text
from slipway.quota.report import Line, QuotaReport
from slipway.stack.stack import Stack

Fact = Mapping[str, Any]


@dataclass(frozen=True)
class Facts:
    """By component: `clusters` by id, retiring ones among them, `templates` by name."""

    workspace: Fact
    clusters: Mapping[str, Fact]
    templates: Mapping[str, Fact]
    quota: Fact
    catalog: Fact


def facts(
    stack: Stack, plan: Plan, templates: Mapping[str, Template], report: QuotaReport, revision: Revision
) -> Facts:
    """`templates` as the catalog has them."""
    current = {item.id: _current(item, stack.region) for item in plan.current}
    retiring = {item.cluster.id: _retiring(item) for item in plan.retiring}
    return Facts(
        workspace=_workspace(stack, plan),
        clusters={**current, **retiring},
        templates={name: _template(template) for name, template in templates.items()},
        quota=_quota(stack, report),
        catalog={
            "commit": revision.commit,
            "dirty": bool(revision.dirty),
            "clusters": {item.spec.name: item.id for item in plan.current},
            "retiring": {item.cluster.id: item.name for item in plan.retiring},
            "templates": {name: template.package or template.image for name, template in templates.items()},
        },
    )


def _workspace(stack: Stack, plan: Plan) -> Fact:
    settings = stack.workspace
    return {
        "catalog": settings.catalog_bucket,
        "work": settings.work_bucket,
        "trainer": trainer_email(settings.trainer, stack.project),
        "code": settings.code,
        "submitters": {member: dict(SUBMITTER_ROLES) for member in settings.submitters},
        "retiring": {one.id: {"kind": one.kind, "role": one.role, **_kept(one)} for one in plan.workspace.retiring},
    }


def _current(current: CurrentCluster, region: str) -> Fact:
    spec = current.spec
    return {
        "cluster": spec.name,
        "id": current.id,
        "fingerprint": current.fingerprint,
        "replacement": spec.replacement,
        "pools": {pool.name: _pool(pool, region) for pool in spec.pools},
    }


def _pool(pool: PoolSpec, region: str) -> Fact:
    price, machine = hourly(pool.machine, region), pool.machine
    accelerator = {"accelerator": machine.accelerator, "acceleratorCount": machine.accelerator_count}
    return {
        "machine": machine.type,
        **(accelerator if machine.accelerator else {}),
        "diskType": machine.disk.type,
        "diskSizeGb": machine.disk.size_gb,
        "min": pool.min,
        "max": pool.max,
        "replicas": pool.replicas,
        **_price(price_text(price), price.complete),
    }


def _price(known: str | None, complete: bool) -> Fact:
    """Of one machine of a pool, or of all that an offer takes at the usual replicas."""
    return {"pricePerHour": known or "", "priceComplete": complete}


def _retiring(retiring: RetiringCluster) -> Fact:
    return {"cluster": retiring.name, "id": retiring.id, "overdue": retiring.overdue, **_kept(retiring)}


def _kept(retiring: Retiring) -> Fact:
    """Why something of any kind retires, by key, and for which jobs."""
    return {"retiring": retiring.why.value, "jobs": {job.name: job.display_name for job in retiring.jobs}}


def _template(template: Template) -> Fact:
    return {
        "kinds": list(template.kinds),
        "package": template.package,
        "image": template.image,
        "code": template.code_flag,
        "parameters": {one.name: _without(codec.write(one), "name", "help") for one in template.parameters},
        "offers": {one.label(template.kind, with_cluster=True): _offer(one) for one in template.offers},
    }


def _offer(offer: Offer) -> Fact:
    wait = {} if offer.wait is None else {"wait": offer.wait}
    return {
        "available": offer.available,
        "lacksQuota": offer.lacks_quota,
        **wait,
        **_price(price_text(offer.price_per_hour), offer.price_per_hour.complete),
    }


def _without(body: Fact, *keys: str) -> Fact:
    return {key: value for key, value in body.items() if key not in keys}


def _quota(stack: Stack, report: QuotaReport) -> Fact:
    return {
        "region": stack.region,
        "mode": stack.quota.mode,
        "strict": stack.quota.strict,
        "warnings": len(report.warnings),
        "lines": {line.key: _line(line) for line in report.lines},
    }


def _line(line: Line) -> Fact:
    """Without what it draws now: an autoscaler moves that, and what it does is no change of the stack."""
    limit = {} if line.limit is None else {"limit": line.limit}
    return {"state": line.state, "short": line.short, "drawn": dict(line.drawn), "ceiling": line.ceiling, **limit}
