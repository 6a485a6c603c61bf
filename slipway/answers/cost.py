"""Question: what does the stack cost with nothing running, and with every pool at its maximum? USD an hour. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from itertools import chain

from slipway.answers.answer import Answer, Difference, Value
from slipway.answers.comparison import Comparison, Side
from slipway.base.formatting import percent
from slipway.model.budget import WARNS_AT, Budget
from slipway.model.catalog.clusters import Cluster, Pool
from slipway.model.catalog.model import Catalog
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.grades import APPROVE_ABOVE, asks_above
from slipway.model.findings.kinds import KINDS
from slipway.model.machines.price_tables import HOURS_OF_A_MONTH
from slipway.model.prices import is_steep
from slipway.model.season import moment_in_words

IDLE = "idle-cost"
MOST = "most-cost"
_NOW = "now"
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
    for date in (comparison.world.now, *_dates(comparison)):
        present = [cluster for cluster in catalog.expected if cluster.season.includes(date)]
        key = (_NOW if date == comparison.world.now else moment_in_words(date),)
        unpriced = [pool for pool in _pools(present) if not pool.price_per_hour.complete]
        idle: dict[str, Value] = {"perHour": _idle(present), "unpriced": sum(pool.min for pool in unpriced)}
        most: dict[str, Value] = {"perHour": _most(present), "unpriced": sum(pool.max for pool in unpriced)}
        yield Answer(IDLE, key, _SUBJECT, values=idle)
        yield Answer(MOST, key, _SUBJECT, values=most)


def findings(comparison: Comparison, differences: Sequence[Difference]) -> Iterator[Finding]:
    """Yield a finding for each of both costs that changes, and a budget that idle machines use up."""
    for kind in (IDLE, MOST):
        changes = [difference for difference in differences if difference.question == kind]
        if changes:
            yield _finding(comparison, kind, changes)
    if not comparison.unknown:
        yield from _budget(_budget_share(comparison.old), _budget_share(comparison.new))


def _budget(before: float, after: float) -> Iterator[Finding]:
    """Yield that idle machines alone newly use an enforced budget up, or nearly."""
    limit = 1.0 if after > 1 else WARNS_AT
    if after > limit >= before:
        sentence = f"idle machines alone use {percent(after)} of the budget, after which submissions are rejected"
        grade = Grade.BLOCKING if after > 1 else Grade.WARNING
        subject = Subject("budget", "share")
        yield KINDS["stack-warning"].of(subject, sentence, grade=grade, field="slipway:budget.stack")


def _finding(comparison: Comparison, kind: str, changes: Sequence[Difference]) -> Finding:
    """Return the finding about a cost: its highest rise at any date, or its smallest fall."""
    highest = max(changes, key=lambda change: _rise(change, "perHour"))
    rise = _rise(highest, "perHour")
    before = _month(_number(highest.before, "perHour"))
    after = _month(_number(highest.after, "perHour"))
    unpriced = max(_rise(change, "unpriced") for change in changes)
    limit = asks_above((comparison.before.policy, comparison.after.policy), kind)
    date = highest.keys[0][0]
    when = "" if date == _NOW else f" from {date}"
    more = "more" if rise > 0 else "less"
    sentence = f"costs ${abs(after - before):,.0f} {more} a month {_LOADS[kind]}{when}: ${before:,.0f} → ${after:,.0f}"
    if unpriced > 0:
        sentence = f"{sentence}; {unpriced:.0f} more machines have no known price"
    grade = Grade.NOTE
    if kind == IDLE and is_steep(before, after) and not comparison.first:
        grade = Grade.WARNING
    if limit is not None and (unpriced > 0 or float(_month(rise)) > limit):
        sentence = f"{sentence}; a rise above ${limit:,.0f} needs an approval (`{APPROVE_ABOVE}`)"
        grade = Grade.BLOCKING
    found = KINDS[kind].of(_SUBJECT, sentence, grade=grade)
    facts = {"monthlyBefore": float(before), "monthlyAfter": float(after), "from": date}
    return replace(found, facts=facts, cost=rise)


def _budget_share(catalog: Catalog) -> float:
    """Return the share of the stack's enforced budget that idle machines use; 0 without one."""
    budget = catalog.budget or Budget()
    if not budget.stack or not budget.enforce:
        return 0.0
    return float(_month(_idle(catalog.clusters.values()))) / budget.stack


def _dates(comparison: Comparison) -> list[datetime]:
    dates = set()
    for cluster in (*comparison.old.expected, *comparison.new.expected):
        dates |= {cluster.season.begins, cluster.season.ends}
    return sorted(date for date in dates if date and date > comparison.world.now)


def _pools(clusters: Iterable[Cluster]) -> list[Pool]:
    """Return the pools that the stack pays for."""
    own = [cluster for cluster in clusters if not cluster.adopted]
    return list(chain.from_iterable(cluster.pools for cluster in own))


def _idle(clusters: Iterable[Cluster]) -> float:
    """Return the price of the machines that are always up, without clusters that are deleted soon after a job."""
    pools = _pools(cluster for cluster in clusters if cluster.season.stays_idle)
    return float(sum(pool.price_per_hour.known * pool.min for pool in pools))


def _most(clusters: Iterable[Cluster]) -> float:
    return float(sum(pool.price_per_hour.known * pool.max for pool in _pools(clusters)))


def _most_ever(catalog: Catalog) -> float:
    return max(_most(clusters) for _, clusters in catalog.at_once)


def _number(answer: Answer | None, name: str) -> float:
    value = answer.values.get(name) if answer else 0
    return float(value or 0)


def _rise(difference: Difference, name: str) -> float:
    return _number(difference.after, name) - _number(difference.before, name)


def _month(per_hour: float) -> Decimal:
    """Return whole USD a month."""
    return Decimal(round(per_hour * HOURS_OF_A_MONTH))
