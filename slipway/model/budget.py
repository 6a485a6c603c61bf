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
_Amounts = Annotated[Mapping[str, _Usd], Form(lambda amounts: len(amounts) <= 10_000, "at most 10,000 names")]


@dataclass(frozen=True)
class Budget:
    """The limits of a stack file, USD a month. A limit of 0 is spent at once."""

    #: None for no limit.
    stack: _Usd | None = None
    teams: _Amounts = field(default_factory=dict)
    users: _Amounts = field(default_factory=dict)
    #: Submissions beyond a limit of the stack or of a team are refused. A user is self-declared, and only warned.
    enforce: bool = False

    @property
    def refusing(self) -> dict[str, float]:
        """The limits that refuse where they are enforced, by whose they are: `the stack's`, `team vision's`."""
        limits = {"the stack's": self.stack, **{f"team {name}'s": limit for name, limit in self.teams.items()}}
        return {whose: limit for whose, limit in limits.items() if limit is not None}


@dataclass(frozen=True)
class Ledger:
    """The USD that a stack, its teams and its users have spent in one month, up to a time."""

    at: _Moment
    #: `2026-11`, in UTC.
    month: str
    #: By the whole stack, idle machines included.
    spent: _Usd
    #: The stack's sum at the month's end; None where too little is known.
    forecast: _Usd | None = None
    teams: _Amounts = field(default_factory=dict)
    users: _Amounts = field(default_factory=dict)
    #: False where some cost has no known price.
    complete: bool = True

    def about(self, now: datetime) -> bool:
        """Tell whether this is the present month's ledger."""
        return self.month == month_of(now)

    def age(self, now: datetime) -> float:
        return max(0.0, (now - self.at).total_seconds())

    def at_least(self, other: Ledger) -> Ledger:
        """Return the ledger with no spent amount below that of another ledger of its month."""
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
    """A limit of a budget with its spent part."""

    #: `stack prod`, `team vision` or `user ada`.
    whose: str
    limit: float
    spent: float
    #: Nothing is sent beyond the limit.
    enforced: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of a stack file of which one sets the limit."""
        kind, _, name = self.whose.partition(" ")
        if kind == "team":
            return f"slipway:teams.{name}.budget", f"slipway:budget.teams.{name}"
        return (f"slipway:budget.{kind}",)

    @property
    def share(self) -> float:
        if self.limit:
            return self.spent / self.limit
        return inf if self.spent else 0.0

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
        """The share as text: `team vision has spent $27,600 of $30,000 this month, 92 %`."""
        if not self.limit:
            more = f", and has spent {usd(self.spent)} this month" if self.spent else ""
            return f"{self.whose} may spend nothing{more}"
        return f"{self.whose} has spent {usd(self.spent)} of {usd(self.limit)} this month, {percent(self.share)}"


def _highest(first: Mapping[str, float], second: Mapping[str, float]) -> dict[str, float]:
    return {name: max(first.get(name, 0.0), second.get(name, 0.0)) for name in sorted({*first, *second})}


def month_of(now: datetime) -> str:
    return f"{now:%Y-%m}"


def shares(
    budget: Budget, ledger: Ledger, stack: str, team: str | None = None, user: str | None = None
) -> Iterator[BudgetShare]:
    """Yield each limit with its spent part: the stack's, teams' and users', or those that a job's labels name."""
    if budget.stack is not None:
        yield BudgetShare(whose=f"stack {stack}", limit=budget.stack, spent=ledger.spent, enforced=budget.enforce)
    for name, limit in budget.teams.items():
        label = label_value(name)
        if team in (None, label):
            spent = ledger.teams.get(label, 0.0)
            yield BudgetShare(whose=f"team {name}", limit=limit, spent=spent, enforced=budget.enforce)
    for name, limit in budget.users.items():
        label = label_value(name)
        if user in (None, label):
            yield BudgetShare(whose=f"user {name}", limit=limit, spent=ledger.users.get(label, 0.0))


def age_words(ledger: Ledger, now: datetime) -> str:
    """Return the ledger's age: `as of 40 min ago`."""
    return f"as of {span(ledger.age(now))} ago"
