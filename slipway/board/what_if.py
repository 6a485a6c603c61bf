"""A change of pools on the page: the result of a replay of the past, and each pool before and after. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

from slipway.catalog.model import Catalog
from slipway.cluster import ClusterSpec
from slipway.history.model import History
from slipway.whatif.comparison import Comparison, Replayer
from slipway.whatif.model import PoolStep, PoolUse
from slipway.whatif.report import ComparisonDocument, document, headline, notes, why_not

from .band import MOST_BANDS

_HOUR = timedelta(hours=1)
Machines = tuple[float, float]
"""All machines of a pool, and those held by jobs."""
Hour = tuple[datetime, Machines, Machines]
"""The beginning of an hour, and its machines before and after."""


@dataclass(frozen=True)
class Change:
    """Clusters before and after, with the name of each: `("as it is", "stacks/Pulumi.prod.yaml")`."""

    names: tuple[str, str]
    before: tuple[ClusterSpec, ...]
    after: tuple[ClusterSpec, ...]


@dataclass(frozen=True)
class DayOfChange:
    """Machine hours of a pool: `used` by jobs, and `idle`."""

    day: datetime
    used_before: float
    idle_before: float
    used_after: float
    idle_after: float


@dataclass(frozen=True)
class ChangedPool:
    """A pool before and after; `bounds` are empty where it does not exist. `hours` are means, each until the next one;
    `top`: the most machines that it had."""

    name: str
    machines: tuple[str, str]
    bounds: tuple[str, str]
    top: int
    hours: tuple[Hour, ...]
    days: tuple[DayOfChange, ...]


@dataclass(frozen=True)
class WhatIf:
    """A comparison as in `slipway what-if`. `why_not`: why it has no waits and no dollars, empty where it has; then
    there are no pools. `rests_on`: the basis of its figures."""

    names: tuple[str, str]
    headline: str
    why_not: str
    comparison: ComparisonDocument
    pools: tuple[ChangedPool, ...]
    pools_left_out: int
    rests_on: tuple[str, ...]


def what_if(change: Change, history: History, catalog: Catalog) -> WhatIf:
    """Return the result of a replay of the history's jobs."""
    found = Replayer.of(history, catalog).comparison(change.before, change.after)
    trusted = found.calibration.trusted
    pools = tuple(_pools(found)) if trusted else ()
    return WhatIf(
        change.names,
        headline(found),
        "" if trusted else why_not(found.calibration),
        document(found, history.stack),
        pools[:MOST_BANDS],
        len(pools[MOST_BANDS:]),
        tuple(notes(found)),
    )


def _pools(found: Comparison) -> Iterator[ChangedPool]:
    """Yield the old pools first, then new ones."""
    before, after = ({use.pool.label: use for use in one.pools} for one in found.replays)
    start = found.until - timedelta(seconds=found.replays[0].length)
    moments = list(_moments(found.since, found.until))
    seconds = [(one - start).total_seconds() for one in moments]
    for name in dict.fromkeys((*before, *after)):
        was, then = before.get(name), after.get(name)
        sides = (means(use.steps if use else (), seconds) for use in (was, then))
        hours = tuple(zip(moments[:-1], *sides, strict=True))
        yield ChangedPool(
            name,
            (_machine(was), _machine(then)),
            (_bounds(was), _bounds(then)),
            max((step.live for use in (was, then) if use for step in use.steps), default=0),
            tuple(_changes(hours)),
            tuple(_days(hours, moments)),
        )


def means(steps: Sequence[PoolStep], ends: Sequence[float]) -> list[Machines]:
    """Return the mean machines between each two moments, in seconds as in steps; none for an empty time."""
    sums = [(0.0, 0.0) for _ in ends[1:]]
    place = 0
    for step, following in pairwise((*steps, PoolStep(ends[-1], 0, 0))):
        at = max(step.since, ends[0])
        while at < following.since:
            while ends[place + 1] <= at:
                place += 1
            until = min(following.since, ends[place + 1])
            live, held = sums[place]
            sums[place] = live + step.live * (until - at), held + step.held * (until - at)
            at = until
    lengths = [end - begin for begin, end in pairwise(ends)]
    return [
        (live / length, held / length) if length else (0.0, 0.0)
        for (live, held), length in zip(sums, lengths, strict=True)
    ]


def _moments(since: datetime, until: datetime) -> Iterator[datetime]:
    """Yield the beginning of a time, each full hour in it, and its end."""
    yield since
    at = since.replace(minute=0, second=0, microsecond=0) + _HOUR
    while at < until:
        yield at
        at += _HOUR
    yield until


def _changes(hours: Iterable[Hour]) -> Iterator[Hour]:
    """Yield hours that differ from the one before."""
    last: tuple[Machines, ...] = ()
    for at, before, after in hours:
        rounded = _rounded(before), _rounded(after)
        if rounded != last:
            yield at, *rounded
        last = rounded


def _rounded(machines: Machines) -> Machines:
    return round(machines[0], 3), round(machines[1], 3)


def _days(hours: Sequence[Hour], moments: Sequence[datetime]) -> Iterator[DayOfChange]:
    days: dict[datetime, list[float]] = {}
    for (at, before, after), end in zip(hours, moments[1:], strict=True):
        day = days.setdefault(at.replace(hour=0, minute=0, second=0, microsecond=0), [0.0] * 4)
        for place, (live, held) in ((0, before), (2, after)):
            day[place] += held * ((end - at) / _HOUR)
            day[place + 1] += (live - held) * ((end - at) / _HOUR)
    for begin, sums in days.items():
        yield DayOfChange(begin, *(round(one, 3) for one in sums))


def _machine(use: PoolUse | None) -> str:
    return str(use.pool.machine) if use else ""


def _bounds(use: PoolUse | None) -> str:
    if use is None:
        return ""
    least, most = use.pool.bounds[-1].min, use.pool.bounds[-1].max
    return f"{least}–{most}" if least < most else str(most)
