"""The effect of a change on a stack's budget: its limits, the share that the pools take, and the day it is spent."""

from __future__ import annotations

from collections.abc import Iterator

from slipway.base.formatting import percent, usd
from slipway.model.budget import WARNS_AT, Budget
from slipway.model.findings.finding import Grade, Subject
from slipway.model.machines.price_tables import HOURS_OF_A_MONTH
from slipway.model.prices import Price
from slipway.reviewing.change.change import Change
from slipway.reviewing.change.edits import Edit
from slipway.reviewing.consequence import Consequence, consequence
from slipway.reviewing.rules.money import Money, money

_DAYS = HOURS_OF_A_MONTH / 24
_ENFORCE = {
    True: ("are refused", "until the next month, or until it is raised", Grade.NOTE),
    False: ("are sent all the same", "people are only warned", Grade.WARNING),
}


def budgets(change: Change) -> Iterator[Consequence]:
    old, new = change.old.budget or Budget(), change.new.budget or Budget()
    if not change.first:
        yield from _limits(old, new)
    if not change.unknown and new.stack:
        yield from _share(old, new, money(change))


def _limits(old: Budget, new: Budget) -> Iterator[Consequence]:
    """Find changed limits: a raised or dropped one removes the brake; a lowered one may stop people."""
    pairs = [("The stack", "stack", old.stack, new.stack)]
    for noun, before, after in (("team", old.teams, new.teams), ("user", old.users, new.users)):
        names = sorted({*before, *after})
        pairs += [(f"{noun.title()} {name}", f"{noun}s.{name}", before.get(name), after.get(name)) for name in names]
    for who, key, was, now in pairs:
        if was != now:
            looser = now is None or (was is not None and now > was)
            # A user is self-declared, and never refused.
            enforced = new.enforce and not key.startswith("users.")
            end = "submissions beyond that are refused" if enforced else "submissions beyond that are only warned of"
            yield consequence(
                "budget-changed",
                Subject("budget", key),
                _spends(was, now),
                who=who,
                so="nobody is warned or refused any more" if now is None else f"{end}, until the next month",
                instead=f"keep {usd(was or 0)}, and raise it when it is spent" if looser else "",
                edits=(Edit(key, *("" if limit is None else usd(limit) for limit in (was, now))),),
                grade=Grade.WARNING if looser else Grade.NOTE,
                field=f"slipway:budget.{key}",
            )
    if old.enforce != new.enforce:
        does, so, grade = _ENFORCE[new.enforce]
        yield consequence(
            "budget-changed",
            Subject("budget", "enforce"),
            does,
            who="Submissions beyond the budget of the stack or a team",
            so=so,
            instead="" if new.enforce else "keep `enforce: true`",
            edits=(Edit("enforce", str(old.enforce).lower(), str(new.enforce).lower()),),
            grade=grade,
            field="slipway:budget.enforce",
        )


def _spends(was: float | None, now: float | None) -> str:
    if now is None:
        return "may spend without a limit"
    return f"may spend {usd(now)} a month{'' if was is None else f' instead of {usd(was)}'}"


def _share(old: Budget, new: Budget, found: Money) -> Iterator[Consequence]:
    """Find a changed share that the pools take by themselves, and the day from which nothing can be sent."""
    before = _part(found.idle.before, old.stack)
    idle, most = (_part(amount.after, new.stack) for amount in (found.idle, found.most))
    stops = new.enforce and idle > 1
    stopped = old.enforce and before > 1
    if before == idle and found.most.before == found.most.after and stops == stopped:
        return
    so = f"with every pool at its maximum {percent(most)}"
    if stops:
        day, cost = int(_DAYS / idle) + 1, usd(float(found.idle.after.known) * 24)
        so = f"nothing can be sent from about day {day} of each month on; the pools go on costing {cost} a day"
    rises = idle > before and idle >= WARNS_AT
    yield consequence(
        "budget-share",
        Subject("budget", "share"),
        f"take {percent(idle)} of the budget by themselves",
        who="With nothing running the pools",
        so=so,
        instead="raise the budget, or lower the pools' `min`" if rises or stops else "",
        edits=(Edit("share of the pools", percent(before) if old.stack else "", percent(idle)),),
        grade=Grade.BLOCKING if stops and not stopped else Grade.WARNING if rises else None,
    )


def _part(price: Price, limit: float | None) -> float:
    return float(price.known) * HOURS_OF_A_MONTH / limit if limit else 0.0
