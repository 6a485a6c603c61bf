"""The effect of a change on a stack's budget: its limits, the share that the pools take, and the day it is spent."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from slipway.base.formatting import join, percent, usd
from slipway.google.catalog.lookup import groups_of
from slipway.model.budget import WARNS_AT, Budget
from slipway.model.catalog.model import Catalog
from slipway.model.facts import Facts
from slipway.model.findings.finding import Grade, Subject
from slipway.model.labels import TEAM
from slipway.model.machines.price_tables import HOURS_OF_A_MONTH
from slipway.model.prices import Price
from slipway.reviewing.change.change import Change
from slipway.reviewing.change.edits import Edit
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.money import Money, money
from slipway.reviewing.rules.table import by_row, moves
from slipway.reviewing.rules.words import named

_DAYS = HOURS_OF_A_MONTH / 24


def budgets(change: Change) -> Iterator[Consequence]:
    old, new = change.old.budget or Budget(), change.new.budget or Budget()
    if not change.first:
        yield from _limits(old, new, _teams(change.after), {*change.old.teams, *change.new.teams})
    if not change.unknown and new.stack:
        yield from _share(old, new, money(change), change.new)


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
            end = "-refused" if new.enforce and not of_user else "-warned"
            row = f"budget-{moves(was, now)}{'' if now is None else end}"
            if now is None and key != "stack" and new.stack is not None:
                row = "budget-dropped-within"
            elif key.startswith("teams.") and now is not None and teams and key.removeprefix("teams.") not in teams:
                row = "budget-for-nobody"
            elif now == 0 and end == "-refused":
                row = "budget-nothing"
            values: dict[str, Any] = {"who": who, "key": key, "before": edit.before, "after": edit.after}
            values |= {"teams": join(f"`{team}`" for team in sorted(teams)), "stack": usd(new.stack or 0)}
            values["field"] = f"slipway:{key}.budget" if key.partition("teams.")[2] in declared else ""
            freed = now is None and not of_user and old.enforce and not _in_words(new)
            yield by_row(row, Subject("budget", key), edits=[edit], grade=Grade.BLOCKING if freed else None, **values)
    if old.enforce != new.enforce and (new.enforce or _in_words(new)):
        edits = (Edit("enforce", str(old.enforce).lower(), str(new.enforce).lower()),)
        enforced = "budget-enforced" if _in_words(new) else "budget-enforced-on-nobody"
        row = enforced if new.enforce else "budget-only-warns"
        yield by_row(row, Subject("budget", "enforce"), edits=edits, limits=_in_words(new))


def _in_words(budget: Budget) -> str:
    limits = {"the stack's": budget.stack, **{f"team {name}'s": limit for name, limit in budget.teams.items()}}
    told = named(f"{whose} {usd(limit)}" for whose, limit in limits.items() if limit is not None)
    return told and f"{told} a month"


def _share(old: Budget, new: Budget, costs: Money, catalog: Catalog) -> Iterator[Consequence]:
    """Find a changed share that the pools take by themselves, and the day from which nothing can be sent."""
    before = _part(costs.idle.before, old.stack)
    idle, most = (_part(amount.after, new.stack) for amount in (costs.idle, costs.most))
    stops = new.enforce and idle > 1
    stopped = old.enforce and before > 1
    if before == idle and costs.most.before == costs.most.after and stops == stopped:
        return
    passes = next((mark for mark in (1, WARNS_AT) if before < mark <= idle), 0)
    clusters = (cluster for cluster in catalog.clusters.values() if not cluster.adopted)
    pools = (
        (pool.price_per_hour.known, pool.min, f"`{each.name}/{pool.name}`") for each in clusters for pool in each.pools
    )
    each, kept, pool = max(pools, key=lambda pool: pool[0] * pool[1], default=(0, 0, ""))
    monthly, spares = (float(amount) * HOURS_OF_A_MONTH for amount in (costs.idle.after.known, each))
    suffices = kept > 1 and monthly - spares * (kept - 1) <= (new.stack or 0) * (passes or 1)
    end = "-stops" if stops else {1: "-spent", WARNS_AT: "-warns"}.get(passes, "")
    yield by_row(
        f"budget-share{end}",
        Subject("budget", "share"),
        share=percent(idle),
        most=percent(most),
        day=int(_DAYS * (1 if stops else passes) / idle) + 1 if idle else 0,
        daily=usd(float(costs.idle.after.known) * 24),
        enough=usd(monthly / (passes or 1)),
        fewer=f", or keep fewer machines of {pool} ready, at {usd(spares)} a month each" if suffices else "",
        edits=(Edit("idle pools, of the budget", percent(before), percent(idle)),) if old.stack else (),
        grade=Grade.BLOCKING if stops and not stopped else Grade.WARNING if passes else None,
    )


def _part(price: Price, limit: float | None) -> float:
    return float(price.known) * HOURS_OF_A_MONTH / limit if limit else 0.0
