"""Prices, in USD: sums that may lack parts, and the price book of machines and regions.

A price that the book lacks is left out of a sum, and the sum says so; nothing is guessed. Compute Engine's list prices
are tables beside `slipway.model.machines.price_tables`. Vertex AI's management fee is 15 % of Compute Engine's
on-demand price without local SSD, whatever the machine itself costs: so a pool and a job on demand cost 1.15 times that
price, a Spot job the Spot price and the fee. The table of flex-start has the fee in its prices; a machine that it lacks
costs at most its price on demand.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Annotated

from slipway.base.codec import As
from slipway.base.formatting import join
from slipway.model.capacity import CAPACITY_TYPES, FLEX_START, ON_DEMAND, POOL, CapacityType
from slipway.model.cluster import ClusterSpec
from slipway.model.machines.price_tables import HOURS_OF_A_MONTH, cell
from slipway.model.machines.spec import MachineGroup, MachineSpec, is_tpu
from slipway.model.machines.table import accelerator, accelerators, machine, machine_types

FEE = Decimal("0.15")
UNKNOWN_PRICE = "price unknown"
MORE = "and more"
NOTABLE = Decimal(10)
"""USD a month below which a cost is not mentioned."""
_SHARE, _MOST = Decimal("0.1"), Decimal(10 * HOURS_OF_A_MONTH)
"""The tolerated rise: this share of the price before, at most these USD."""
_LEAST = Decimal("0.0001")
"""USD below which a cost is not told in figures."""
_PER_GB = Decimal("0.0000001")


@dataclass(frozen=True)
class Price:
    """USD, mostly an hour."""

    #: The sum of the parts whose price is known.
    known: Decimal = Decimal(0)
    #: False where there are other parts.
    complete: bool = True
    #: Some part is only an upper bound.
    at_most: bool = False

    @property
    def unknown(self) -> bool:
        """True where no part is known."""
        return not self.complete and not self.known

    @property
    def kept(self) -> Price:
        """The price with a catalog's digits, so that what is built and what was deployed have the same sums."""
        return replace(self, known=self.known.quantize(_LEAST))

    def __add__(self, other: Price) -> Price:
        return Price(
            known=self.known + other.known,
            complete=self.complete and other.complete,
            at_most=self.at_most or other.at_most,
        )

    def __mul__(self, times: int | Decimal) -> Price:
        if not times:
            return Price()  # No machines cost nothing, whatever their price.
        return replace(self, known=self.known * times)


UNKNOWN = Price(complete=False)


def price_text(price: Price | None) -> str | None:
    """Return the known part of a price as catalogs have it: `1.1728`; None without any."""
    return None if price is None or price.unknown else f"{price.known:.4f}"


def exact_text(price: Price | None) -> str | None:
    """Return the known part of a price as JSON has it: `0.000123`; None without any."""
    return None if price is None or price.unknown else f"{price.known:.6f}".rstrip("0").rstrip(".")


Usd = Annotated[Price, As(lambda text: Price(Decimal(text)), exact_text, "USD as text")]
"""A price whose JSON is the known part alone."""


def dollars(amount: Price, *, per: str = "h", most: str = "at most") -> str:
    """Return `$1.31/h`, `at most $1.31/h`, `$1.31/h and more` where a part has no known price, `price unknown`."""
    words = f"${amount.known:,.2f}/{per}" if per else f"${amount.known:,.2f}"
    return UNKNOWN_PRICE if amount.unknown else bounded(words, amount, most)


def figure(amount: Price, digits: int = 2) -> str:
    """Return an amount in a column of USD: `1.17`, `1.17 and more`, `?`."""
    return "?" if amount.unknown else bounded(f"{amount.known:,.{digits}f}", amount)


def bounded(words: str, amount: Price, most: str = "at most") -> str:
    """Return an amount's known part as text, with `and more` or `at most` where that is not the price itself."""
    if not amount.complete:
        return f"{words} {MORE}"
    return f"{most} {words}" if amount.at_most else words


def spent(amount: Price) -> str:
    """Return the cost of a job, which may be little: `$0.0074`, `at most $12.50`, `price unknown`."""
    if amount.unknown:
        return UNKNOWN_PRICE
    words = f"${amount.known:.4f}" if amount.known < 1 else f"${amount.known:,.2f}"
    return bounded("under $0.0001" if 0 < amount.known < _LEAST else words, amount)


def signed(by: Decimal) -> str:
    """Return the change of a cost: `+$0.46/h`, `−$0.46/h`."""
    return f"{'−' if by < 0 else '+'}{dollars(Price(abs(by)))}"


def is_steep(before: Decimal, after: Decimal) -> bool:
    """Tell whether a rise is beyond a stack's tolerance; USD a month, or for a whole run."""
    return after - before >= NOTABLE and after - before > min(before * _SHARE, _MOST)


@dataclass(frozen=True)
class Bounds:
    """USD per hour: the cost of a pool or cluster when idle, and at most; both lack the same parts, if any."""

    floor: Price
    ceiling: Price

    @property
    def complete(self) -> bool:
        return self.floor.complete and self.ceiling.complete

    def __add__(self, other: Bounds) -> Bounds:
        return Bounds(self.floor + other.floor, self.ceiling + other.ceiling)


def hourly(spec: MachineSpec, region: str, capacity_type: str = POOL) -> Price:
    """Return USD per hour of one machine with its boot disk, of a capacity type, while it runs: waiting is not billed.

    Unknown where the book has no price for the machine, and always for a reservation, whose price is between you and
    Compute Engine; incomplete where its disk's is missing, and for accelerators attached to an N1 machine, whose prices
    the book lacks. For flex-start, an upper bound, the price on demand, where the book has none for a machine that
    flex-start offers.
    """
    if capacity_type not in CAPACITY_TYPES:
        raise ValueError(f"unknown capacity type {capacity_type!r}; one of {', '.join(CAPACITY_TYPES)}")
    machine_price = _machine(spec.type, region, CAPACITY_TYPES[capacity_type])
    at_most = machine_price is None and capacity_type == FLEX_START and _flex_start_gives(spec.type)
    if at_most:
        machine_price = _machine(spec.type, region, CAPACITY_TYPES[ON_DEMAND])
    if machine_price is None:
        return UNKNOWN
    per_gb = cell("disks", spec.disk.type, region)
    if per_gb is None:
        return Price(machine_price, complete=False, at_most=at_most)
    disk_price = spec.disk.size_gb * ((1 + FEE) * per_gb / HOURS_OF_A_MONTH).quantize(_PER_GB)
    return Price(machine_price + disk_price, complete=not _attached(spec), at_most=at_most)


def _attached(spec: MachineSpec) -> str:
    """Return the name of an N1 machine's accelerators, which the book lacks: the common one, or the API's."""
    if not spec.accelerator or not spec.type.startswith("n1-"):
        return ""
    return accelerator(spec.accelerator).model if spec.accelerator in accelerators() else spec.accelerator


_AREAS = (
    ("asia-southeast2", "indonesia"),
    ("us-", "northern-america"),
    ("northamerica-", "northern-america"),
    ("europe-", "europe"),
    ("asia-", "asia"),
    ("australia-", "oceania"),
    ("me-", "middle-east"),
    ("southamerica-", "latin-america"),
    ("africa-", "africa"),
)
"""The beginnings of regions' names, and their areas in the price list of data transfer; the first one counts."""


def per_gib(home: str, region: str) -> Decimal | None:
    """Return USD a GiB of a bucket in region `home` that is read in another one; None where no list has it."""
    bucket, reader = (next((area for start, area in _AREAS if name.startswith(start)), "") for name in (home, region))
    return cell("transfer", bucket, reader)


def crossing_price(home: str, regions: Iterable[str]) -> str:
    """Return `at $0.02 a GiB`, `at $0.02 to $0.08 a GiB`: the price of what jobs in these regions read from `home`."""
    prices = {per_gib(home, region) for region in regions}
    if None in prices:
        return "at a price by the GiB that no list here has"
    low, high = (f"${price}" for price in (min(filter(None, prices)), max(filter(None, prices))))
    return f"at {low if low == high else f'{low} to {high}'} a GiB"


def unpriced(machines: Iterable[MachineSpec]) -> str:
    """Return `without the T4s, whose price no list has` where `hourly` leaves accelerators out; else nothing."""
    names = dict.fromkeys(f"{name}s" for spec in machines if (name := _attached(spec)))
    return f"without the {join(names)}, whose price no list has" if names else ""


def dearest(amounts: Iterable[Price]) -> Price:
    """Return the highest price by its known part; complete only where all are."""
    prices = list(amounts)
    highest = max(prices, key=lambda price: price.known, default=Price())
    return replace(highest, complete=all(price.complete for price in prices))


def per_hour(machines: Iterable[MachineGroup], region: str, capacity_type: str = POOL) -> Price:
    """Return USD an hour of machines together, as `hourly` has each."""
    return sum((hourly(group.machine, region, capacity_type) * group.count for group in machines), Price())


def _flex_start_gives(type: str) -> bool:
    if is_tpu(type) or type not in machine_types():
        return False
    built_in = machine(type).accelerator
    return built_in is not None and accelerator(built_in).flex_start


def total(clusters: Iterable[ClusterSpec], region: str) -> Bounds:
    """Return floor and ceiling of clusters together, of a stack in this region."""
    bounds = Bounds(Price(), Price())
    for cluster in clusters:
        for pool in cluster.pools:
            each = hourly(pool.machine, cluster.region or region)
            bounds += Bounds(floor=each * pool.min, ceiling=each * pool.max)
    return bounds


def price_in_words(price: Bounds) -> str:
    """Return `$0.66/h idle, $1.97/h at most ($479 to $1,438 a month)`; `… and more` where a part has no known price."""
    if price.floor == price.ceiling:
        return f"{dollars(price.floor)}{_month(price.floor)}"
    floor, ceiling = Price(price.floor.known), Price(price.ceiling.known)
    words = f"{dollars(floor)} idle, {dollars(ceiling)} at most{_month(floor, ceiling)}"
    return words if price.complete else f"{words}, {MORE} for what has no known price"


def _month(*amounts: Price) -> str:
    if not any(amount.known for amount in amounts):
        return ""
    words = " to ".join(f"${amount.known * HOURS_OF_A_MONTH:,.0f}" for amount in amounts)
    return f" ({bounded(f'{words} a month', amounts[-1])})"


def _machine(type: str, region: str, row: CapacityType) -> Decimal | None:
    """Return USD per hour of the machine alone, the fee included."""
    price = None if row.price is None else cell(row.price, type, region)
    if price is None or row.with_fee:
        return price
    on_demand = cell("on-demand", type, region)
    return None if on_demand is None else price + FEE * on_demand
