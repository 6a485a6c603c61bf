"""A template's part of the catalog, and what its ways draw."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slipway.live import JobReplicas
from slipway.money import Price, price_text, total
from slipway.prices import hourly
from slipway.quota import WayDraw, WayVerdict
from slipway.rules import WAYS
from slipway.template.code import Image, Package
from slipway.template.compile import Setting, request
from slipway.template.model import JobTemplate
from slipway.template.parameter import Parameter
from slipway.template.proof import Offer
from slipway.template.worker_pool import POSITIONS, WorkerPool, places


def draws(template: JobTemplate, offers: tuple[Offer, ...]) -> tuple[WayDraw, ...]:
    """What each way draws beside the pools at the usual replicas, for the quota verdict; by the offers' labels."""
    once: dict[str, Offer] = {}
    for offer in offers:
        once.setdefault(offer.label, offer)
    return tuple(_draw(template, offer) for offer in once.values())


def _draw(template: JobTemplate, offer: Offer) -> WayDraw:
    way = WAYS[offer.way]
    if offer.refusal or way.draws == "nothing":
        intended = offer.case.variant is not None and bool(offer.case.variant.refusal)
        return WayDraw(template.name, offer.label, refusal=offer.refusal, intended=intended)
    times = template.trials_at_once(offer.kind)
    groups = tuple(
        JobReplicas(
            worker.machine,
            worker.shape.accelerator,
            worker.shape.accelerator_count,
            template.replicas(worker)[1] * times * worker.shape.vms,
            worker.disk,
        )
        for worker in offer.case.worker_pools(template)
    )
    return WayDraw(template.name, offer.label, groups, preemptible=way.preemptible, doubtful=way.draws == "unknown")


def template_entry(
    template: JobTemplate,
    offers: tuple[Offer, ...],
    verdicts: Mapping[str, WayVerdict],
    setting: Setting,
    packages: Mapping[Package, str],
) -> dict[str, Any]:
    """A template's part of the catalog. `verdicts` by the offers' labels, `packages` are names in the catalog bucket.

    Raises ConfigError when the official message type, or a rule of the service, rejects the template.
    """
    uris = {code: f"gs://{setting.catalog_bucket}/{name}" for code, name in packages.items()}
    code = template.code
    return {
        "summary": template.summary,
        "kind": template.kind,
        "kinds": list(template.kinds),
        "package": uris[code] if isinstance(code, Package) else "",
        "image": code.uri if isinstance(code, Image) else "",
        "codeFlag": template.code_flag and setting.code_allowed,
        "codeWhy": _code_refusal(template, setting),
        "roles": _aligned(template.worker_pools, [worker.role for worker in template.worker_pools], ""),
        "positions": list(POSITIONS[: places(template.worker_pools)[-1] + 1]),
        "parameters": [_parameter(parameter) for parameter in template.parameters],
        "waits": dict(template.waits),
        "study": _study(template),
        "ways": [_way(template, offer, verdicts[offer.label], setting, uris) for offer in offers],
        "maxReplicas": template.max_replicas,
        "timeoutSeconds": template.timeout_s,
        "outputs": list(template.outputs),
    }


def _code_refusal(template: JobTemplate, setting: Setting) -> str:
    """Who forbids --code, empty when nobody does."""
    if not template.code_flag:
        return f"template {template.name} does not allow it; its file would say code_flag=True"
    if not setting.code_allowed:
        return f"stack {setting.stack} does not allow it; its file would say slipway:workspace: {{code: true}}"
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


def _way(
    template: JobTemplate,
    offer: Offer,
    verdict: WayVerdict,
    setting: Setting,
    uris: Mapping[Package, str],
) -> dict[str, Any]:
    cluster, workers = offer.cluster, offer.case.worker_pools(template)
    price = _usual_price(template, offer, setting.region)
    entry: dict[str, Any] = {"way": offer.way, "kind": offer.kind}
    if cluster is not None:
        entry |= {"cluster": cluster.name, "pools": _aligned(workers, [pool.name for pool in offer.pools], "")}
    return entry | {
        "when": {name: list(values) for name, values in offer.case.when.items()},
        "wait": template.waits.get(offer.way),
        "available": verdict.available,
        "why": verdict.why,
        "lacksQuota": verdict.lacks_quota,
        "note": WAYS[offer.way].differs,
        "roles": _aligned(workers, [worker.role for worker in workers], ""),
        "replicas": _aligned(workers, [worker.replicas for worker in workers], 0),
        "pricePerHour": price_text(price),
        "priceComplete": price.complete,
        "request": request(
            template,
            offer.way,
            setting,
            uris,
            cluster.name if cluster else None,
            kind=offer.kind,
            case=offer.case,
            on=cluster,
            refused=bool(offer.refusal),
        ),
    }


def _aligned(workers: tuple[WorkerPool, ...], values: list[Any], gap: Any) -> list[Any]:
    """One value for each place in the request, `gap` where a worker pool is skipped."""
    at = dict(zip(places(workers), values, strict=True))
    return [at.get(place, gap) for place in range(max(at) + 1)]


def _usual_price(template: JobTemplate, offer: Offer, region: str) -> Price:
    """USD per hour of all machines at the usual replicas."""
    return total(
        hourly(worker.machine, region, worker.disk, offer.way, accelerator=worker.accelerator)
        * (template.replicas(worker)[1] * template.trials_at_once(offer.kind))
        for worker in offer.case.worker_pools(template)
    )
