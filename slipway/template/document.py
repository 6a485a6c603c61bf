"""The catalog: what a stack publishes for everybody who submits. One JSON document, schema 1.

Readers ignore keys they do not know, so adding a key keeps the schema; renaming or removing one raises it.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from slipway.cluster import PoolSpec
from slipway.deployment.revision import Revision
from slipway.generations import Current, Plan
from slipway.live import JobReplicas
from slipway.prices import hourly
from slipway.quota import WayDraw, WayVerdict
from slipway.stack import Stack
from slipway.template.compile import Setting, request
from slipway.template.model import JobTemplate
from slipway.template.parameter import Parameter
from slipway.template.proof import Offer

SCHEMA = 1
NAME = "catalog.json"


def draws(template: JobTemplate, offers: tuple[Offer, ...]) -> tuple[WayDraw, ...]:
    """What each way draws beside the pools at the usual replicas, for the quota verdict."""
    groups = tuple(
        JobReplicas(
            worker.machine,
            worker.shape.accelerator,
            worker.shape.accelerator_count,
            template.replicas(worker)[1],
            worker.disk,
        )
        for worker in template.worker_pools
    )
    return tuple(
        WayDraw(template.name, way) if way == "pool" else WayDraw(template.name, way, groups, preemptible=way == "spot")
        for way in dict.fromkeys(offer.way for offer in offers)
    )


def template_entry(
    template: JobTemplate,
    offers: tuple[Offer, ...],
    verdicts: Mapping[str, WayVerdict],
    setting: Setting,
    package: str,
) -> dict[str, Any]:
    """A template's part of the catalog. `verdicts` by way, `package` is the package's name in the catalog bucket.

    Raises ConfigError when the official message type rejects the template.
    """
    package = f"gs://{setting.catalog_bucket}/{package}"
    return {
        "summary": template.summary,
        "kind": template.kind,
        "package": package,
        "roles": [worker.role for worker in template.worker_pools],
        "parameters": [_parameter(parameter) for parameter in template.parameters],
        "ways": [_way(template, offer, verdicts[offer.way], setting, package) for offer in offers],
        "maxReplicas": template.max_replicas,
        "timeoutSeconds": template.timeout_s,
        "outputs": list(template.outputs),
    }


def document(
    setting: Setting, stack: Stack, plan: Plan, revision: Revision, templates: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """The whole catalog; `templates` are the entries by name."""
    return {
        "schema": SCHEMA,
        "stack": stack.name,
        "project": stack.project,
        "region": stack.region,
        "commit": revision.commit,
        "dirty": revision.dirty,
        "storage": {"catalog": setting.catalog_bucket, "work": setting.work_bucket},
        "trainer": setting.trainer,
        "clusters": {current.spec.name: _cluster(current, stack.region) for current in plan.current},
        "retiring": [retiring.cluster.id for retiring in plan.retiring],
        "templates": dict(templates),
    }


def _cluster(current: Current, region: str) -> dict[str, Any]:
    return {"id": current.id, "pools": {pool.name: _pool(pool, region) for pool in current.spec.pools}}


def _pool(pool: PoolSpec, region: str) -> dict[str, Any]:
    return {
        "machine": pool.machine_type,
        "accelerator": pool.accelerator_type,
        "acceleratorCount": pool.accelerator_count,
        "disk": {"type": pool.disk.type, "sizeGb": pool.disk.size_gb},
        "min": pool.min,
        "max": pool.max,
        "autoscaled": pool.autoscaled,
        "pricePerHour": _price(hourly(pool.machine_type, region, pool.disk, accelerator=pool.accelerator_type)),
    }


def _parameter(parameter: Parameter) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": parameter.name, "type": parameter.type.__name__, "help": parameter.help}
    if parameter.default is not None:
        entry["default"] = parameter.default
    for bound, value in (("min", parameter.min), ("max", parameter.max)):
        if value is not None:
            entry[bound] = value
    return {**entry, "choices": list(parameter.choices)}


def _way(template: JobTemplate, offer: Offer, verdict: WayVerdict, setting: Setting, package: str) -> dict[str, Any]:
    entry: dict[str, Any] = {"way": offer.way}
    if offer.cluster is not None:
        entry |= {"cluster": offer.cluster.name, "pools": [pool.name for pool in offer.pools]}
    return entry | {
        "available": verdict.available,
        "why": verdict.why,
        "replicas": [worker.replicas for worker in template.worker_pools],
        "pricePerHour": _price(_usual_price(template, offer.way, setting.region)),
        "request": request(template, offer.way, setting, package, offer.cluster.name if offer.cluster else None),
    }


def _usual_price(template: JobTemplate, way: str, region: str) -> Decimal | None:
    """USD per hour of all machines at the usual replicas; None as soon as one price is unknown."""
    total = Decimal(0)
    for worker in template.worker_pools:
        each = hourly(worker.machine, region, worker.disk, way, accelerator=worker.accelerator)
        if each is None:
            return None
        total += each * template.replicas(worker)[1]
    return total


def _price(amount: Decimal | None) -> str | None:
    return None if amount is None else f"{amount:.4f}"
