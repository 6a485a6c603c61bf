"""Offers that can't be had: why, what makes them available, and a template that has none left. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from slipway.base.formatting import join
from slipway.google.catalog.lookup import takers_of, usual_offers
from slipway.model.capacity import POOL, RESERVATION
from slipway.model.catalog.cases import renames
from slipway.model.catalog.template import Offer
from slipway.model.findings.finding import Grade
from slipway.reviewing.change.usual import misfits, reserved
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.table import say
from slipway.reviewing.rules.templates.usage import TemplateChange


def no_offer_left(template: TemplateChange) -> Iterator[Consequence]:
    old, new = template.old, template.new
    usual, at_all = usual_offers(new), any(offer.available for offer in new.offers)
    before = usual_offers(old, called=renames(old, new)) if at_all else old.offers
    runs = [offer for offer in before if offer.available]
    if not (template.is_new or runs) or any(offer.available for offer in usual) or misfits(new):
        return
    lost = usual if at_all else new.offers
    why = [*dict.fromkeys(why_not(offer, template) for offer in lost)]
    rests = any(each.dormant in template.becomes.dormant and not _barred_by(each, template) for each in lost)
    clusters = [(template.was.clusters.get(each.cluster), template.becomes.dormant.get(each.cluster)) for each in runs]
    announced = all(was and sleeps and was.season == sleeps.season for was, sleeps in clusters)
    yield template.tells(
        "no-offer-left",
        usual=at_all,
        so=why[0] if len(why) == 1 else "",
        details=[*(why if why[1:] else ()), *([] if template.is_new or at_all else [template.used.words()])],
        grade=Grade.WARNING if rests and announced else None,
    )


def _barred_by(offer: Offer, template: TemplateChange) -> Sequence[str]:
    """Return the teams of which no job is that may take an offer, and whose its cluster is."""
    owners = template.becomes.owners(offer.cluster or offer.dormant)
    return () if takers_of(template.becomes, template.new, offer) & {*owners} else owners


def closed(offer: Offer, template: TemplateChange) -> str:
    """Return why no job can start on an offer's reservation now; empty between its dates, and where it has none."""
    return next((each.closed(template.change.now) for each in reserved(offer, template.becomes)), "")


def why_not(offer: Offer, template: TemplateChange) -> str:
    cluster, held = template.becomes.dormant.get(offer.dormant), reserved(offer, template.becomes)
    return say(
        "offer-unavailable-why",
        on=offer.cluster or offer.dormant,
        owners=join(map("`{}`".format, _barred_by(offer, template))),
        cluster=cluster and cluster.name,
        # Until the deployment it lives, and no date has passed.
        idle=cluster and cluster.why == "idle",
        state=cluster and cluster.reason().state,
        lacks=offer.lacks_quota,
        why=offer.why,
        closed=closed(offer, template),
        held=held,
        reservation=offer.capacity_type == RESERVATION,
        unfit=offer.capacity_type == POOL and not offer.cluster,
        shape=offer.shape,
    )
