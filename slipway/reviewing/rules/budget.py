"""The effect of a change on a stack's budget: its limits, and pools that spend it by themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from slipway.base.formatting import percent, usd
from slipway.model.budget import WARNS_AT, Budget
from slipway.model.catalog.model import Catalog
from slipway.model.findings.finding import Grade, Subject
from slipway.model.prices import Price, bounded, dearest
from slipway.model.season import Season
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
        before, after = ("" if limit is None else usd(limit) for limit in (was, now))
        nobody = whose == "teams" and teams and name not in teams
        # A user is self-declared, and never refused.
        user, refuses = whose == "users", new.enforce and whose != "users"
        freed = now is None and not user and old.enforce and not (new.enforce and new.refusing)
        # Nobody of a new team could spend more before. A tenth less of what refuses may stop people.
        fresh = (team := change.new.teams.get(name)) and {*change.before.people}.isdisjoint(team.submitters)
        stops = now and (now <= was * (0.9 if refuses else 0.5) if was is not None else refuses and name and not fresh)
        # A user is only warned, and what grows by less than its double is no slip.
        milder = Grade.NOTE if was and ((user and (now or was) >= was) or was < (now or 0) < 2 * was) else None
        row = row_of(f"budget/{path}", was, now, "nobody" if nobody else "refuses" if refuses else "")
        who = f"{whose.removesuffix('s').title()} {name}" if name else "The stack"
        grade = Grade.BLOCKING if freed else Grade.WARNING if stops else milder
        # A team's limit may be here or in its entry.
        field = "" if whose == "teams" and name in declared else f"slipway:budget.{key}"
        told: dict[str, Any] = {"before": before, "after": after, "edits": [Edit(key, before, after)]}
        yield by_row(row, subject, who=who, grade=grade, field=field, user=user, refuses=refuses, freed=freed, **told)


def _by_path(budget: Budget) -> Mapping[str, float | None]:
    own = {
        f"{of}/{name}": some[name] for of, some in (("teams", budget.teams), ("users", budget.users)) for name in some
    }
    return {"stack": budget.stack, **own, "enforce": budget.enforce}


def _in_words(limits: Mapping[str, float]) -> str:
    told = named(f"{whose} {usd(limit)}" for whose, limit in limits.items())
    return told and f"{told} a month"


def _spent_by_pools(old: Budget, limit: float, change: Change) -> Iterator[Consequence]:
    """Find pools that newly take an enforced budget by themselves in one of the next months, or nearly take it."""
    before = dearest(_by_month(change.old, change.now).values())
    months = _by_month(change.new, change.now)
    idle = dearest(months.values())
    part = 1 if idle.known > limit else WARNS_AT
    known = old.enforce and old.stack and before.known > old.stack * part
    if idle.known > limit * part and not known:
        taken = float(idle.known) / limit
        # What is nearly taken is not all of it yet.
        share = bounded(percent(taken if part == 1 else min(taken, 0.99)), idle)
        grade = Grade.WARNING if part < 1 else None
        month = next(month for month, price in months.items() if price.known == idle.known)
        yield by_row("budget-share", Subject("budget", "share"), share=share, month=month, over=part == 1, grade=grade)


def _by_month(catalog: Catalog, now: datetime) -> Mapping[str, Price]:
    """Return the USD that idle clusters cost in each of the next months, unless they are given up by then."""
    own = [each for each in catalog.expected if not each.adopted]
    months: dict[str, Price] = {}
    month = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    for _ in range(_MONTHS):
        end = (month + timedelta(31)).replace(day=1)
        paid = (price(each) * _hours(each.season, month, end, now) for each in own)
        months[f"{month:%B %Y}"] = sum(paid, Price())
        month = end
    return months


def _hours(season: Season, start: datetime, end: datetime, now: datetime) -> Decimal:
    """Return for how long an idle cluster is there, of a month. It was before, where its season has no beginning."""
    limit = season.idle_limit
    begins = season.begins or (now if limit else start)
    ends = min(season.ends or end, begins + limit if limit else end, end)
    return Decimal(max(ends - max(begins, start), timedelta(0)).total_seconds()) / 3600
