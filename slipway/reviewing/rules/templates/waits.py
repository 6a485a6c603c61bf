"""Waits for an offer's machines: how long one is, and what follows it. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from slipway.model.capacity import FLEX_START, POOL, SPOT
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.template import Offer
from slipway.reviewing.change.usual import compete, costs, way
from slipway.reviewing.rules.templates.usage import TemplateChange

Offers = Mapping[str, Offer]


def patience(offer: Offer) -> float | None:
    """Return the seconds that a job waits for an offer's machines before it fails or goes elsewhere; None for no end.
    The service itself ends a flex-start job's wait, after a day where the request does not say."""
    if offer.capacity_type != FLEX_START:
        return offer.wait
    seconds = str(offer.spec.get("scheduling", {}).get("maxWaitDuration", "86400s")).removesuffix("s")
    service = float(seconds) or None if seconds.replace(".", "", 1).isdigit() else None
    return min((end for end in (offer.wait, service) if end is not None), default=None)


def after_wait(offer: Offer, after: Offers, catalog: Catalog) -> str:
    rest = rest_of(offer, after)
    if rest and (offer.wait is not None or offer.capacity_type == POOL):
        # A full pool without a wait is left at once, where there is another way.
        waits = [each.wait is not None or each.capacity_type == POOL for each in rest]
        then = rest[: [*waits, False].index(False) + 1]
        stay = "; there they wait for ever" if then == rest and rest[-1].capacity_type == POOL else ""
        return f"then they cost {costs(then, catalog)}{stay}"
    if offer.capacity_type == FLEX_START and patience(offer) is not None:
        return "then they fail, unpaid"
    return f"they go on to {way(rest[0])} only where quota lacks" if rest else "they can go nowhere else"


def rest_of(offer: Offer, after: Offers) -> list[Offer]:
    listed = [*after.values()]
    return [each for each in listed[listed.index(offer) + 1 :] if compete(each, offer) and each.available]


def loses_machine(template: TemplateChange, offer: Offer) -> str:
    return f"one that loses its machine {template.again}" if offer.capacity_type == SPOT else ""
