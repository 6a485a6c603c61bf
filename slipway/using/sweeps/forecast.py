"""The forecast of a sweep's cost and time: the most that it may cost, by its machines' rates and their timeout; and the
usual range, by the permitted rate of sending and the times of earlier runs of its template. Pure; unknown parts are
left out and named, and nothing is guessed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Literal

from slipway.base.formatting import join, span
from slipway.google.jobs import VertexJob
from slipway.model.catalog.model import Catalog
from slipway.model.prices import Price, dollars
from slipway.using.jobs.earlier_jobs import FEWEST, SINCE, programs_of, run_times
from slipway.using.submission.candidate import Candidate
from slipway.using.submission.costs import RunTotal, amount, total_of


@dataclass(frozen=True)
class Share:
    """Runs of a sweep that need the same machines."""

    runs: int
    #: The cost of each.
    run: RunTotal
    #: The machines are a pool's, which are paid for anyway, but for those that it may have to add.
    on_pool: bool
    #: The most runs that the pool takes, None on machines of their own.
    at_once: int | None
    #: USD an hour for the machines that the pool may have to add for a run.
    grows: Price = field(default_factory=Price)

    @property
    def paid_anyway(self) -> bool:
        return self.on_pool and self.grows == Price()

    @property
    def bound(self) -> Price:
        """The most that the runs may cost beyond what is paid for anyway."""
        hourly = self.grows if self.on_pool else self.run.hourly
        return hourly * (Decimal(str(self.run.longest)) / 3600 * self.runs)

    @property
    def rounds(self) -> int:
        """The times that the pool is filled with runs, one after another."""
        return 1 if self.at_once is None else -(-self.runs // self.at_once)


@dataclass(frozen=True)
class Forecast:
    """Seconds and USD of all runs that are about to be sent, at least and at most, None where not known."""

    runs: int
    shares: tuple[Share, ...]
    seconds_to_send: float
    #: The reason why earlier runs can't be read; empty where they were.
    unread: str = ""

    @property
    def bound(self) -> Price:
        """The most that all runs may cost, each until its timeout, beyond what is paid for anyway."""
        return sum((share.bound for share in self.shares), Price())

    @property
    def earlier(self) -> int | None:
        counts = [share.run.times.count for share in self.shares if share.run.times]
        return sum(counts) if len(counts) == len(self.shares) else None

    @property
    def least_seconds(self) -> float | None:
        times = [(share.rounds, share.run.times.shortest) for share in self.shares if share.run.times]
        if self.earlier is None or not times:
            return None
        # The last run is sent at the end of the sending, and the rounds of a pool follow one another.
        last_sent = self.seconds_to_send + min(seconds for _, seconds in times)
        return max(last_sent, max(rounds * seconds for rounds, seconds in times))

    @property
    def most_seconds(self) -> float | None:
        """The time on whole pools, without anybody else's jobs; on machines of their own it is not known."""
        if self.earlier is None or any(share.at_once is None for share in self.shares):
            return None
        lasts = (share.rounds * share.run.times.longest for share in self.shares if share.run.times)
        return self.seconds_to_send + sum(lasts)

    @property
    def least_cost(self) -> Price | None:
        return self._cost(0)

    @property
    def most_cost(self) -> Price | None:
        return self._cost(1)

    def _cost(self, end: Literal[0, 1]) -> Price | None:
        """Return the sum of one end of each run's usual costs; None where that of some is not known."""
        if any(share.run.hourly.unknown for share in self.shares):
            return None
        costs = [(share.run.usual or (None, None))[end] for share in self.shares]
        known = [cost * share.runs for cost, share in zip(costs, self.shares, strict=True) if cost is not None]
        return sum(known, Price()) if len(known) == len(costs) else None


def share(catalog: Catalog, candidate: Candidate, runs: int, earlier: Iterable[VertexJob], now: datetime) -> Share:
    """Return the share of so many runs by the candidate; `earlier` are jobs of its template."""
    offer, demand, programs = candidate.offer, candidate.demand, programs_of(candidate.request.job)
    at_once, grows = None, Price()
    if offer.cluster:
        needs = Counter[str]()
        for part in demand.parts:
            needs[part.pool] += part.machines
        pools = {pool.name: pool for pool in catalog.clusters[offer.cluster].pools}
        at_once = min((max(1, pools[name].max // count) for name, count in needs.items() if name in pools), default=1)
        growing = ((pools[name], count) for name, count in needs.items() if name in pools)
        added = ((pool, min(count, pool.max - pool.min)) for pool, count in growing)
        grows = sum((pool.price_per_hour * count for pool, count in added if count), Price())
    return Share(
        runs=runs,
        run=total_of(catalog, candidate, run_times(earlier, offer.capacity_type, demand, now, programs)),
        on_pool=bool(offer.cluster),
        at_once=at_once,
        grows=grows,
    )


def bound_words(shares: Sequence[Share]) -> str:
    """Return `at most $3,084.40 for all 40 runs, as each ends after 7 days at the latest`."""
    runs = sum(share.runs for share in shares)
    paid = [share for share in shares if not share.paid_anyway]
    every = _every(runs)
    most = sum((share.bound for share in paid), Price())
    if not paid:
        return f"at most $0 for {every}, beyond the pools' own price"
    if most.unknown:
        return f"the most that {every} may cost is not known: no list has the price of such machines"
    words = f"{'at most ' if most.complete else ''}{amount(Price(most.known, most.complete))} for {every}"
    if any(share.on_pool for share in paid):
        words += ", where a pool grows for them"
    elif len(paid) < len(shares):
        words += ", of which those on pools cost nothing extra"
    latest = span(max(share.run.longest for share in paid))
    return f"{words}, as {'it' if runs == 1 else 'each'} ends after {latest} at the latest"


def _every(runs: int) -> str:
    return "the run" if runs == 1 else f"all {runs:,} runs"


def forecast_lines(forecast: Forecast) -> list[str]:
    """Return `each run: $0.25/h while it runs; 4–9 min (11 earlier runs in 30 days)`, the most that all runs may cost,
    and what is usual for all together."""
    lines = []
    if len(forecast.shares) == 1:
        (only,) = forecast.shares
        anyway = "paid for anyway" if only.paid_anyway else "paid for anyway where the pool need not grow for it"
        rate = f"{dollars(only.run.hourly)}{f', {anyway}' if only.on_pool else ' while it runs'}"
        lines = [f"each run: {rate}{f'; {only.run.times}' if only.run.times else ''}"]
    every = _every(forecast.runs)
    lines.append(bound_words(forecast.shares))
    if forecast.earlier is None:
        why = forecast.unread or f"fewer than {FEWEST} earlier runs on such machines succeeded in {SINCE.days} days"
        verbs = ("costs", "takes") if forecast.runs == 1 else ("cost", "take")
        return [*lines, f"what {every} usually {join(verbs)} is not known: {why}"]
    cost = _between(forecast.least_cost, forecast.most_cost)
    where = " of machine time on pools" if any(share.on_pool for share in forecast.shares) else ""
    return [*lines, f"{every}: {cost}{where}; {_how_long(forecast)}"]


def _how_long(forecast: Forecast) -> str:
    least, most = forecast.least_seconds, forecast.most_seconds
    assert least is not None, "asked only where earlier runs tell it"
    if most is None:
        return f"{span(least)} at least, as quota and machines allow"
    counts: Sequence[int] = [share.at_once for share in forecast.shares if share.at_once is not None]
    at_once = f"{counts[0]} at a time" if len(counts) == 1 and counts[0] < forecast.runs else ""
    alone = ", ".join(word for word in ("on the whole pool", at_once) if word)
    return f"{span(least)} to {span(most)} {alone}" if span(least) != span(most) else f"about {span(least)} {alone}"


def _between(least: Price | None, most: Price | None) -> str:
    if most is None:
        return "price unknown"
    if least is None:
        return f"at most {amount(Price(most.known, most.complete))}"
    low, high = amount(Price(least.known)), amount(most)
    return high if low == high else f"{low} to {high}"
