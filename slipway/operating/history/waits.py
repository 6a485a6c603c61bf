"""Waits of jobs: the median, the worst of twenty, the longest. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Waits:
    """Seconds that jobs waited, None without any."""

    #: The number of jobs that ran.
    jobs: int = 0
    median: float | None = None
    p95: float | None = None
    longest: float | None = None

    @classmethod
    def of(cls, seconds: Iterable[float]) -> Waits:
        ordered = sorted(seconds)
        if not ordered:
            return cls()
        return cls(jobs=len(ordered), median=rank(ordered, 0.5), p95=rank(ordered, 0.95), longest=ordered[-1])


def rank(ordered: Sequence[float], share: float) -> float:
    """Return the smallest value that this share of the values does not exceed."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]
