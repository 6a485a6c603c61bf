"""The table of usage: a row for each name, then idle machines, then all together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from slipway.base.formatting import counted, join, percent, span, usd
from slipway.front.cli.terminal import screen
from slipway.model.budget import Budget, Ledger, shares
from slipway.model.prices import Price, exact_text
from slipway.operating.history.charges import IdleRow
from slipway.operating.history.races import RaceUsage
from slipway.operating.history.usage import LABEL, Usage, UsageRow
from slipway.operating.history.waits import Waits

_WHOLE_FROM = Decimal(1000)
"""USD in all from which cents do not matter."""
_CENT, _DOLLAR = Decimal("0.01"), Decimal(1)
_CSV = (
    *("part", "name", "jobs", "machine_hours", "accelerator_hours", "wait_p50_seconds", "wait_p95_seconds"),
    *("pool_cost", "beside_cost", "cost", "cost_complete", "cost_at_most"),
)
_NOTES = {
    "user": "users are named by jobs' labels: the service does not tell who made a job",
    "team": "teams are named by jobs' labels: reviewed if from a template or a stack's only group, else self-declared",
}


def show(usage: Usage, owners: Mapping[str, str], sessions: UsageRow | None = None) -> None:
    """Print the table. `owners`: by cluster, the teams that it belongs to. `sessions`: those among the jobs."""
    shown: list[tuple[str, ...]] = []
    if not usage.rows and not usage.idle:
        past = span((usage.until - usage.since).total_seconds())
        screen.note(f"stack {usage.stack} had no jobs and no pools in {past}")
    else:
        table = _Table(usage, owners)
        shown = list(table.rows())
        screen.table(table.heads, shown, right=table.heads[1:-1], wraps=(table.heads[-1],))
        if sessions:
            screen.out(f"of these, {table.brief(sessions)}")
        if usage.races:
            screen.out(f"of these, {table.of_races(usage.races)}")
    for words in _notes(usage, shown):
        screen.note(words)


def show_csv(usage: Usage) -> None:
    """Print the table's rows with unrounded numbers. `part` of a row: jobs, idle or total."""
    rows = [*(_csv("jobs", row) for row in usage.rows)]
    for row in _counted(usage):
        known = {**vars(row), "pool_cost": row.cost} if row.known_hours else {"cost_complete": row.cost_complete}
        rows.append({"part": "idle", "name": row.pool, "cost_at_most": row.at_most, **known})
    rows.append(_csv("total", usage.total))
    cells = ([row.get(head) for head in _CSV] for row in rows)
    screen.out_csv(_CSV, ([exact_text(cell) if isinstance(cell, Price) else cell for cell in row] for row in cells))
    for words in usage.unread:
        screen.note(f"! not read: {words}")


def _counted(usage: Usage) -> Iterator[IdleRow]:
    return (row for row in usage.idle if row.machine_hours or row.partly_unknown)


def _csv(part: str, row: UsageRow) -> dict[str, Any]:
    return {"part": part, **vars(row), "wait_p50_seconds": row.waits.median, "wait_p95_seconds": row.waits.p95}


def show_budget(budget: Budget, ledger: Ledger, stack: str) -> None:
    """Print the spent part of each limit this month, and the stack's forecast for its end."""
    for share in shares(budget, ledger, stack):
        screen.out(f"{'! ' if share.warns else ''}{share.words}")
    if ledger.forecast is not None:
        screen.out(f"by the month's end, as the last week was: {usd(ledger.forecast)}")
    if not ledger.complete:
        screen.note("at least: some of this month is not known, or has no known price")


class _Table:
    def __init__(self, usage: Usage, owners: Mapping[str, str]) -> None:
        self._usage, self._owners = usage, owners
        self._accelerators = bool(usage.total.accelerator_hours)
        self._cents = usage.total.cost.known < _WHOLE_FROM
        head = usage.by.removeprefix(LABEL).upper()
        hours = ("MACHINE HOURS", "ACCELERATOR HOURS") if self._accelerators else ("MACHINE HOURS",)
        self.heads = (head, "JOBS", *hours, "WAIT p50 / p95", "POOL $", "BESIDE $", "TOTAL $", "IDLE")

    def rows(self) -> Iterator[tuple[str, ...]]:
        for row in self._usage.rows:
            name = self._owned(row.name) if self._usage.by == "pool" else row.name
            yield self._row(name or "(none)", row)
        yield from map(self._idle, _counted(self._usage))
        yield self._row("total", self._usage.total)

    def _row(self, name: str, row: UsageRow) -> tuple[str, ...]:
        hours = map(_hours, self._amounts(row))
        money = (self._money(amount) for amount in (row.pool_cost, row.beside_cost, row.cost))
        return (name, f"{row.jobs:,}", *hours, self._waits(row.waits), *money, "")

    def brief(self, row: UsageRow) -> str:
        """Return `sessions: 3 jobs, 2.1 machine hours, $0.97`."""
        hours = f"{_hours(row.machine_hours)} machine hours"
        return f"{row.name}: {counted(row.jobs, 'job')}, {hours}, ${self._money(row.cost)}"

    def of_races(self, races: RaceUsage) -> str:
        """Return `4 races: won 3 in us-east5, 1 in us-central1, after 12 min / 40 min (p50 / p95); $35.10, the other
        regions $0.12`."""
        won = join(f"{count:,} in {region}" for region, count in races.won.items())
        after = f", after {self._waits(races.waits)} (p50 / p95)" if races.waits.jobs else ""
        costs = f"${self._money(races.cost)}, the other regions {self._late(races.late_cost)}"
        return f"{counted(races.races, 'race')}: {f'won {won}{after}; ' if won else ''}{costs}"

    def _late(self, cost: Price) -> str:
        return "nothing" if cost == Price() else f"${self._money(cost)}"

    def _waits(self, waits: Waits) -> str:
        return "–" if waits.median is None or waits.p95 is None else f"{span(waits.median)} / {span(waits.p95)}"

    def _owned(self, pool: str) -> str:
        """Return `h100/workers (vision)`, the pool alone where it is everybody's."""
        owner = self._owners.get(pool.partition("/")[0])
        return f"{pool} ({owner})" if owner else pool

    def _idle(self, row: IdleRow) -> tuple[str, ...]:
        name = f"idle {self._owned(row.pool)}"
        if not row.known_hours:
            unknown = ("?" for _ in self._amounts(row))
            return (name, "", *unknown, "", "?", "", "?", "not recorded")
        most, words = "≤ " if row.at_most else "", "no machine was up"
        if row.live_machine_hours:
            words = f"{most}{percent(row.share)} of {_hours(row.live_machine_hours)}"
        if row.partly_unknown:
            words += f"; {span(row.unknown_hours * 3600)} not recorded"
        hours = (f"{most if amount else ''}{_hours(amount)}" for amount in self._amounts(row))
        return (name, "", *hours, "", self._money(row.cost), "", self._money(row.cost), words)

    def _amounts(self, row: UsageRow | IdleRow) -> tuple[float, ...]:
        if self._accelerators:
            return row.machine_hours, row.accelerator_hours
        return (row.machine_hours,)

    def _money(self, amount: Price) -> str:
        if amount.unknown:
            return "?"
        if not amount.known:
            return "–"
        least = _CENT if self._cents else _DOLLAR
        words = f"{max(amount.known, least):,.2f}" if self._cents else f"{max(amount.known, least):,.0f}"
        words = f"<{words}" if amount.known < least else words
        return f"{'≤ ' if amount.at_most else ''}{words}{'' if amount.complete else '+'}"


def _notes(usage: Usage, shown: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Yield the meaning of the signs that stand in the rows, and what was not read."""
    if usage.rows and usage.by in _NOTES:
        yield _NOTES[usage.by]
    first = len(usage.rows)
    idle, others = (
        [cell for row in rows for cell in row[1:]] for rows in (shown[first:-1], [*shown[:first], *shown[-1:]])
    )
    if any("not recorded" in cell for cell in idle):
        yield "not recorded: how many machines were up then; the hourly run records it, or slipway record"
    if any("≤" in cell for cell in idle):
        yield "≤ of idle machines: jobs that could not be read may have had some of them"
    if any("≤" in cell for cell in others):
        yield "≤: nobody could tell for how long Spot jobs had no machines"
    signs = [sign for sign in "+?" if any(cell.endswith(sign) for cell in (*idle, *others))]
    if signs:
        yield f"{join(signs)}: some of it has no known price, or was not recorded or not read"
    yield from (f"! not read: {words}" for words in usage.unread)


def _hours(hours: float) -> str:
    if hours < 0.01:
        return "<0.01" if hours else "–"
    return f"{hours:,.0f}" if hours >= 100 else f"{hours:,.1f}" if hours >= 1 else f"{hours:.2f}"
