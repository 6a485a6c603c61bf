"""Question: what does the stack cost with nothing running, and with every pool at its maximum? USD an hour. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from itertools import chain

from slipway.answers.answer import Answer, Difference
from slipway.answers.comparison import Comparison, Side
from slipway.base.formatting import percent
from slipway.model.budget import WARNS_AT
from slipway.model.catalog.clusters import Cluster, Pool
from slipway.model.catalog.model import Catalog
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.grades import asks_above
from slipway.model.findings.kinds import KINDS
from slipway.model.machines.price_tables import HOURS_OF_A_MONTH
from slipway.model.prices import is_steep
from slipway.model.season import moment_in_words

IDLE = "idle-cost"
MOST = "most-cost"
_NOW = "now"
_DAYS_OF_A_MONTH = HOURS_OF_A_MONTH / 24
_LOADS: Mapping[str, str] = {IDLE: "with nothing running", MOST: "with every pool at its maximum"}
_SUBJECT = Subject("stack")


@dataclass(frozen=True)
class Costs:
    """USD an hour of the stack's own clusters, as far as prices are known. Before: None if it is unknown."""

    #: With nothing running.
    idle_before: float | None
    idle: float
    #: With every pool at its maximum, at the most expensive time, coming seasons included.
    most_before: float | None
    most: float


def costs(comparison: Comparison) -> Costs | None:
    """Return the costs; None if it is unknown what the program declares."""
    if Side.AFTER in comparison.unknown:
        return None
    idle = _idle(comparison.new.clusters.values())
    most = _most_ever(comparison.new)
    if Side.BEFORE in comparison.unknown:
        return Costs(None, idle, None, most)
    return Costs(_idle(comparison.old.clusters.values()), idle, _most_ever(comparison.old), most)


def answers(comparison: Comparison, side: Side) -> Iterator[Answer]:
    """Yield the costs now, and from each date on which a season of either side begins or ends."""
    catalog = comparison.old if side is Side.BEFORE else comparison.new
    yield from _at(catalog, comparison.world.now, _NOW)
    for date in _dates(comparison):
        yield from _at(catalog, date, moment_in_words(date))


def _at(catalog: Catalog, date: datetime, name: str) -> Iterator[Answer]:
    present = [cluster for cluster in catalog.expected if cluster.season.includes(date)]
    unpriced = [pool for pool in _pools(present) if not pool.price_per_hour.complete]
    least = sum(pool.min for pool in unpriced)
    most = sum(pool.max for pool in unpriced)
    yield Answer(IDLE, (name,), _SUBJECT, values={"perHour": _idle(present), "unpriced": least})
    yield Answer(MOST, (name,), _SUBJECT, values={"perHour": _most(present), "unpriced": most})


def findings(comparison: Comparison, differences: Sequence[Difference]) -> Iterator[Finding]:
    """Yield a finding for each of both costs that changes, and a budget that idle machines use up."""
    for kind in (IDLE, MOST):
        changes = [difference for difference in differences if difference.question == kind]
        if changes:
            yield _finding(comparison, kind, changes)
    if not comparison.unknown:
        yield from _budget(comparison)


def _finding(comparison: Comparison, kind: str, changes: Sequence[Difference]) -> Finding:
    """Return the finding about a cost: its highest rise at any date, or its smallest fall."""
    highest = max(changes, key=lambda change: _rise(change, "perHour"))
    before = _month(_number(highest.before, "perHour"))
    after = _month(_number(highest.after, "perHour"))
    rise = after - before
    more = "more" if rise > 0 else "less"
    unpriced = max(_rise(change, "unpriced") for change in changes)
    date = highest.keys[0][0]
    since = "" if date == _NOW else f" from {date} on"
    sentence = f"costs ${abs(rise):,} {more} a month {_LOADS[kind]}{since}: ${before:,} → ${after:,}"
    if unpriced > 0:
        sentence = f"{sentence}; {unpriced:.0f} more machines have no known price"
    grade = Grade.NOTE
    if kind == IDLE and is_steep(before, after) and not comparison.first:
        grade = Grade.WARNING
    limit = asks_above((comparison.before.policy, comparison.after.policy), kind)
    if limit is not None and (unpriced > 0 or rise > limit):
        sentence = f"{sentence}; a rise above ${limit:,.0f} needs an approval"
        grade = Grade.BLOCKING
    found = KINDS[kind].of(_SUBJECT, sentence, grade=grade)
    facts = {"monthlyBefore": float(before), "monthlyAfter": float(after), "from": date}
    return replace(found, facts=facts, cost=_rise(highest, "perHour"))


def _budget(comparison: Comparison) -> Iterator[Finding]:
    """Yield that idle machines alone newly use an enforced budget up, or nearly, now or from a coming date on."""
    dates = [comparison.world.now, *_dates(comparison)]
    before = max(_budget_share(comparison.old, date) for date in dates)
    highest = max(dates, key=lambda date: _budget_share(comparison.new, date))
    after = _budget_share(comparison.new, highest)
    since = "" if highest == comparison.world.now else f"from {moment_in_words(highest)} on, "
    limits = {Grade.BLOCKING: 1.0, Grade.WARNING: WARNS_AT}
    for grade, limit in limits.items():
        if after > limit >= before:
            sentence = f"{since}idle machines alone use {percent(after)} of the monthly budget"
            if after > 1:
                day = int(_DAYS_OF_A_MONTH / after) + 1
                sentence = f"{sentence}: all submissions are rejected from about day {day} of a month"
            subject = Subject("budget", "stack")
            yield KINDS["stack-warning"].of(subject, sentence, grade=grade, field="slipway:budget.stack")
            return


def _budget_share(catalog: Catalog, date: datetime) -> float:
    """Return the share of the stack's enforced budget that idle machines use from a date on; 0 without a budget."""
    budget = catalog.budget
    if budget is None or not budget.stack or not budget.enforce:
        return 0.0
    present = [cluster for cluster in catalog.expected if cluster.season.includes(date)]
    return float(_month(_idle(present))) / budget.stack


def _dates(comparison: Comparison) -> list[datetime]:
    """Return the coming dates on which a cluster of either side begins or ends."""
    seasons = [cluster.season for cluster in (*comparison.old.expected, *comparison.new.expected)]
    dates = {season.begins for season in seasons} | {season.ends for season in seasons}
    return sorted(date for date in dates if date and date > comparison.world.now)


def _pools(clusters: Iterable[Cluster]) -> list[Pool]:
    """Return the pools that the stack pays for."""
    return list(chain.from_iterable(cluster.pools for cluster in clusters if not cluster.adopted))


def _idle(clusters: Iterable[Cluster]) -> float:
    """Return the price of the machines that are always up, without clusters that are deleted soon after a job."""
    pools = _pools(cluster for cluster in clusters if cluster.season.stays_idle)
    return float(sum(pool.price_per_hour.known * pool.min for pool in pools))


def _most(clusters: Iterable[Cluster]) -> float:
    return float(sum(pool.price_per_hour.known * pool.max for pool in _pools(clusters)))


def _most_ever(catalog: Catalog) -> float:
    return max(_most(clusters) for _, clusters in catalog.at_once)


def _rise(difference: Difference, name: str) -> float:
    return _number(difference.after, name) - _number(difference.before, name)


def _number(answer: Answer | None, name: str) -> float:
    values = answer.values if answer else {}
    return float(values.get(name) or 0)


def _month(per_hour: float) -> Decimal:
    """Return whole USD a month."""
    return Decimal(round(per_hour * HOURS_OF_A_MONTH))
