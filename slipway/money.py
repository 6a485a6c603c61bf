"""A sum of money that may lack parts: what is known of it is never hidden by what is not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True)
class Price:
    """USD, mostly an hour. `known` is the sum of the parts whose price is known; not `complete`: there are others."""

    known: Decimal = Decimal(0)
    complete: bool = True

    @property
    def unknown(self) -> bool:
        """Nothing of it is known."""
        return not self.complete and not self.known

    def __add__(self, other: Price) -> Price:
        return Price(self.known + other.known, self.complete and other.complete)

    def __mul__(self, times: int | Decimal) -> Price:
        return Price(self.known * times, self.complete or not times)


UNKNOWN = Price(complete=False)


def total(prices: Iterable[Price]) -> Price:
    return sum(prices, Price())


def price_text(price: Price) -> str | None:
    """What is known of a price as catalogs have it: `1.1728`; None where that is nothing."""
    return None if price.unknown else f"{price.known:.4f}"
