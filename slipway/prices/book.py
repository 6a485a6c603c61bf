"""Look a price up. What the book does not hold is left out of the sum, and the sum says so; nothing is guessed.

Compute Engine's list prices are beside this file, one table of machines by regions each. Vertex AI's management fee is
15 % of Compute Engine's on-demand price without local SSD, whatever the machine itself costs: so a pool and a job on
demand cost 1.15 times that price, a Spot job the Spot price and the fee. flex-start.csv has the fee in its prices.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path

from slipway.capacity import CAPACITY_TYPES, POOL, CapacityType
from slipway.cluster import ClusterSpec, PoolSpec
from slipway.formatting import MORE, dollars
from slipway.machines import MachineSpec
from slipway.money import UNKNOWN, Price

FEE = Decimal("0.15")
HOURS_OF_A_MONTH = 730
_PER_GB = Decimal("0.0000001")


@dataclass(frozen=True)
class Bounds:
    """USD per hour: what a pool or cluster costs when idle, and at most; both lack the same parts, if any."""

    floor: Price
    ceiling: Price

    @property
    def complete(self) -> bool:
        return self.floor.complete and self.ceiling.complete

    def __add__(self, other: Bounds) -> Bounds:
        return Bounds(self.floor + other.floor, self.ceiling + other.ceiling)


def hourly(machine: MachineSpec, region: str, capacity_type: str = POOL) -> Price:
    """USD per hour of one machine with its boot disk, of a capacity type, while it runs: waiting is not billed.

    Unknown where the book has no price for the machine, and always for a reservation, whose price is between you and
    Compute Engine; incomplete where its disk's is missing, and for accelerators attached to a machine (N1), of which
    the book has no prices.
    """
    if capacity_type not in CAPACITY_TYPES:
        raise ValueError(f"unknown capacity type {capacity_type!r}; one of {', '.join(CAPACITY_TYPES)}")
    alone = _machine(machine.type, region, CAPACITY_TYPES[capacity_type])
    if alone is None:
        return UNKNOWN
    per_gb = _cell("disks", machine.disk.type, region)
    attached = machine.accelerator is not None and machine.type.startswith("n1-")
    if per_gb is None:
        return Price(alone, complete=False)
    of_disk = machine.disk.size_gb * ((1 + FEE) * per_gb / HOURS_OF_A_MONTH).quantize(_PER_GB)
    return Price(alone + of_disk, complete=not attached)


def pool_price(pool: PoolSpec, region: str) -> Bounds:
    each = hourly(pool.machine, region)
    return Bounds(floor=each * pool.min, ceiling=each * pool.max)


def total(clusters: Iterable[ClusterSpec], region: str) -> Bounds:
    """Floor and ceiling of clusters together."""
    prices = (pool_price(pool, region) for cluster in clusters for pool in cluster.pools)
    return sum(prices, Bounds(Price(), Price()))


def price_in_words(price: Bounds) -> str:
    """`$0.66/h idle, $1.97/h at most`; `$1.17/h and more` where a part has no known price."""
    if price.floor == price.ceiling:
        return dollars(price.floor)
    words = f"{dollars(Price(price.floor.known))} idle, {dollars(Price(price.ceiling.known))} at most"
    return words if price.complete else f"{words}, {MORE} for what has no known price"


def _machine(type: str, region: str, row: CapacityType) -> Decimal | None:
    """USD per hour of the machine alone, the fee included."""
    price = None if row.price is None else _cell(row.price, type, region)
    if price is None or row.with_fee:
        return price
    on_demand = _cell("on-demand", type, region)
    return None if on_demand is None else price + FEE * on_demand


def _cell(table: str, row: str, region: str) -> Decimal | None:
    columns, rows = _table(table)
    if region not in columns or row not in rows:
        return None
    text = rows[row].split(",")[columns[region]]
    return Decimal(text) if text else None


@cache
def _table(name: str) -> tuple[Mapping[str, int], Mapping[str, str]]:
    """Columns by their heads, and lines by their first cell: of a hundred lines one or two are asked for."""
    text = Path(__file__).with_name(f"{name}.csv").read_text("utf-8")
    head, *lines = [line for line in text.splitlines() if not line.startswith("#")]
    return {column: at for at, column in enumerate(head.split(","))}, {line.partition(",")[0]: line for line in lines}
