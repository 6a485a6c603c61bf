"""A small dated price book (list prices in USD), for the machines of the shipped stacks."""

from slipway.prices.book import UNKNOWN_PRICE, Bounds, dollars, hourly, pool_price, total

__all__ = ["UNKNOWN_PRICE", "Bounds", "dollars", "hourly", "pool_price", "total"]
