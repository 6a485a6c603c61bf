"""The effect of a change on a stack's budget: its limits, and pools that spend it by themselves."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from slipway.base.formatting import join, percent, usd
from slipway.google.catalog.lookup import groups_of
from slipway.model.budget import Budget
from slipway.model.facts import Facts
from slipway.model.findings.finding import Grade, Subject
from slipway.model.labels import TEAM
from slipway.model.machines.price_tables import HOURS_OF_A_MONTH
from slipway.model.prices import Price
from slipway.reviewing.change.change import Change
from slipway.reviewing.change.edits import Edit
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.money import Money, money
from slipway.reviewing.rules.table import RowName, by_row, moves
from slipway.reviewing.rules.words import named

_ROWS: Mapping[tuple[str, bool], RowName] = {
    ("set", True): "budget-set-refused",
    ("set", False): "budget-set-warned",
    ("raised", True): "budget-raised-refused",
    ("raised", False): "budget-raised-warned",
    ("lowered", True): "budget-lowered-refused",
    ("lowered", False): "budget-lowered-warned",
}
"""By how a limit moves, and whether submissions beyond it are refused."""
_DAYS = HOURS_OF_A_MONTH / 24


def budgets(change: Change) -> Iterator[Consequence]:
    old, new = change.old.budget or Budget(), change.new.budget or Budget()
    if not change.first:
        yield from _limits(old, new, _teams(change.after), {*change.old.teams, *change.new.teams})
    if not change.unknown and new.stack:
        yield from _spent_by_pools(old, new, money(change))


def _teams(facts: Facts) -> frozenset[str]:
    """Return the teams that jobs may count for: the templates' own, the stack's, and the groups of other submitters."""
    offers = (offer for template in facts.catalog.templates.values() for offer in template.offers)
    own = (str((offer.request.get("labels") or {}).get(TEAM, "")) for offer in offers)
    return frozenset({*facts.catalog.teams, *own, *groups_of(facts.catalog, facts.people)} - {""})


def _limits(old: Budget, new: Budget, teams: frozenset[str], declared: Collection[str]) -> Iterator[Consequence]:
    """Find changed limits: a raised or dropped one removes the brake; a lowered one may stop people. `declared`: teams
    with an entry of their own in the stack file."""
    pairs = [("The stack", "stack", old.stack, new.stack)]
    for noun, before, after in (("team", old.teams, new.teams), ("user", old.users, new.users)):
        names = sorted({*before, *after})
        pairs += [(f"{noun.title()} {name}", f"{noun}s.{name}", before.get(name), after.get(name)) for name in names]
    for who, key, was, now in pairs:
        if was != now:
            edit = Edit(key, *("" if limit is None else usd(limit) for limit in (was, now)))
            # A user is self-declared, and never refused.
            of_user = key.startswith("users.")
            refuses = new.enforce and not of_user
            row: RowName = _ROWS.get((moves(was, now), refuses), "budget-dropped")
            if now is None and key != "stack" and new.stack is not None:
                row = "budget-dropped-within"
            elif key.startswith("teams.") and now is not None and teams and key.removeprefix("teams.") not in teams:
                row = "budget-for-nobody"
            elif now == 0 and refuses:
                row = "budget-nothing"
            values: dict[str, Any] = {"who": who, "key": key, "before": edit.before, "after": edit.after}
            values |= {"teams": join(f"`{team}`" for team in sorted(teams)), "stack": usd(new.stack or 0)}
            values["field"] = f"slipway:{key}.budget" if key.partition("teams.")[2] in declared else ""
            freed = now is None and not of_user and old.enforce and not _in_words(new)
            much_less = was is not None and now is not None and now <= was / 2
            grade = Grade.BLOCKING if freed else Grade.WARNING if much_less and now else None
            yield by_row(row, Subject("budget", key), edits=[edit], grade=grade, **values)
    if old.enforce != new.enforce and (new.enforce or _in_words(new)):
        edits = (Edit("enforce", str(old.enforce).lower(), str(new.enforce).lower()),)
        row = "budget-enforced" if _in_words(new) else "budget-enforced-on-nobody"
        row = row if new.enforce else "budget-only-warns"
        yield by_row(row, Subject("budget", "enforce"), edits=edits, limits=_in_words(new))


def _in_words(budget: Budget) -> str:
    limits = {"the stack's": budget.stack, **{f"team {name}'s": limit for name, limit in budget.teams.items()}}
    told = named(f"{whose} {usd(limit)}" for whose, limit in limits.items() if limit is not None)
    return told and f"{told} a month"


def _spent_by_pools(old: Budget, new: Budget, costs: Money) -> Iterator[Consequence]:
    """Find pools that newly spend an enforced budget by themselves, so that nothing can be sent at the month's end."""
    before, idle = _part(costs.idle.before, old.stack), _part(costs.idle.after, new.stack)
    if new.enforce and idle > 1 and not (old.enforce and before > 1):
        hourly = float(costs.idle.after.known)
        yield by_row(
            "budget-share",
            Subject("budget", "share"),
            share=percent(idle),
            day=int(_DAYS / idle) + 1,
            daily=usd(hourly * 24),
            enough=usd(hourly * HOURS_OF_A_MONTH),
        )


def _part(price: Price, limit: float | None) -> float:
    return float(price.known) * HOURS_OF_A_MONTH / limit if limit else 0.0
