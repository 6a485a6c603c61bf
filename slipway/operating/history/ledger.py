"""The ledger of a budget: a stack's spending in a month, by the hourly reading of its history. Pure.

Each team and user counts for its jobs' machines, on pools and beside them; idle machines are the stack's alone, and
those of an adopted cluster its owner's. Where the number of machines was not recorded, it is that of jobs' machines,
and the ledger is not complete.
"""

from __future__ import annotations

import calendar
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from slipway.model.budget import Ledger, month_of
from slipway.model.prices import Price
from slipway.operating.history.charges import idle_charges, job_charges
from slipway.operating.history.model import History
from slipway.operating.history.timeline import timelines

LOOKED_AT = timedelta(days=7)
"""The last days, whose spending the forecast continues."""
_LEAST = timedelta(hours=6)


@dataclass(frozen=True)
class Spending:
    """USD of a time: in all, and by the names of teams and users."""

    total: Price
    teams: Mapping[str, Price]
    users: Mapping[str, Price]


def month_begins(now: datetime) -> datetime:
    return now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)


def ledger(history: History) -> Ledger:
    """Return the ledger of the month in which the history ends; the history must reach back to that month's
    beginning."""
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
    """Sum the spending between two moments, as `slipway.operating.history.usage` does, without what others pay for."""
    total, adopted = Price(), history.adopted
    teams, users = defaultdict[str, Price](Price), defaultdict[str, Price](Price)
    ours = (job for job in history.jobs if job.cluster_id not in adopted)
    for charge in job_charges(ours, begin, end, history.until):
        total += charge.cost
        for name, shares in ((charge.job.team, teams), (charge.job.user, users)):
            if name:
                shares[name] += charge.cost
    for idle in idle_charges(timelines(history), history.jobs, begin, end, history.until):
        total += idle.cost
    return Spending(total, dict(teams), dict(users))


def _forecast(history: History, spent: Price, begin: datetime, until: datetime) -> float | None:
    """Continue the last days' spending to the month's end; None at the month's very beginning, or the stack's."""
    known = (*(one.at for one in history.deployments), *(job.created for job in history.jobs if job.created))
    looked = min(LOOKED_AT, until - max(begin, history.since, min(known, default=begin)))
    if looked < _LEAST:
        return None
    days = calendar.monthrange(until.year, until.month)[1]
    left = begin + timedelta(days=days) - until
    lately = spending(history, until - looked, until).total
    return _usd(spent) + _usd(lately) * (left / looked)


def _usd(amount: Price) -> float:
    return round(float(amount.known), 6)
