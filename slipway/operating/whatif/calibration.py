"""The error of a replay of the stack as it was, against its past. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from slipway.base.formatting import percent
from slipway.operating.history.timeline import PoolTimeline
from slipway.operating.whatif.model import Replay

TOLERATED = 0.25
FEWEST = 10
NEGLIGIBLE = 30.0
"""Seconds: where average waits are shorter, errors are measured against this."""
_KNOWN = 0.8
"""The least share of a time for which samples must tell the number of machines, for a comparison."""


@dataclass(frozen=True)
class Calibration:
    """The error of a replay."""

    #: The area between the two distributions of waits, as a share of all waits, or the share of jobs that could not
    #: have run where that is more; None for fewer jobs than FEWEST.
    error: float | None
    #: The number of jobs that ran.
    jobs: int
    #: The error of the pools' machine hours; None where too few of them were recorded.
    machines: float | None = None

    @property
    def trusted(self) -> bool:
        return self.error is not None and max(self.error, self.machines or 0.0) <= TOLERATED

    @property
    def words(self) -> str:
        """The error as text: `6 % off what happened, in machine hours 3 %`"""
        if self.error is None:
            return f"too few jobs: {self.jobs}, of {FEWEST} at least"
        machines = "" if self.machines is None else f", in machine hours {percent(self.machines)}"
        return f"{percent(self.error)} off what happened{machines}"


def calibrate(replay: Replay, pools: Iterable[PoolTimeline] = ()) -> Calibration:
    """Compare a replay of the stack as it was with its past, and its pools with the recorded ones."""
    known = [run for run in replay.runs if run.job.counted and run.job.waited is not None]
    ran = [run for run in known if run.wait is not None]
    if len(known) < FEWEST:
        return Calibration(error=None, jobs=len(known))
    never = sum(run.route is None for run in known) / len(known)
    replayed = sorted(run.wait for run in ran if run.wait is not None)
    happened = sorted(run.job.waited for run in ran if run.job.waited is not None)
    area = sum(abs(wait - real) for wait, real in zip(replayed, happened, strict=True))
    whole = max(sum(happened), NEGLIGIBLE * len(ran))
    error = max(never, area / whole) if ran else 1.0
    return Calibration(error=error, jobs=len(known), machines=_machines(replay, pools))


def _machines(replay: Replay, pools: Iterable[PoolTimeline]) -> float | None:
    spans = [span for pool in pools for span in pool.spans]
    hours = sum(span.hours for span in spans)
    recorded = sum(span.hours for span in spans if span.live is not None)
    if not recorded or recorded < _KNOWN * hours:
        return None
    happened = sum(span.hours * span.live for span in spans if span.live is not None) * hours / recorded
    replayed = sum(use.live for use in replay.pools) / 3600
    return abs(replayed - happened) / happened if happened else None
