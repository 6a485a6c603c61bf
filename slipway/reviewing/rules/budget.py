"""The effect of a change on a stack's budget: its limits, and pools that spend it by themselves."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from itertools import accumulate
from math import ceil
from typing import Any

from slipway.base.formatting import join, percent, usd
from slipway.model.budget import WARNS_AT, Budget
from slipway.model.catalog.clusters import Cluster
from slipway.model.findings.finding import Grade, Subject
from slipway.model.prices import Price, bounded
from slipway.reviewing.change.change import Change
from slipway.reviewing.change.edits import Edit
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.clusters.cluster_change import price
from slipway.reviewing.rules.declared import compare, row_of
from slipway.reviewing.rules.resources.trainers import teams_counted
from slipway.reviewing.rules.table import by_row
from slipway.reviewing.rules.words import named

_MONTHS = 12


def budgets(change: Change) -> Iterator[Consequence]:
    old, new = change.old.budget or Budget(), change.new.budget or Budget()
    if not change.first:
        yield from _limits(old, new, change)
    if not change.unknown and new.enforce and new.stack:
        yield from _spent_by_pools(old, new.stack, change)


def _limits(old: Budget, new: Budget, change: Change) -> Iterator[Consequence]:
    """Find changed limits: a raised or dropped one removes the brake; a lowered one may stop people."""
    teams, declared = teams_counted(change.new), {*change.old.teams, *change.new.teams}
    leavers = {each.split(":")[-1].split("@")[0] for each in {*change.before.people} - {*change.after.people}}
    for path, was, now in compare(_by_path(old), _by_path(new)):
        key, subject = path.replace("/", "."), Subject("budget", path.replace("/", "."))
        whose, _, name = key.partition(".")
        if whose == "enforce":
            known, some = old.refusing, new.refusing
            limits = some if now else {whose: limit for whose, limit in some.items() if whose in known}
            # A first limit is told with what it refuses.
            if (known or not some) if now else limits:
                edits, nothing = (Edit(key, str(was).lower(), str(now).lower()),), now and 0 in limits.values()
                row, shuts = row_of(f"budget/{path}", was, now, "limited" * bool(limits)), Grade.BLOCKING
                yield by_row(row, subject, edits=edits, limits=_in_words(limits), grade=shuts if nothing else None)
            continue
        if now is None and (name in leavers if whose == "users" else whose == "teams" and teams and name not in teams):
            continue  # Nobody counts for it any more.
        edit = Edit(key, *("" if limit is None else usd(limit) for limit in (was, now)))
        nobody = whose == "teams" and teams and name not in teams
        # A user is self-declared, and never refused.
        refuses = new.enforce and whose != "users"
        left, user = new.enforce and _in_words(new.refusing), whose == "users"
        freed = now is None and not user and old.enforce and not left
        # Nobody of a new team could spend more before. A tenth less of what refuses may stop people.
        fresh = (team := change.new.teams.get(name)) and {*change.before.people}.isdisjoint(team.submitters)
        stops = now and (now <= was * (0.9 if refuses else 0.5) if was is not None else refuses and name and not fresh)
        # A user is only warned, and what grows by less than its double is no slip.
        milder = Grade.NOTE if was and ((user and (now or was) >= was) or was < (now or 0) < 2 * was) else None
        told: dict[str, Any] = {"key": key, "before": edit.before, "after": edit.after, "edits": [edit], "user": user}
        told |= {"refuses": refuses, "freed": freed, "left": "" if name else left, "enforced": new.enforce}
        told |= {"stack": usd(new.stack or 0), "within": name and new.stack is not None}
        told["over"] = refuses and name and now and new.stack is not None and now > new.stack
        # A team's limit may be here or in its entry.
        told |= {"declared": whose == "teams" and name in declared, "whole": not name and change.new.clusters}
        # A team that is none any more, whose label templates keep.
        told["gone"] = name * (whose == "teams" and name in declared - change.new.teams.keys())
        told["teams"] = join(f"`{team}`" for team in sorted(teams))
        row = row_of(f"budget/{path}", was, now, "nobody" if nobody else "refuses" if refuses else "")
        who = f"{whose.removesuffix('s').title()} {name}" if name else "The stack"
        grade = Grade.BLOCKING if freed else Grade.WARNING if stops else milder
        yield by_row(row, subject, who=who, grade=grade, **told)


def _by_path(budget: Budget) -> Mapping[str, float | None]:
    own = {
        f"{of}/{name}": some[name] for of, some in (("teams", budget.teams), ("users", budget.users)) for name in some
    }
    return {"stack": budget.stack, **own, "enforce": budget.enforce}


def _in_words(limits: Mapping[str, float]) -> str:
    told = named(f"{whose} {usd(limit)}" for whose, limit in limits.items())
    return told and f"{told} a month"


def _spent_by_pools(old: Budget, limit: float, change: Change) -> Iterator[Consequence]:
    """Find the first month in which pools newly spend an enforced budget by themselves, so that nothing can be sent at
    its end; else the dearest in which they nearly do."""
    month, spent = change.now.replace(day=1, hour=0, minute=0, second=0, microsecond=0), []
    for _ in range(_MONTHS):
        before, days = ([*_by_day(change, of.expected, month)] for of in (change.old, change.new))
        idle = sum(days, Price())
        part = 1 if idle.known > limit else WARNS_AT
        known = old.enforce and old.stack and sum(before, Price()).known > old.stack * part
        if idle.known > limit * part and not known:
            spent.append((idle, days, month))
        month = (month + timedelta(31)).replace(day=1)
    if spent:
        dearest = max(spent, key=lambda each: each[0].known)
        idle, days, month = next((each for each in spent if each[0].known > limit), dearest)
        share, sums = float(idle.known) / limit, accumulate(price.known for price in days)
        date = max(month + timedelta(sum(amount <= limit for amount in sums)), change.now)
        yield by_row(
            "budget-share",
            Subject("budget", "share"),
            share=bounded(percent(share), idle),
            date=f"{date:%Y-%m-%d}",
            month=f"{month:%B %Y}",
            enough=bounded(usd(ceil(dearest[0].known)), dearest[0]),
            left=f"{'' if idle.complete else 'at most '}{usd(limit - float(idle.known))}" if share < 1 else "",
            grade=Grade.WARNING if share < 1 else None,
        )


def _by_day(change: Change, clusters: Iterable[Cluster], month: datetime) -> Iterator[Price]:
    """Yield the USD that idle clusters cost on each day of a month, unless they are given up by then. Those without a
    beginning were there before, but for their idle limit."""
    for day in range(monthrange(month.year, month.month)[1]):
        at = month + timedelta(day)
        there = (each for each in clusters if each.season.includes(at) and not each.adopted)
        since = ((each, each.season.idle_limit, at - (each.season.begins or change.now)) for each in there)
        lasts = (each for each, limit, age in since if not limit or timedelta(-1) < age < limit)
        yield sum((price(each) * 24 for each in lasts), Price())
