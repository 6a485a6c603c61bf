"""The ceiling of money and time for a journey on a real project. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from slipway.base.errors import PolicyError
from slipway.model.prices import Bounds

STORAGE_AND_CALLS = Decimal("0.05")
"""USD set aside for a few megabytes of storage and some hundred calls; far above what they cost."""


@dataclass(frozen=True)
class Budget:
    """The cost of a journey at most: `most` USD, with every pool at its maximum for the whole of `minutes`."""

    per_hour: Bounds
    minutes: int
    most: Decimal


def budget(per_hour: Bounds, minutes: int, max_usd: Decimal) -> Budget:
    """Return the most that a journey can cost. Raises PolicyError when that is unknown or above the ceiling."""
    if not per_hour.complete:
        raise PolicyError(
            "the price of the machines in this region is unknown",
            why="the price book lacks a part of them, so no ceiling of money could be kept",
            fix="choose REGION=us-central1, or make the price book anew: python -m journey.prices --help",
        )
    most = per_hour.ceiling.known * minutes / 60 + STORAGE_AND_CALLS
    if most > max_usd:
        raise PolicyError(
            f"{minutes} minutes may cost ${most:.2f}, the ceiling is ${max_usd:.2f}",
            why=f"the pools cost at most ${per_hour.ceiling.known:.2f} an hour",
            fix=f"allow it with MAX_USD={most:.2f}, or less time with MAX_MINUTES=…",
        )
    return Budget(per_hour, minutes, most)
