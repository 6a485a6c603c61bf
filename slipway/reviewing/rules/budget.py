"""The effect of a change on a stack's budget: its limits, and the share of it that the pools take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from slipway.base.formatting import percent, usd
from slipway.model.budget import WARNS_AT, Budget
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.model.machines.price_tables import HOURS_OF_A_MONTH
from slipway.model.prices import Price
from slipway.reviewing.change.change import Change
from slipway.reviewing.rules.money import Money, money

_NONE = "no limit"
_FIELD = "slipway:budget"


def budgets(change: Change) -> Iterator[Finding]:
    if change.new is None or (change.before is None and change.unread):
        return
    old, new = change.old.budget if change.old else None, change.new.budget
    if change.old is not None:
        yield from _limits(old or Budget(), new or Budget())
    if new is not None and new.stack:
        yield from _share(new.stack, money(change))


def _limits(old: Budget, new: Budget) -> Iterator[Finding]:
    """Find changed limits: a raised or dropped one removes the brake; a lowered one may stop people."""
    pairs = [("the stack", "stack", old.stack, new.stack)]
    for noun, before, after in (("team", old.teams, new.teams), ("user", old.users, new.users)):
        pairs += [(f"{noun} {one}", f"{noun}s.{one}", before.get(one), after.get(one)) for one in _names(before, after)]
    for whose, key, was, now in pairs:
        if was != now:
            looser = now is None or (was is not None and now > was)
            words = f"The budget of {whose} becomes {_amount(now)}, from {_amount(was)}"
            yield _changed(key, words, Grade.WARNING if looser else Grade.NOTE)
    if old.enforce != new.enforce:
        words = "is refused" if new.enforce else "is sent all the same"
        grade = Grade.NOTE if new.enforce else Grade.WARNING
        yield _changed("enforce", f"What the stack or a team has no budget left for {words}", grade)


def _names(before: Mapping[str, float], after: Mapping[str, float]) -> list[str]:
    return sorted({*before, *after})


def _changed(key: str, words: str, grade: Grade) -> Finding:
    return KINDS["budget-changed"].of(Subject("budget", key), words, grade=grade, field=f"{_FIELD}.{key}")


def _share(limit: float, found: Money) -> Iterator[Finding]:
    """Find a changed share that the pools take by themselves."""
    if found.idle.before == found.idle.after and found.most.before == found.most.after:
        return
    before, idle, most = (_part(one, limit) for one in (found.idle.before, found.idle.after, found.most.after))
    rising = idle > before and idle >= WARNS_AT
    words = f"With nothing running the pools take {percent(idle)} of the budget of {_amount(limit)}"
    more = f" ({percent(before)} before), with every pool at its maximum {percent(most)}"
    yield KINDS["budget-share"].of(
        Subject("budget", "share"), words, more=more, grade=Grade.WARNING if rising else None
    )


def _part(price: Price, limit: float) -> float:
    return float(price.known) * HOURS_OF_A_MONTH / limit


def _amount(limit: float | None) -> str:
    return _NONE if limit is None else f"{usd(limit)} a month"
