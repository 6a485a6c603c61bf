"""How far a replay of the stack as it was is off what happened. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from slipway.whatif.model import Replay

TOLERATED = 0.25
FEWEST = 10
NEGLIGIBLE = 30.0
"""Seconds: of waits that are shorter on average, errors count against this."""


@dataclass(frozen=True)
class Calibration:
    """The error of a replay over `jobs` that ran: the area between the two distributions of waits, as a share of all
    that was waited, or the share of jobs that could not have run where that is more. None of fewer than FEWEST."""

    error: float | None
    jobs: int

    @property
    def trusted(self) -> bool:
        return self.error is not None and self.error <= TOLERATED


def calibrate(replay: Replay) -> Calibration:
    """Compare a replay of the stack as it was with what happened."""
    known = [one for one in replay.runs if one.job.counted and one.job.waited is not None]
    ran = [one for one in known if one.wait is not None]
    if len(known) < FEWEST:
        return Calibration(None, len(known))
    never = 1 - len(ran) / len(known)
    replayed = sorted(one.wait for one in ran if one.wait is not None)
    happened = sorted(one.job.waited for one in ran if one.job.waited is not None)
    apart = sum(abs(one - other) for one, other in zip(replayed, happened, strict=True))
    whole = max(sum(happened), NEGLIGIBLE * len(ran))
    return Calibration(max(never, apart / whole if ran else 1.0), len(known))
