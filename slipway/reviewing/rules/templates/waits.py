"""Waits for an offer's machines, and the ways to run that follow. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import takewhile

from slipway.model.capacity import FLEX_START, PAID_ANYWAY, POOL, SPOT
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.template import Offer
from slipway.model.kinds import KINDS
from slipway.reviewing.change.usual import Offers, Way, as_kind, costs, whole_way, whose
from slipway.reviewing.rules.table import say
from slipway.reviewing.rules.templates.usage import TemplateChange, facts
from slipway.reviewing.rules.words import named


def patience(offer: Offer) -> float | None:
    """Return the seconds that a job waits for an offer's machines before it fails or goes elsewhere; None for no end.
    The service itself ends a flex-start job's wait, after a day where the request does not say."""
    if offer.capacity_type != FLEX_START:
        return offer.wait
    seconds = str(offer.spec.get("scheduling", {}).get("maxWaitDuration", "86400s")).removesuffix("s")
    service = float(seconds) or None if seconds.replace(".", "", 1).isdigit() else None
    return min((end for end in (offer.wait, service) if end is not None), default=None)


def behind(label: str, before: Offers, after: Offers) -> list[Offer]:
    """Return the available ways to run behind one that is there before: those that were not, and those after it."""
    sooner = {*takewhile(label.__ne__, before), label}
    ways = (each for other, each in after.beside(before[label]).items() if other not in sooner)
    return [each for each in ways if each.available]


def next_way(template: TemplateChange, ways: Sequence[Offer]) -> str:
    """Return what the first of the ways costs that come after one that goes."""
    return paid(template, next(iter(ways), None), follows=True)


def left(ways: Iterable[Way], catalog: Catalog, *, others: bool = False) -> str:
    """Return ``jobs of `score` have Spot left``, for templates that lose one of several ways to run.
    `others`: some of their jobs keep it."""
    by_rest: dict[str, dict[str, None]] = {}
    for template, offer, rest in ways:
        if rest:
            jobs = f"`{template.name}`{whose([offer], template)}{as_kind(offer, template)}"
            ways_left = named(dict.fromkeys(whole_way(replace(each, shape=""), catalog) for each in rest))
            by_rest.setdefault(ways_left, {})[jobs] = None
    return facts(*(say("ways-left", others=others, jobs=named(jobs), ways=rest) for rest, jobs in by_rest.items()))


def paid(template: TemplateChange, offer: Offer | None, *, follows: bool = False, before: Offer | None = None) -> str:
    """Return what a way to run costs, and what the loss of a Spot machine does where no checkpoint is kept. `before`:
    the way that jobs tried first so far."""
    price, spot = offer and costs(offer, template.becomes), offer and offer.capacity_type == SPOT
    left, stay = (each and (each.capacity_type == POOL or patience(each) is not None) for each in (before, offer))
    kind = offer and _kind_alone(template, offer)
    values = {"follows": follows, "costs": price, "kind": kind, "stay": left and not stay}
    return say("way-costs", anew=spot and not template.goes_on, **values)


def _kind_alone(template: TemplateChange, offer: Offer) -> str:
    """Return the words of the usual kind of job where another kind costs another sum by such a way."""
    alike = (
        each
        for each in template.new.offers
        if (each.capacity_type, each.shape, each.when) == (offer.capacity_type, offer.shape, offer.when)
    )
    differ = any(each.price_per_hour != offer.price_per_hour for each in alike if each.kind != offer.kind)
    usual = offer.kind == template.new.kind and offer.capacity_type not in PAID_ANYWAY
    return KINDS[offer.kind].words if usual and differ else ""
