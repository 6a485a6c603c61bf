"""Races of regions in a history: the region that won each, the wait for it, and the cost of the others. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from slipway.model.prices import Price, Usd
from slipway.operating.history.charges import JobCharge
from slipway.operating.history.model import PastJob
from slipway.operating.history.waits import Waits


@dataclass(frozen=True)
class RaceUsage:
    """The races of some jobs. Costs are in USD."""

    races: int
    #: By region, how many it won, the most first.
    won: Mapping[str, int]
    waits: Waits
    #: Of the winners.
    cost: Usd
    #: Of machines that came to the others, after the winner's and before they were cancelled: no code of theirs ran.
    late_cost: Usd


def lost_legs(jobs: Iterable[PastJob]) -> frozenset[str]:
    """Return the names of all legs of races but the one that ran, or that stands for a race without one."""
    by_race: dict[str, list[PastJob]] = {}
    for job in jobs:
        if job.race:
            by_race.setdefault(job.request_id, []).append(job)
    # A leg that comes too late ends at once, so that the longest run is the winner's.
    stands = {max(legs, key=lambda leg: (leg.started is not None, leg.busy or 0.0)).name for legs in by_race.values()}
    return frozenset(leg.name for legs in by_race.values() for leg in legs) - stands


def race_usage(jobs: Iterable[PastJob], charges: Iterable[JobCharge], lost: frozenset[str]) -> RaceUsage | None:
    """Return the races among these jobs, None without any. `lost`: as `lost_legs` returns them."""
    races = {job.name: job for job in jobs if job.race and job.name not in lost}
    if not races:
        return None
    won = [job for job in races.values() if job.started is not None]
    costs = {True: Price(), False: Price()}
    for charge in charges:
        if charge.job.race:
            costs[charge.job.name in lost] += charge.cost
    return RaceUsage(
        races=len(races),
        won=dict(Counter(job.region for job in won).most_common()),
        waits=Waits.of(job.waited for job in won if job.waited is not None),
        cost=costs[False],
        late_cost=costs[True],
    )
