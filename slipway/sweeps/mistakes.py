"""What is wrong with a sweep's runs: each mistake once, with its place, and all of them in one error. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from slipway.errors import ConfigError

SHAPE = "grid: {NAME: [VALUE, …], …}, or list: [{NAME: VALUE, …}, …], or a CSV with names in its first line"

_SHOWN = 100
"""Nobody corrects more of them at a time, and a terminal keeps them."""


@dataclass(frozen=True)
class Mistake:
    """`place` is `grid.yaml:3:14` (line and column, both from 1), `grid.yaml` for the whole file, or `run 3`."""

    place: str
    what: str
    fix: str = SHAPE

    def __str__(self) -> str:
        return f"{self.place}: {self.what}"


def refusal(source: str, mistakes: Sequence[Mistake], head: str = "") -> ConfigError:
    """The error for at least one mistake in `source`, by their lines and columns. A single one stands by itself, unless
    `head` says what it spoils."""
    mistakes = sorted(
        mistakes, key=lambda one: [int(number) for number in one.place.split(":")[1:] if number.isdigit()]
    )
    fix = "\n".join(dict.fromkeys(one.fix for one in mistakes))
    if len(mistakes) == 1 and not head:
        return ConfigError(str(mistakes[0]), fix=fix)
    more = [f"… and {len(mistakes) - _SHOWN:,} more"] if len(mistakes) > _SHOWN else []
    why = "\n".join([*map(str, mistakes[:_SHOWN]), *more])
    return ConfigError(head or f"{source}: {len(mistakes):,} mistakes", why=why, fix=fix)
