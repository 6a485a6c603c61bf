"""A template's part of the catalog, and what its placements draw."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slipway.capacity import CAPACITY_TYPES
from slipway.live import JobReplicas
from slipway.money import Price, price_text, total
from slipway.prices import hourly
from slipway.quota import OfferDraw, OfferVerdict
from slipway.template.code import Image, Package
from slipway.template.compile import request
from slipway.template.job_template import JobTemplate
from slipway.template.jobspec import CompileContext
from slipway.template.parameter import Parameter
from slipway.template.proof import Placement
from slipway.template.worker_pool import WorkerPool, places


def draws(template: JobTemplate, placements: tuple[Placement, ...]) -> tuple[OfferDraw, ...]:
    """What each draws beside the pools at the usual replicas, for the quota verdict; by the placements' labels."""
    once: dict[str, Placement] = {}
    for placement in placements:
        once.setdefault(placement.label, placement)
    return tuple(_draw(template, placement) for placement in once.values())


def _draw(template: JobTemplate, placement: Placement) -> OfferDraw:
    row = CAPACITY_TYPES[placement.capacity_type]
    if placement.refusal or row.draws == "nothing":
        intended = placement.case.variant is not None and bool(placement.case.variant.refusal)
        return OfferDraw(template.name, placement.label, refusal=placement.refusal, intended=intended)
    times = template.trials_at_once(placement.kind)
    groups = tuple(
        JobReplicas(
            worker.machine,
            worker.shape.accelerator,
            worker.shape.accelerator_count,
            template.replicas(worker)[1] * times * worker.shape.vms,
            worker.disk,
        )
        for worker in placement.case.worker_pools(template)
    )
    return OfferDraw(
        template.name, placement.label, groups, preemptible=row.preemptible, doubtful=row.draws == "unknown"
    )


def template_entry(
    template: JobTemplate,
    placements: tuple[Placement, ...],
    verdicts: Mapping[str, OfferVerdict],
    context: CompileContext,
    packages: Mapping[Package, str],
) -> dict[str, Any]:
    """A template's part of the catalog. `verdicts` by the placements' labels, `packages` are names in the catalog
    bucket.

    Raises ConfigError when the official message type, or a rule of the service, rejects the template.
    """
    uris = {code: f"gs://{context.catalog_bucket}/{name}" for code, name in packages.items()}
    code = template.code
    return {
        "summary": template.summary,
        "kind": template.kind,
        "kinds": list(template.kinds),
        "package": uris[code] if isinstance(code, Package) else "",
        "image": code.uri if isinstance(code, Image) else "",
        "codeFlag": template.code_flag and context.code_allowed,
        "codeWhy": _code_refusal(template, context),
        "roles": _aligned(template.worker_pools, [worker.role for worker in template.worker_pools], ""),
        "parameters": [_parameter(parameter) for parameter in template.parameters],
        "study": _study(template),
        "offers": [_offer(template, placement, verdicts[placement.label], context, uris) for placement in placements],
    }


def _code_refusal(template: JobTemplate, context: CompileContext) -> str:
    """Who forbids --code, empty when nobody does."""
    if not template.code_flag:
        return f"template {template.name} does not allow it; its file would say code_flag=True"
    if not context.code_allowed:
        return f"stack {context.stack} does not allow it; its file would say slipway:workspace: {{code: true}}"
    return ""


def _parameter(parameter: Parameter) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": parameter.name, "type": parameter.type.__name__, "help": parameter.help}
    if parameter.default is not None:
        entry["default"] = parameter.default
    for bound, value in (("min", parameter.min), ("max", parameter.max)):
        if value is not None:
            entry[bound] = value
    return {**entry, "choices": list(parameter.choices)}


def _study(template: JobTemplate) -> dict[str, Any] | None:
    study = template.study
    if study is None:
        return None
    return {
        "maxTrials": study.max_trials,
        "parallelTrials": study.parallel_trials,
        "algorithm": study.algorithm,
        "metrics": [{"id": metric.id, "goal": metric.goal} for metric in study.metrics],
        "parameters": list(study.names()),
    }


def _offer(
    template: JobTemplate,
    placement: Placement,
    verdict: OfferVerdict,
    context: CompileContext,
    uris: Mapping[Package, str],
) -> dict[str, Any]:
    cluster, workers = placement.cluster, placement.case.worker_pools(template)
    price = _usual_price(template, placement, context.region)
    entry: dict[str, Any] = {"capacityType": placement.capacity_type, "kind": placement.kind}
    if cluster is not None:
        entry |= {"cluster": cluster.name, "pools": _aligned(workers, [pool.name for pool in placement.pools], "")}
    return entry | {
        "when": {name: list(values) for name, values in placement.case.when.items()},
        "wait": template.waits.get(placement.capacity_type),
        "available": verdict.available,
        "why": verdict.why,
        "lacksQuota": verdict.lacks_quota,
        "note": CAPACITY_TYPES[placement.capacity_type].differs,
        "roles": _aligned(workers, [worker.role for worker in workers], ""),
        "pricePerHour": price_text(price),
        "priceComplete": price.complete,
        "request": request(
            template,
            placement.capacity_type,
            context,
            uris,
            cluster.name if cluster else None,
            kind=placement.kind,
            case=placement.case,
            on=cluster,
            refused=bool(placement.refusal),
        ),
    }


def _aligned(workers: tuple[WorkerPool, ...], values: list[Any], gap: Any) -> list[Any]:
    """One value for each place in the request, `gap` where a worker pool is skipped."""
    at = dict(zip(places(workers), values, strict=True))
    return [at.get(place, gap) for place in range(max(at) + 1)]


def _usual_price(template: JobTemplate, placement: Placement, region: str) -> Price:
    """USD per hour of all machines at the usual replicas."""
    return total(
        hourly(worker.machine, region, worker.disk, placement.capacity_type, accelerator=worker.accelerator)
        * (template.replicas(worker)[1] * template.trials_at_once(placement.kind))
        for worker in placement.case.worker_pools(template)
    )
