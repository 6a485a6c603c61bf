"""Waits of jobs: the median, the worst of twenty, the longest. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Waits:
    """Seconds that jobs waited, None without any. `jobs`: the number that ran."""

    jobs: int = 0
    median: float | None = None
    p95: float | None = None
    longest: float | None = None

    @classmethod
    def of(cls, seconds: Iterable[float]) -> Waits:
        found = sorted(seconds)
        return cls(len(found), rank(found, 0.5), rank(found, 0.95), found[-1]) if found else cls()


def rank(ordered: Sequence[float], share: float) -> float:
    """Return the smallest value that this share of the values does not exceed."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]
