"""The effect of a change on a stack's budget: its limits, and pools that spend it by themselves."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import accumulate, product
from math import ceil
from typing import Any

from slipway.base.formatting import join, percent, usd
from slipway.model.budget import WARNS_AT, Budget
from slipway.model.catalog.clusters import Cluster
from slipway.model.findings.finding import Grade, Subject
from slipway.model.machines.price_tables import HOURS_OF_A_MONTH
from slipway.model.prices import Price, bounded, dearest
from slipway.model.season import ALWAYS
from slipway.reviewing.change.change import Change
from slipway.reviewing.change.edits import Edit
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.clusters.cluster_change import price
from slipway.reviewing.rules.declared import compare, row_of
from slipway.reviewing.rules.resources.trainers import teams_counted
from slipway.reviewing.rules.table import by_row
from slipway.reviewing.rules.words import named


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
        left, user = _in_words(new.refusing), whose == "users"
        freed = now is None and not user and old.enforce and not (left and new.enforce)
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
        told |= {"name": name, "teams": join(f"`{team}`" for team in sorted(teams))}
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
    """Find pools that newly spend an enforced budget by themselves, as they are or in a season to come, so that nothing
    can be sent at the month's end, or nearly so."""
    sides = [[each for each in of.expected if not each.adopted] for of in (change.old, change.new)]
    now = [[price(each) * HOURS_OF_A_MONTH for each in side if each.season == ALWAYS] for side in sides]
    begins = (max(each.season.begins or change.now, change.now) for each in sides[1] if each.season != ALWAYS)
    firsts = [datetime(day.year, day.month, 1, tzinfo=UTC) for day in begins]
    # A season that begins late in a month may spend only the next one's.
    months = sorted({(first + timedelta(days)).replace(day=1) for first in firsts for days in (0, 31, 62)})
    of_months = [(month, [[*_by_day(change, side, month)] for side in sides]) for month in months]
    longest = sum(now[1], Price()) * (Decimal(31 * 24) / HOURS_OF_A_MONTH)
    enough = dearest([longest, *(sum(days[1], Price()) for _, days in of_months)])
    for part, (month, days) in product((1, WARNS_AT), ((None, now), *of_months)):
        before, idle = (sum(prices, Price()) for prices in days)
        known = old.enforce and old.stack and before.known > old.stack * part
        if idle.known > limit * part and not known:
            share, sums = float(idle.known) / limit, accumulate(price.known for price in days[1])
            date = month and max(month + timedelta(sum(spent <= limit for spent in sums)), change.now)
            yield by_row(
                "budget-share",
                Subject("budget", "share"),
                share=bounded(percent(share), idle),
                date=f"{date:%Y-%m-%d}" if date else "",
                day=int(HOURS_OF_A_MONTH / 24 / share) + 1,
                month=f"{month:%B %Y}" if month else "",
                enough=bounded(usd(ceil(enough.known)), enough),
                left=f"{'' if idle.complete else 'at most '}{usd(limit - float(idle.known))}" if share < 1 else "",
                grade=Grade.WARNING if share < 1 else None,
            )
            return


def _by_day(change: Change, clusters: Iterable[Cluster], month: datetime) -> Iterator[Price]:
    """Yield the USD that idle clusters cost on each day of a month, from now on where nobody knows since when they are
    there, unless they are given up by then."""
    for day in range(monthrange(month.year, month.month)[1]):
        at = month + timedelta(day)
        known = (each for each in clusters if each.season.begins or at + timedelta(1) > change.now)
        there = (each for each in known if each.season.includes(at))
        lasts = ((each, each.season.idle_limit or timedelta.max, each.season.begins or change.now) for each in there)
        yield sum((price(each) * 24 for each, limit, since in lasts if at - since < limit), Price())
