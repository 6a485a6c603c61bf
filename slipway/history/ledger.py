"""The ledger of a budget: what a stack has spent in a month, by the hour's look at its history. Pure.

Pools count for the machines that were up, and of those each team and user for what its jobs held: what nobody used is
the stack's alone. Beside the pools jobs count for what they cost. Where nobody recorded how many machines were up, it
is the least that were declared, and the ledger is not complete.
"""

from __future__ import annotations

import calendar
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from slipway.budget import Ledger, month_of
from slipway.history.model import History, PastJob
from slipway.history.timeline import PoolTimeline, timelines
from slipway.prices import Price

LOOKED_AT = timedelta(days=7)
"""The forecast goes on as these last days were."""
_LEAST = timedelta(hours=6)


@dataclass(frozen=True)
class Spending:
    """USD of a time: all of it, and the shares of teams and users by name."""

    total: Price
    teams: Mapping[str, Price]
    users: Mapping[str, Price]


def month_begins(now: datetime) -> datetime:
    return now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)


def ledger(history: History) -> Ledger:
    """Return the ledger of the month in which the history ends; it is to reach back to that month's beginning."""
    until, begin = history.until, month_begins(history.until)
    spent = spending(history, begin, until)
    return Ledger(
        until.replace(microsecond=0),
        month_of(until),
        _usd(spent.total),
        _forecast(history, spent.total, begin, until),
        {name: _usd(amount) for name, amount in sorted(spent.teams.items())},
        {name: _usd(amount) for name, amount in sorted(spent.users.items())},
        spent.total.complete and not history.unread,
    )


def spending(history: History, begin: datetime, end: datetime) -> Spending:
    """Sum what was spent between two moments."""
    total = sum((_pool_cost(one, begin, end) for one in timelines(history)), Price())
    teams, users = defaultdict[str, Price](Price), defaultdict[str, Price](Price)
    for job in history.jobs:
        part = _share(job, begin, end, history.until)
        if job.cost is None or not part:
            continue
        cost = job.cost * part
        if not job.cluster_id:
            total += cost
        if job.team:
            teams[job.team] += cost
        if job.user:
            users[job.user] += cost
    return Spending(total, dict(teams), dict(users))


def _pool_cost(pool: PoolTimeline, begin: datetime, end: datetime) -> Price:
    return sum(_span_costs(pool, begin, end), Price())


def _span_costs(pool: PoolTimeline, begin: datetime, end: datetime) -> Iterator[Price]:
    for span in pool.spans:
        hours = _hours(max(span.begin, begin), min(span.end, end))
        if hours:
            machines = span.live if span.live is not None else span.min or 0
            cost = pool.per_hour * (hours * machines)
            yield cost if span.live is not None else Price(cost.known, complete=False)


def _share(job: PastJob, begin: datetime, end: datetime, until: datetime) -> Decimal:
    """Return the share of a job's run between two moments; of one that goes on, up to now."""
    if job.started is None:
        return Decimal(0)
    ended = job.ended or until
    whole = _hours(job.started, ended)
    return min(Decimal(1), _hours(max(job.started, begin), min(ended, end)) / whole) if whole else Decimal(0)


def _hours(begin: datetime, end: datetime) -> Decimal:
    return Decimal(str(max(0.0, (end - begin).total_seconds()))) / 3600


def _forecast(history: History, spent: Price, begin: datetime, until: datetime) -> float | None:
    """Go on as in the last days, to the month's end; None at its very beginning."""
    looked = min(LOOKED_AT, until - max(begin, history.since))
    if looked < _LEAST:
        return None
    days = calendar.monthrange(until.year, until.month)[1]
    left = begin + timedelta(days=days) - until
    lately = spending(history, until - looked, until).total
    return _usd(spent) + _usd(lately) * (left / looked)


def _usd(amount: Price) -> float:
    return round(float(amount.known), 4)
