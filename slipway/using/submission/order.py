"""The order of a submission's offers, each with its wait: as its flags say, else as the template does. Pure."""

from __future__ import annotations

from slipway.base.errors import ConfigError
from slipway.base.formatting import join, nearest, quoted, short
from slipway.google.catalog.lookup import named
from slipway.model.capacity import CAPACITY_TYPES, POOL, WAIT_BY_THEMSELVES
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.template import Offer, Template
from slipway.using.submission.raced import raced
from slipway.using.submission.submission_request import SubmissionRequest


def in_order(
    catalog: Catalog, template: Template, offers: tuple[Offer, ...], asked: SubmissionRequest, barred_pool: str
) -> list[tuple[Offer, float | None]]:
    """Put the offers in order, each with its wait: as the flags say, else as the template does, for one shape in one
    region after the other. `barred_pool`: whose the pool is that is asked for, where the submission's team may not use
    it."""
    waits, then = asked.waits, asked.then
    if asked.race is not None:
        return raced(catalog, template, offers, asked)
    places = list(dict.fromkeys(map(_place, offers)))
    if asked.pool:
        return [(offer, None) for offer in _on_pool(template, offers, asked, barred_pool)]
    if asked.capacity_type is not None:
        of_type = named(template, offers, asked.capacity_type)
        if then or (set(waits) - WAIT_BY_THEMSELVES and _place(of_type[0]) == _place(of_type[-1])):
            raise nothing_after(asked)
        return [
            (offer, waits.get(offer.capacity_type, None if _place(offer) == _place(of_type[-1]) else offer.wait))
            for offer in of_type
        ]
    twice = [name for name in then if (name in waits and name not in WAIT_BY_THEMSELVES) or then.count(name) > 1]
    if twice:
        raise ConfigError(
            f"{join(dict.fromkeys(twice))} comes twice in {short(','.join(then))}", fix="name each type once"
        )
    flags = [*(name for name in waits if name not in then), *then]
    order = dict.fromkeys([*flags, *(then or (offer.capacity_type for offer in offers))])
    chosen = [
        offer for name in order for offer in named(template, offers, name, "then" if name in then else "wait_for")
    ]
    # What no flag names comes in each shape's own order.
    ranks = {name: -len(flags) + rank for rank, name in enumerate(flags)}
    chosen.sort(key=lambda offer: (places.index(_place(offer)), ranks.get(offer.capacity_type, offers.index(offer))))
    last, last_place = chosen[-1].capacity_type, _place(chosen[-1])
    if last in waits and last not in WAIT_BY_THEMSELVES and last_place == _place(chosen[0]):
        others = [
            offer.capacity_type for offer in offers if offer.capacity_type in CAPACITY_TYPES.keys() - order.keys()
        ]
        raise ConfigError(
            f"a wait for {last}, and there is nothing to move on to after it",
            why=f"{template.name} has {', '.join(dict.fromkeys(offer.capacity_type for offer in offers))}",
            fix=("name what comes then: ", {"wait_for": {last: "30m"}, "then": others[0] if others else "TYPE"}),
        )
    if endless := [name for name, seconds in waits.items() if seconds == 0 and name not in WAIT_BY_THEMSELVES]:
        raise ConfigError(
            f"invalid wait for {endless[0]}: 0",
            fix=f"only {join(sorted(WAIT_BY_THEMSELVES))} accepts 0 (wait forever)",
        )
    planned = [(offer, waits.get(offer.capacity_type, None if then else offer.wait)) for offer in chosen]
    # Nothing comes after the last type of the last place, so that only the service's own wait applies.
    end = None if last in WAIT_BY_THEMSELVES else (last, last_place)
    return [(offer, None if (offer.capacity_type, _place(offer)) == end else wait) for offer, wait in planned]


def _place(offer: Offer) -> tuple[str, str]:
    """Return what all capacity types are tried of, before the next of it: its shape, in its region."""
    return offer.shape, offer.region


def _on_pool(
    template: Template, offers: tuple[Offer, ...], asked: SubmissionRequest, barred_pool: str
) -> tuple[Offer, ...]:
    """Return the offer of the pool that is asked for, also while its cluster is away."""
    if asked.waits or asked.then:
        raise nothing_after(asked)
    if asked.capacity_type not in (None, POOL):
        raise ConfigError(
            f"pool {short(asked.pool)} has no machines of capacity type {short(asked.capacity_type or '')}",
            fix="give the pool or the capacity type",
        )
    fitting = tuple(
        offer
        for offer in offers
        if asked.pool in pools_of(offer) or (offer.dormant and asked.pool.startswith(f"{offer.dormant}/"))
    )
    if fitting:
        return fitting
    known = dict.fromkeys(pool for offer in offers for pool in pools_of(offer))
    raise ConfigError(
        f"{template.name} is not offered on pool {quoted(asked.pool)}",
        why=barred_pool or f"it fits {join(known, 'or') or 'no pool'}",
        fix=({"pool": nearest(asked.pool, known) or next(iter(known))},) if known else "leave it out",
    )


def pools_of(offer: Offer) -> tuple[str, ...]:
    """Return the pools of an offer: `cpu/workers`."""
    return tuple(dict.fromkeys(f"{offer.cluster}/{pool}" for pool in offer.pools if pool))


def nothing_after(asked: SubmissionRequest) -> ConfigError:
    only = f"pool {short(asked.pool)} is the only one" if asked.pool else ""
    only = only or f"capacity {short(asked.capacity_type or '')} is the only type"
    return ConfigError(
        f"{only} to use, so nothing can come after it",
        fix="name one type, or name several with their waits",
    )
