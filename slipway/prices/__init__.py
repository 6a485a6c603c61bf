"""A dated price book (list prices in USD) of the machines and regions that Slipway knows."""

from slipway.formatting import UNKNOWN_PRICE, dollars
from slipway.money import UNKNOWN, Price
from slipway.prices.book import Bounds, hourly, pool_price, price_in_words, total

__all__ = ["UNKNOWN", "UNKNOWN_PRICE", "Bounds", "Price", "dollars", "hourly", "pool_price", "price_in_words", "total"]
