"""Offers of machines of a job's own in several regions: one after the other, or all at once in a race. Pure."""

from __future__ import annotations

from dataclasses import replace

from slipway.base.errors import ConfigError
from slipway.base.formatting import join, nearest, quoted
from slipway.google.catalog.lookup import named
from slipway.model.capacity import PAID_ANYWAY, WAIT_BY_THEMSELVES
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.template import Offer, Template
from slipway.model.kinds import CUSTOM_JOB
from slipway.using.submission.submission_request import SubmissionRequest


def raced(
    catalog: Catalog, template: Template, offers: tuple[Offer, ...], asked: SubmissionRequest
) -> list[tuple[Offer, float | None]]:
    """Return the offer of a race in each of its regions, with its wait. Raises ConfigError."""
    regions = _regions(catalog, template, asked.race or ())
    own = [offer for offer in offers if offer.capacity_type not in PAID_ANYWAY]
    if asked.capacity_type is None and not own:
        raise ConfigError(
            f"{template.name} has no machines of its own to race for",
            why=f"it runs by {join(dict.fromkeys(offer.capacity_type for offer in offers))} alone",
            fix="have flex-start, spot or on-demand added to its capacity_types",
        )
    type_ = asked.capacity_type or own[0].capacity_type
    offer = named(template, offers, type_)[0]
    if type_ in PAID_ANYWAY or asked.pool or asked.then or set(asked.waits) - {*WAIT_BY_THEMSELVES & {type_}}:
        raise ConfigError(
            "a race is by one capacity type, on machines of its own",
            why="it waits for them in all of its regions at once, and moves on to nothing else",
            fix=({"template": template.name, "race": tuple(regions), "capacity": (own or [offer])[0].capacity_type},),
        )
    if offer.kind != CUSTOM_JOB.name:
        raise ConfigError(
            f"a {asked.kind or template.kind} can't race",
            why="only custom jobs have a launcher that ends all but the first before their code",
            fix=({"kind": CUSTOM_JOB.name},) if CUSTOM_JOB.name in template.kinds else ("leave out ", {"race": True}),
        )
    return [(_in_region(offer, region, catalog.region), asked.waits.get(type_)) for region in regions]


def in_regions(catalog: Catalog, template: Template, offers: tuple[Offer, ...]) -> tuple[Offer, ...]:
    """Return the offers with those of the template's other regions: of each shape behind all at home."""
    others = [region for region in template.regions or () if region != catalog.region]
    in_order = list[Offer]()
    for shape in dict.fromkeys(offer.shape for offer in offers) if others else ():
        at_home = [offer for offer in offers if offer.shape == shape]
        own = [offer for offer in at_home if offer.capacity_type not in PAID_ANYWAY]
        in_order += at_home + [_in_region(offer, region, catalog.region) for region in others for offer in own]
    return tuple(in_order) or offers


def _in_region(offer: Offer, region: str, home: str) -> Offer:
    """Return an offer in another region, whose quota the last deployment did not look at."""
    if offer.lacks_quota and region != home:
        return replace(offer, region=region, available=True, why="", lacks_quota=False)
    return replace(offer, region=region)


def _regions(catalog: Catalog, template: Template, asked: tuple[str, ...]) -> tuple[str, ...]:
    for region in asked:
        if region not in catalog.regions:
            raise ConfigError(
                f"stack {catalog.stack} has no place in region {quoted(region)}",
                why=f"jobs write their output in their own region, and it has buckets in {join(catalog.regions)}",
                fix=nearest(region, catalog.regions)
                or f"have it added: {catalog.origin.key('slipway:regions')}: [{region}]",
            )
    usual = (catalog.region, *template.regions) if template.regions else catalog.regions
    regions = tuple(dict.fromkeys(asked or usual))
    if len(regions) < 2:
        raise ConfigError(
            f"a race needs two regions, and this one has {join(regions)} alone",
            why=f"stack {catalog.stack} has buckets in {join(catalog.regions)}",
            fix=f"have others added: {catalog.origin.key('slipway:regions')}: [REGION]",
        )
    return regions
