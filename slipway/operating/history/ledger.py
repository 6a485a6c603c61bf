"""The ledger of a budget: a stack's spending in a month, by the hourly reading of its history. Pure.

Each team and user counts for its jobs' machines, on pools and beside them; idle machines are the stack's alone, and
those of an adopted cluster its owner's. Where the number of machines was not recorded, it is that of jobs' machines,
and the ledger is not complete.
"""

from __future__ import annotations

import calendar
from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime, timedelta

from slipway.model.budget import Ledger, month_of
from slipway.model.prices import Price
from slipway.operating.history.charges import idle_charges, job_charges
from slipway.operating.history.model import History
from slipway.operating.history.timeline import timelines

LOOKED_AT = timedelta(days=7)
"""The last days, whose spending the forecast continues."""
_LEAST = timedelta(hours=6)


def month_begins(now: datetime) -> datetime:
    return now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)


def ledger(history: History) -> Ledger:
    """Return the ledger of the month in which the history ends; the history must reach back to its beginning."""
    until = history.until
    begin = month_begins(until)
    total, teams, users = _spending(history, begin)
    return Ledger(
        at=until.replace(microsecond=0),
        month=month_of(until),
        spent=_usd(total),
        forecast=_forecast(history, total, begin, until),
        teams={name: _usd(amount) for name, amount in sorted(teams.items())},
        users={name: _usd(amount) for name, amount in sorted(users.items())},
        complete=total.complete and not history.unread,
    )


def _spending(history: History, begin: datetime) -> tuple[Price, Mapping[str, Price], Mapping[str, Price]]:
    """Sum the spending from a moment on, as `slipway.operating.history.usage` does, without adopted clusters: in all,
    and by the names of teams and users."""
    total, until = Price(), history.until
    clusters = (cluster for deployment in history.deployments for cluster in deployment.catalog.clusters.values())
    adopted = {cluster.id for cluster in clusters if cluster.adopted}
    teams, users = defaultdict[str, Price](Price), defaultdict[str, Price](Price)
    paid_jobs = (job for job in history.jobs if job.cluster_id not in adopted)
    for charge in job_charges(paid_jobs, begin, until, until):
        total += charge.cost
        if charge.job.team:
            teams[charge.job.team] += charge.cost
        if charge.job.user:
            users[charge.job.user] += charge.cost
    for idle in idle_charges(timelines(history), history.jobs, begin, until, until):
        total += idle.cost
    return total, teams, users


def _forecast(history: History, spent: Price, begin: datetime, until: datetime) -> float | None:
    """Continue the last days' spending to the month's end; None at the month's very beginning, or the stack's."""
    known = (
        *(deployment.at for deployment in history.deployments),
        *(job.created for job in history.jobs if job.created),
    )
    looked_at = min(LOOKED_AT, until - max(begin, history.since, min(known, default=begin)))
    if looked_at < _LEAST:
        return None
    days = calendar.monthrange(until.year, until.month)[1]
    remaining = begin + timedelta(days=days) - until
    lately, _, _ = _spending(history, until - looked_at)
    return _usd(spent) + _usd(lately) * (remaining / looked_at)


def _usd(amount: Price) -> float:
    return round(float(amount.known), 6)
