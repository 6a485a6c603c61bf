"""What a cluster may become where its machines can't be had, and which ones are something else than was asked for
first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal

from slipway.catalog.clusters import Cluster, Pool
from slipway.cluster import IN_PLACE
from slipway.prices import Price, dollars, signed
from slipway.review.change import Change
from slipway.review.clusters.clusters import key_of, price
from slipway.review.clusters.succession import successions, told_pool
from slipway.review.consequence import Consequence, Grade
from slipway.review.kinds import KINDS
from slipway.review.words import Edit, named

_ALTERNATIVES = (Edit("alternatives", "", ""),)


def alternatives(change: Change) -> Iterator[Consequence]:
    """Of clusters that are to be made, what may be made instead; of the others, that the list has changed."""
    for one in successions(change):
        if one.new is None or one.new.alternative:
            continue
        listed, before = one.new.alternatives or (), (one.old.alternatives or ()) if one.old else ()
        is_made = not one.there and not (one.stays and not one.gone)
        if listed and is_made:
            may = [f"alternative {n}: {_words(one.new, pools)}" for n, pools in enumerate(listed, 1)]
            yield _told(
                one.name,
                f"`{one.name}` may become another one where its machines can't be had: {'; or '.join(may)}",
                None,
                float(max(_more(one.new, pools) for pools in listed)),
            )
        elif listed != before and one.stays:
            words = f"`{one.name}`: what may be made in its place changes; nothing that runs does"
            yield _told(one.name, words, Grade.CHANGE, 0)


def standing_alternatives(change: Change) -> Iterator[str]:
    """Clusters that are there as an alternative, and how to go back."""
    for one in change.new.clusters.values() if change.new else ():
        if one.alternative:
            where = "in the place of this one, which goes first" if one.replacement == IN_PLACE else "beside this one"
            yield (
                f"`{one.name}` is there as its alternative {one.alternative}, and stays until the stack file says "
                f"otherwise: take that out of `alternatives` to have it made as asked for first, {where}"
            )


def _told(name: str, words: str, grade: Grade | None, cost: float) -> Consequence:
    field = key_of(name, _ALTERNATIVES)
    return KINDS["cluster-may-become"].of(f"cluster {name}", words, grade=grade, field=field, cost=cost)


def _words(first: Cluster, pools: Mapping[str, Pool]) -> str:
    """`workers 1–4 a2-highgpu-8g, −$62.10/h idle`"""
    differs = (f"{name} {told_pool(pool)}" for name, pool in pools.items() if first.pools.get(name) != pool)
    more, idle = _more(first, pools), _idle(pools)
    known = idle.complete and price(first).complete
    return f"{named(differs)}, {signed(more) if known else dollars(idle)} idle"


def _more(first: Cluster, pools: Mapping[str, Pool]) -> Decimal:
    return _idle(pools).known - price(first).known


def _idle(pools: Mapping[str, Pool]) -> Price:
    return sum((pool.price_per_hour * pool.min for pool in pools.values()), Price())
