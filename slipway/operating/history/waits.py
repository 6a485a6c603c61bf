"""Waits of jobs: the median, the worst of twenty, the longest; and those to expect by what was seen. Pure."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field


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


@dataclass(frozen=True)
class WaitCurve:
    """The share of jobs that had started after some time, by Kaplan and Meier: one that was given up before its start
    waited for at least as long."""

    #: Seconds until a start, in order, and the shares that had started by then.
    waits: list[float] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)

    @classmethod
    def of(cls, seen: Iterable[tuple[float, bool]]) -> WaitCurve:
        """`seen`: seconds, each with whether the job was given up."""
        curve, waiting, ordered = cls(), 1.0, sorted(seen)
        for place, (seconds, given_up) in enumerate(ordered):
            if not given_up:
                waiting *= 1 - 1 / (len(ordered) - place)
                curve.waits.append(seconds)
                curve.shares.append(1 - waiting)
        return curve

    def drawn(self, share: float, least: float = 0.0) -> float | None:
        """Return the wait that this share of the jobs that wait for at least so long stays below; None where none was
        seen."""
        begin = bisect_left(self.waits, least)
        waiting = 1 - self.shares[begin - 1] if begin else 1.0
        place = bisect_right(self.shares, 1 - (1 - share) * waiting, lo=begin)
        return self.waits[place] if place < len(self.waits) else None


def rank(ordered: Sequence[float], share: float) -> float:
    """Return the smallest value that this share of the values does not exceed."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]
