"""Look a price up. What the book does not hold is None, which is shown as "price unknown", never as a guess."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any

from slipway.cluster import ClusterSpec, Disk, PoolSpec
from slipway.rules import WAYS
from slipway.words import UNKNOWN_PRICE, dollars

__all__ = ["UNKNOWN_PRICE", "Bounds", "dollars", "hourly", "pool_price", "total"]


@dataclass(frozen=True)
class Bounds:
    """USD per hour: what a pool or cluster costs when idle, and at most."""

    floor: Decimal
    ceiling: Decimal


def hourly(
    machine_type: str, region: str, disk: Disk, way: str = "pool", *, accelerator: str | None = None
) -> Decimal | None:
    """USD per hour of one machine with its boot disk, got by `way`, while it runs: waiting is not billed.

    None where the book has no price, and always for a reservation, whose price is between you and Compute Engine.
    `accelerator` is one attached to the machine (N1), not one built in.
    """
    if way not in WAYS:
        raise ValueError(f"unknown way {way!r}; one of {', '.join(WAYS)}")
    column = WAYS[way].price
    shelf: Mapping[str, Any] = _book()["regions"].get(region, {"machines": {}, "disks": {}})
    if accelerator is not None and machine_type.startswith("n1-"):
        return None  # No price of an attached accelerator is in the book.
    machine = shelf["machines"].get(machine_type, {}).get(column)
    per_gb = shelf["disks"].get(disk.type, {}).get("perGb")
    if machine is None or per_gb is None:
        return None
    return Decimal(machine) + disk.size_gb * Decimal(per_gb)


def pool_price(pool: PoolSpec, region: str) -> Bounds | None:
    each = hourly(pool.machine_type, region, pool.disk, accelerator=pool.accelerator_type)
    return None if each is None else Bounds(floor=each * pool.min, ceiling=each * pool.max)


def total(clusters: Iterable[ClusterSpec], region: str) -> Bounds | None:
    """Floor and ceiling of clusters together; None as soon as one pool's price is unknown."""
    prices = [pool_price(pool, region) for cluster in clusters for pool in cluster.pools]
    known = [price for price in prices if price is not None]
    if len(known) < len(prices):
        return None
    zero = Decimal(0)
    return Bounds(sum((price.floor for price in known), zero), sum((price.ceiling for price in known), zero))


@cache
def _book() -> Mapping[str, Any]:
    book: Mapping[str, Any] = json.loads(files("slipway.prices").joinpath("book.json").read_text("utf-8"))
    return book
