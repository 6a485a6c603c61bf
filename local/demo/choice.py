"""The template that the demo submits: the smallest of a stack's that this machine can run. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from vertex_local.images.recipes import recipe_for

from slipway.base.errors import ResourceError
from slipway.model.capacity import POOL
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.placeholders import fill
from slipway.model.catalog.template import Offer, Template
from slipway.model.kinds import CUSTOM_JOB
from slipway.model.machines.table import machine

USUAL = "dask-digits"


@dataclass(frozen=True)
class Choice:
    """A template with the parameters that it needs to run here, as `-p` takes them."""

    template: str
    parameters: tuple[str, ...] = ()


def choose(catalog: Catalog) -> Choice:
    """Return the default template, else the one of fewest CPUs. Raises ResourceError where none can run here."""
    judged = [(name, *_judged(template)) for name, template in catalog.templates.items()]
    fit = [(name != USUAL, cpus, name, offer) for name, _, offers in judged for cpus, offer in offers]
    if not fit:
        reasons = "; ".join(f"{name}: {why}" for name, why, _ in judged) or "it has no template"
        raise ResourceError(
            f"no template of stack {catalog.stack} can run on this laptop",
            why=reasons,
            fix="the stack is deployed: look at it (slipway templates, slipway pools); or name a small CPU template in "
            f"slipway:templates, such as {USUAL}",
        )
    *_, name, offer = min(fit, key=lambda item: item[:3])
    return Choice(name, tuple(f"{key}={values[0]}" for key, values in sorted(_unusual(catalog.templates[name], offer))))


def _judged(template: Template) -> tuple[str, list[tuple[int, Offer]]]:
    """Return why a template can't run here, and the offers by which it can, with their CPUs."""
    required = [parameter.name for parameter in template.parameters if parameter.required]
    if required:
        return f"needs {', '.join(required)}", []
    if template.kind != CUSTOM_JOB.name:
        return f"is a {template.kind}, and the demo plays custom jobs", []
    fitting, reasons = [], []
    for offer in template.offers:
        if offer.kind == CUSTOM_JOB.name and offer.capacity_type == POOL:
            why = _not_here(offer)
            reasons.append(why)
            if not why:
                fitting.append((_cpus(template, offer), offer))
    return (next(filter(None, reasons), "has no pool here")), fitting


def _not_here(offer: Offer) -> str:
    if not offer.available or not offer.cluster:
        return offer.why or "its pool is not there"
    for pool in filter(None, offer.spec["workerPoolSpecs"]):
        spec = pool["machineSpec"]
        if machine(spec["machineType"]).accelerator or spec.get("acceleratorType"):
            return f"its {spec['machineType']} have accelerators"
        image = pool.get("pythonPackageSpec", {}).get("executorImageUri") or pool["containerSpec"]["imageUri"]
        if recipe_for(image) is None:
            return f"there is no recipe for its image {image}"
    return ""


def _cpus(template: Template, offer: Offer) -> int:
    """Return the CPUs of all machines at the default parameters."""
    pools = filter(None, fill(offer.spec.get("workerPoolSpecs", []), _defaults(template)))
    return sum(machine(pool["machineSpec"]["machineType"]).vcpus * int(pool.get("replicaCount", 1)) for pool in pools)


def _unusual(template: Template, offer: Offer) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Yield the parameters that this offer needs at another value than the default."""
    usual = _defaults(template)
    return ((name, values) for name, values in offer.when.items() if usual.get(name) not in values)


def _defaults(template: Template) -> dict[str, Any]:
    """Return the default of each parameter; the templates that can run here need no other values."""
    return {parameter.name: parameter.default for parameter in template.parameters}
