"""What a cluster may become where its machines can't be had, and which ones are something else than was asked for
first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from slipway.catalog.clusters import Cluster, Pool
from slipway.cluster import IN_PLACE
from slipway.cluster_fields import compare_pools, machines_in_words
from slipway.findings.finding import Finding, Grade
from slipway.prices import Price, dollars, signed
from slipway.review.change import Change
from slipway.review.clusters.clusters import price, told
from slipway.review.clusters.succession import successions
from slipway.review.words import Edit, named

Listed = tuple[tuple[Mapping[str, Pool], str], ...]
_ALTERNATIVES = (Edit("alternatives", "", ""),)


def alternatives(change: Change) -> Iterator[Finding]:
    """Tell what may be made instead of clusters that are to be made; and of the others, that the list has changed."""
    home = change.new.region if change.new else ""
    for one in successions(change):
        if one.new is None or one.new.alternative:
            continue
        listed, before = one.new.instead, one.old.instead if one.old else ()
        is_made = not one.there and not (one.stays and not one.gone)
        may = "; or ".join(_option(one.new, n, *option, home=home) for n, option in enumerate(listed, 1))
        edits = _ALTERNATIVES
        if listed and is_made:
            announced = alike(listed, _deployed(one.name, change))
            kind = "cluster-may-still-become" if announced else "cluster-may-become"
            words = f"`{one.name}` may become another one where its machines can't be had"
            words += f"{', as was announced' if announced else ''}: {may}"
            most = max((_idle(pools) for pools, _ in listed), key=lambda idle: idle.known)
            yield told(kind, one.name, words, edits=edits, cost=Price(most.known - price(one.new).known))
        elif listed != before and one.stays:
            words = f"`{one.name}`: what may be made in its place changes"
            far = f" ({may})" if any(region for _, region in (*before, *listed)) and may else ""
            words += f"{far}; nothing that runs does"
            yield told("cluster-may-become", one.name, words, grade=Grade.NOTE, edits=edits)


def standing_alternatives(change: Change) -> Iterator[str]:
    for one in change.new.clusters.values() if change.new else ():
        if one.alternative:
            where = "in the place of this one, which goes first" if one.replacement == IN_PLACE else "beside this one"
            far = f" in {one.region}, whose jobs' {_far(change.new.region)}" if change.new and one.region else ""
            yield (
                f"`{one.name}` is there as its alternative {one.alternative}{far}, and stays until the stack file says "
                f"otherwise: take that out of `alternatives` to have it made as asked for first, {where}"
            )


def _deployed(name: str, change: Change) -> Listed:
    if change.old is None:
        return ()
    known = change.old.clusters.get(name) or change.old.dormant.get(name)
    return known.instead if known else ()


def alike(listed: Listed, before: Listed) -> bool:
    """Tell whether these are the same machines in the same regions and order, whatever they cost by now."""
    if len(listed) != len(before):
        return False
    return all(
        region == old_region
        and pools.keys() == old.keys()
        and not any(compare_pools(name, old[name], pool) for name, pool in pools.items())
        for (pools, region), (old, old_region) in zip(listed, before, strict=True)
    )


def _option(first: Cluster, number: int, pools: Mapping[str, Pool], region: str, *, home: str) -> str:
    """`alternative 1: 1–4 a2-highgpu-8g, −$62.10/h idle`; `alternative 2 in us-east4: the same machines, …`"""
    if not region:
        return f"alternative {number}: {_words(first, pools)}"
    return f"alternative {number} in {region}: {_words(first, pools)}, {_far(home)}"


def _far(home: str) -> str:
    return f"data stays in {home} and crosses regions at a price"


def _words(first: Cluster, pools: Mapping[str, Pool]) -> str:
    differs = tuple(
        f"{name} {machines_in_words(pool)}"
        for name, pool in pools.items()
        if compare_pools(name, first.pools.get(name), pool)
    )
    first_idle, idle = price(first), _idle(pools)
    more = signed(idle.known - first_idle.known) if idle.complete and first_idle.complete else dollars(idle)
    return f"{named(differs) or 'the same machines'}, {more} idle"


def _idle(pools: Mapping[str, Pool]) -> Price:
    return sum((pool.price_per_hour * pool.min for pool in pools.values()), Price())
