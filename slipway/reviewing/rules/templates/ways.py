"""Ways to run that are left to jobs, in the order in which submissions try them, with their costs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from slipway.base.formatting import counted
from slipway.model.capacity import RESERVATION, SPOT
from slipway.model.catalog.model import Catalog, Offer
from slipway.reviewing.change.usual import by_hour
from slipway.reviewing.rules.templates.usage import whose


def compete(offer: Offer, other: Offer) -> bool:
    """Tell whether a submission may choose between two offers."""
    cases = (set(values) & set(other.when.get(name, values)) for name, values in offer.when.items())
    return offer.kind == other.kind and all(cases)


def cost(offer: Offer, catalog: Catalog) -> str:
    """Return `$63.92/h on Spot`, `Vertex AI's fee alone on the reservation (2 machines)`."""
    reserved = (each.machines for each in catalog.reservations.values() if each.path in str(offer.request))
    held = next(reserved, 0) if offer.capacity_type == RESERVATION else 0
    return f"{by_hour(offer)} ({counted(held, 'machine')})" if held else by_hour(offer)


def costs(offers: Iterable[Offer], catalog: Catalog) -> str:
    """Return the costs of one way after the other."""
    taken = {SPOT: ", which may be taken away"}
    return ", then ".join(f"{cost(offer, catalog)}{taken.get(offer.capacity_type, '')}" for offer in offers)


def without_cluster(catalog: Catalog, name: str) -> Iterator[str]:
    """Yield where the jobs of each template go while a cluster is away."""
    lines: dict[str, None] = {}
    for template in catalog.templates.values():
        for offer in template.offers:
            if offer.cluster == name and offer.available and offer.kind == template.kind:
                rest = [
                    each for each in template.offers if each.cluster != name and each.available and compete(each, offer)
                ]
                who = f"jobs of `{template.name}`{whose([offer], template)}"
                lines[f"{who} cost {costs(rest, catalog)}" if rest else f"{who} can go nowhere else"] = None
    yield from lines
