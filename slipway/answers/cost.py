"""Question: what does the stack cost with nothing running, and with every pool at its maximum? USD an hour. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from itertools import chain
from typing import Annotated, Any

from slipway.answers.answer import Answer, Difference, Value
from slipway.answers.comparison import Comparison, Side
from slipway.answers.plan import idle_price
from slipway.base.codec import As
from slipway.model.catalog.clusters import Cluster
from slipway.model.catalog.model import Catalog
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.grades import APPROVE_ABOVE, asks_above
from slipway.model.findings.kinds import KINDS
from slipway.model.machines.price_tables import HOURS_OF_A_MONTH
from slipway.model.prices import UNKNOWN, Price, dearest, is_steep
from slipway.model.season import moment_in_words

PRICE_LIMIT = 10**12
"""USD an hour that no price reaches."""
IDLE = "idle-cost"
MOST = "most-cost"
_NOW = "now"
_LOADS: Mapping[str, str] = {IDLE: "with nothing running", MOST: "with every pool at its maximum"}
_SUBJECT = Subject("stack")


def _read_price(body: Mapping[str, Any]) -> Price:
    amount = Decimal(body["perHour"] or 0)
    if abs(amount) >= PRICE_LIMIT:  # NaN raises here.
        raise ValueError(amount)
    return Price(amount, bool(body["complete"]))


def _write_price(price: Price) -> Mapping[str, Any]:
    return {"perHour": None if price.unknown else str(price.known), "complete": price.complete}


Hourly = Annotated[Price, As(_read_price, _write_price, "a price")]


@dataclass(frozen=True)
class Amount:
    """USD an hour, deployed and declared."""

    before: Hourly
    after: Hourly

    @property
    def rise(self) -> Decimal:
        """USD an hour by which the known part rises; negative for a fall."""
        return self.after.known - self.before.known


@dataclass(frozen=True)
class Costs:
    """The cost of the stack's own clusters. Nothing is deployed before the first deployment, which costs 0."""

    #: With nothing running.
    idle: Amount
    #: With every pool at its maximum, at the most expensive time, coming seasons included.
    most: Amount


def costs(comparison: Comparison) -> Costs | None:
    """Return the costs; None if it is unknown what the program declares."""
    if Side.AFTER in comparison.unknown:
        return None
    idle = (_idle(comparison.old.clusters.values()), _idle(comparison.new.clusters.values()))
    most = (_most_ever(comparison.old), _most_ever(comparison.new))
    if Side.BEFORE in comparison.unknown:
        return Costs(Amount(UNKNOWN, idle[1]), Amount(UNKNOWN, most[1]))
    return Costs(Amount(*idle), Amount(*most))


def answers(comparison: Comparison, side: Side) -> Iterator[Answer]:
    """Yield the costs now, and from each date on which a season of either side begins or ends."""
    catalog = comparison.old if side is Side.BEFORE else comparison.new
    for date in (comparison.world.now, *_dates(comparison)):
        present = [cluster for cluster in catalog.expected if cluster.season.includes(date)]
        key = _NOW if date == comparison.world.now else moment_in_words(date)
        for kind, price in ((IDLE, _idle(present)), (MOST, _most(present))):
            unpriced = _unpriced(present, kind)
            values: dict[str, Value] = {"perHour": float(price.known), "unpriced": unpriced}
            yield Answer(kind, (key,), _SUBJECT, values=values)


def findings(comparison: Comparison, differences: Sequence[Difference]) -> Iterator[Finding]:
    """Yield a finding for each of both costs that changes, and a budget that idle machines use up."""
    for kind in (IDLE, MOST):
        changes = [difference for difference in differences if difference.question == kind]
        if changes:
            yield _finding(comparison, kind, changes)
    yield from _budget(comparison)


def _finding(comparison: Comparison, kind: str, changes: Sequence[Difference]) -> Finding:
    """Return the finding about a cost: its highest rise at any date, or its fall."""
    highest = max(changes, key=_rise)
    rise = _rise(highest)
    before = _month(highest.before)
    after = _month(highest.after)
    unpriced = max(_number(change.after, "unpriced") - _number(change.before, "unpriced") for change in changes)
    limit = asks_above((comparison.before.policy, comparison.after.policy), kind)
    date = highest.keys[0][0]
    when = "" if date == _NOW else f" from {date}"
    sentence = f"costs ${before:,.0f} → ${after:,.0f} a month {_LOADS[kind]}{when}"
    if unpriced > 0:
        sentence = f"{sentence}; {unpriced:.0f} more machines have no known price"
    grade = Grade.NOTE
    if kind == IDLE and is_steep(before, after) and not comparison.first:
        grade = Grade.WARNING
    if limit is not None and (unpriced > 0 or rise * HOURS_OF_A_MONTH > limit):
        sentence = f"{sentence}; a rise above ${limit:,.0f} needs an approval (`{APPROVE_ABOVE}`)"
        grade = Grade.BLOCKING
    found = KINDS[kind].of(_SUBJECT, sentence, grade=grade)
    facts = {"monthlyBefore": float(before), "monthlyAfter": float(after), "from": date}
    return replace(found, facts=facts, cost=rise)


def _budget(comparison: Comparison) -> Iterator[Finding]:
    """Yield that idle machines alone newly use up the stack's enforced budget."""
    if comparison.unknown:
        return
    is_used_up = [_uses_up_budget(catalog) for catalog in (comparison.old, comparison.new)]
    budget = comparison.new.budget
    if is_used_up == [False, True] and budget:
        month = _idle(comparison.new.clusters.values()).known * HOURS_OF_A_MONTH
        sentence = f"idle machines cost ${month:,.0f} a month, which uses up the budget of ${budget.stack:,.0f}: "
        sentence = f"{sentence}submissions are rejected once it is spent"
        subject = Subject("budget", "stack")
        yield KINDS[IDLE].of(subject, sentence, grade=Grade.BLOCKING, field="slipway:budget.stack")


def _uses_up_budget(catalog: Catalog) -> bool:
    budget = catalog.budget
    if budget is None or budget.stack is None or not budget.enforce:
        return False
    month = _idle(catalog.clusters.values()).known * HOURS_OF_A_MONTH
    return float(month) > budget.stack


def _dates(comparison: Comparison) -> list[datetime]:
    dates = set()
    for cluster in (*comparison.old.expected, *comparison.new.expected):
        dates |= {cluster.season.begins, cluster.season.ends}
    return sorted(date for date in dates if date and date > comparison.world.now)


def _idle(clusters: Iterable[Cluster]) -> Price:
    """Return the price of the machines that are always up, without clusters that are deleted soon after a job."""
    kept = [cluster for cluster in _own(clusters) if cluster.season.stays_idle]
    return sum((idle_price(cluster) for cluster in kept), Price())


def _most(clusters: Iterable[Cluster]) -> Price:
    pools = chain.from_iterable(cluster.pools for cluster in _own(clusters))
    return sum((pool.price_per_hour * pool.max for pool in pools), Price())


def _most_ever(catalog: Catalog) -> Price:
    return dearest(_most(clusters) for _, clusters in catalog.at_once)


def _unpriced(clusters: Iterable[Cluster], kind: str) -> int:
    """Return the number of machines whose price is not known, or only in part."""
    pools = chain.from_iterable(cluster.pools for cluster in _own(clusters))
    return sum(pool.min if kind == IDLE else pool.max for pool in pools if not pool.price_per_hour.complete)


def _own(clusters: Iterable[Cluster]) -> list[Cluster]:
    """Return the clusters that the stack pays for."""
    return [cluster for cluster in clusters if not cluster.adopted]


def _number(answer: Answer | None, name: str) -> float:
    value = answer.values.get(name) if answer else 0
    return float(value or 0)


def _rise(difference: Difference) -> float:
    return _number(difference.after, "perHour") - _number(difference.before, "perHour")


def _month(answer: Answer | None) -> Decimal:
    """Return whole USD a month."""
    return Decimal(round(_number(answer, "perHour") * HOURS_OF_A_MONTH))
