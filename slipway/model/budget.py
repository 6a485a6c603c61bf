"""A stack's budget, USD a month, and its spent part: as in its stack file, and as the last hourly run found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from math import inf
from typing import Annotated

from slipway.base.codec import As, Form
from slipway.base.formatting import percent, span, usd
from slipway.model.labels import label_value
from slipway.model.season import moment, moment_text

NAME = "history/budget.json"
"""The name of the ledger's object, in the catalog's bucket."""
WARNS_AT = 0.8
STALE = 3 * 3600.0
"""Seconds after which a ledger's age is shown even where nothing is wrong: runs are hourly."""

_Moment = Annotated[datetime, As(lambda text: moment(str(text)), moment_text, "a date and a time with its zone")]
_Usd = Annotated[float, Form(lambda amount: 0 <= amount < inf, "an amount")]
_Amounts = Annotated[Mapping[str, _Usd], Form(lambda some: len(some) <= 10_000, "at most 10,000 names")]


@dataclass(frozen=True)
class Budget:
    """USD a month: of the whole stack (None for no limit), by team and by user; a limit of 0 is spent at once.
    `enforce`: submissions beyond it are refused, for the stack and its teams; a user is self-declared, and only
    warned."""

    stack: _Usd | None = None
    teams: _Amounts = field(default_factory=dict)
    users: _Amounts = field(default_factory=dict)
    enforce: bool = False


@dataclass(frozen=True)
class Ledger:
    """USD of one month (`2026-11`, UTC) up to `at`. `spent`: by the stack, including idle machines; `forecast`: by the
    month's end, None where too little is known; not `complete`: some cost has no known price."""

    at: _Moment
    month: str
    spent: _Usd
    forecast: _Usd | None = None
    teams: _Amounts = field(default_factory=dict)
    users: _Amounts = field(default_factory=dict)
    complete: bool = True

    def about(self, now: datetime) -> bool:
        """Tell whether it is the present month's."""
        return self.month == month_of(now)

    def age(self, now: datetime) -> float:
        return max(0.0, (now - self.at).total_seconds())

    def at_least(self, other: Ledger) -> Ledger:
        """Return it with no spent amount below that of another ledger of its month."""
        if other.month != self.month:
            return self
        spent = max(self.spent, other.spent)
        return replace(
            self,
            spent=spent,
            forecast=None if self.forecast is None else max(self.forecast, spent),
            teams=_highest(self.teams, other.teams),
            users=_highest(self.users, other.users),
        )


@dataclass(frozen=True)
class BudgetShare:
    """A share of a budget: `whose` is `stack prod`, `team vision` or `user ada`. `enforced`: nothing is sent beyond
    it."""

    whose: str
    limit: float
    spent: float
    enforced: bool = False

    @property
    def share(self) -> float:
        return self.spent / self.limit if self.limit else inf if self.spent else 0.0

    @property
    def warns(self) -> bool:
        return self.share >= WARNS_AT

    @property
    def spent_up(self) -> bool:
        return self.spent >= self.limit

    @property
    def refuses(self) -> bool:
        return self.enforced and self.spent_up

    @property
    def words(self) -> str:
        """The share as text: `team vision has spent $27,600 of $30,000 this month, 92 %`, `team vision may spend
        nothing`"""
        if not self.limit:
            more = f", and has spent {usd(self.spent)} this month" if self.spent else ""
            return f"{self.whose} may spend nothing{more}"
        return f"{self.whose} has spent {usd(self.spent)} of {usd(self.limit)} this month, {percent(self.share)}"


def _highest(some: Mapping[str, float], others: Mapping[str, float]) -> dict[str, float]:
    return {name: max(some.get(name, 0.0), others.get(name, 0.0)) for name in sorted({*some, *others})}


def month_of(now: datetime) -> str:
    return f"{now:%Y-%m}"


def shares(budget: Budget, ledger: Ledger, stack: str, team: str, user: str) -> Iterator[BudgetShare]:
    """Yield the shares that a submission counts for, by its labels' user and team; the stack first."""
    if budget.stack is not None:
        yield BudgetShare(f"stack {stack}", budget.stack, ledger.spent, budget.enforce)
    for name, limit in budget.teams.items():
        if label_value(name) == team:
            yield BudgetShare(f"team {name}", limit, ledger.teams.get(team, 0.0), budget.enforce)
    for name, limit in budget.users.items():
        if label_value(name) == user:
            yield BudgetShare(f"user {name}", limit, ledger.users.get(user, 0.0))


def all_shares(budget: Budget, ledger: Ledger, stack: str) -> Iterator[BudgetShare]:
    """Yield each limit with its spent part: the stack's, then teams' and users'."""
    names = [
        ("", ""),
        *((label_value(one), "") for one in budget.teams),
        *(("", label_value(one)) for one in budget.users),
    ]
    seen = {one.whose: one for team, user in names for one in shares(budget, ledger, stack, team, user)}
    yield from seen.values()


def age_words(ledger: Ledger, now: datetime) -> str:
    """Return the ledger's age: `as of 40 min ago`."""
    return f"as of {span(ledger.age(now))} ago"
