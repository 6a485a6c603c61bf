"""Costs of a change: idle and at most, the overlap of generations, and reservations that stay paid."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any

from slipway.base.codec import As
from slipway.model.capacity import RESERVATION
from slipway.model.catalog.clusters import Cluster
from slipway.model.catalog.model import Catalog
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.model.machines.price_tables import HOURS_OF_A_MONTH
from slipway.model.prices import UNKNOWN, Price, dearest, dollars, is_steep, signed
from slipway.reviewing.change.change import Change, Side
from slipway.reviewing.rules.clusters.clusters import price
from slipway.reviewing.rules.clusters.jobs import reservations
from slipway.reviewing.rules.clusters.succession import held_price, successions
from slipway.reviewing.rules.templates.run_cost import run_costs


def _read_price(body: Mapping[str, Any]) -> Price:
    amount = Decimal(body["perHour"] or 0)
    if not amount.is_finite():
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
    def difference(self) -> Decimal:
        """The difference of the known parts."""
        return self.after.known - self.before.known

    @property
    def monthly(self) -> Decimal:
        """The difference in USD a month."""
        return self.difference * HOURS_OF_A_MONTH

    @property
    def steep(self) -> bool:
        sides = (one.known * HOURS_OF_A_MONTH for one in (self.before, self.after))
        return self.told and is_steep(*sides)

    @property
    def told(self) -> bool:
        """Whether the difference holds whatever the unknown parts are: newly unknown parts have become no cheaper, and
        formerly unknown ones no dearer."""
        if self.before.complete == self.after.complete:
            return bool(self.difference)
        return self.difference > 0 if self.before.complete else self.difference < 0


@dataclass(frozen=True)
class Money:
    """The costs of the stack's clusters: `idle` with nothing running, `most` with every pool at its maximum, at the
    dearest time, coming seasons included, as `slipway check` counts them. `overlap`: the additional cost of old
    generations until they are gone. Before a first deployment amounts are 0; unreadable ones are unknown."""

    idle: Amount
    most: Amount
    overlap: Hourly


def money(change: Change) -> Money:
    sides = ((Side.BEFORE, change.old), (Side.AFTER, change.new))
    before, after = (
        [UNKNOWN if side in change.unknown else _total(catalog, most=most) for most in (False, True)]
        for side, catalog in sides
    )
    beside = (one for one in successions(change) if one.old and one.retires and not (one.stays or one.in_place))
    return Money(Amount(before[0], after[0]), Amount(before[1], after[1]), sum(map(held_price, beside), Price()))


def costs(change: Change) -> Iterator[Finding]:
    if change.unknown:
        return
    found = money(change)
    yield from _shift("idle-cost", "with nothing running", found.idle, first=change.first)
    yield from _shift("most-cost", "with every pool at its maximum", found.most, first=True)
    yield from _confirmation(change)
    if change.old is not None:
        yield from _unpriced(change.old, change.new)
        yield from run_costs(change.old, change.new)
        yield from _still_paid(change.old, change.new)


def _total(catalog: Catalog, *, most: bool) -> Price:
    if not most:
        return _sum(catalog.clusters.values())
    return dearest(_sum(some, most=True) for _, some in catalog.at_once)


def _sum(clusters: Iterable[Cluster], *, most: bool = False) -> Price:
    return sum((price(one, most=most) for one in clusters if not one.adopted), Price())


def _shift(kind: str, when: str, amount: Amount, *, first: bool) -> Iterator[Finding]:
    if amount.before == amount.after:
        return
    monthly = f"${abs(amount.monthly):,.0f}" if abs(amount.monthly) >= 1 else "less than $1"
    words, more = when.capitalize(), f": {dollars(amount.before)} → {dollars(amount.after)}"
    if amount.told:
        words += f" the stack costs {monthly} a month {'more' if amount.difference > 0 else 'less'}"
        more += f" ({signed(amount.difference)})"
    grade = Grade.WARNING if amount.steep and not first else None
    yield KINDS[kind].of(Subject("stack"), words, more=more, grade=grade, cost=float(amount.difference))


def _confirmation(change: Change) -> Iterator[Finding]:
    old, new = change.old, change.new
    if old is None or new is None or old.confirm_above == new.confirm_above:
        return
    before, after = (
        "whatever they cost" if one is None else f"up to {dollars(Price(Decimal(str(one))))}"
        for one in (old.confirm_above, new.confirm_above)
    )
    looser = new.confirm_above is None or (old.confirm_above is not None and new.confirm_above > old.confirm_above)
    yield KINDS["spending-limit"].of(
        Subject("workspace", "confirmAbove"),
        f"`submit` sends jobs to machines of their own unasked {before} → {after}",
        grade=None if looser else Grade.NOTE,
        field="slipway:workspace.confirmAbove",
    )


def _unpriced(old: Catalog, new: Catalog) -> Iterator[Finding]:
    """Find pools whose machines have no complete price in the book, and that are new or have other machines."""
    for cluster in new.clusters.values():
        before = old.clusters.get(cluster.name)
        for pool in cluster.pools:
            was = before.pool(pool.name) if before else None
            if not pool.price_per_hour.complete and (was is None or was.machine != pool.machine):
                known = "" if pool.price_per_hour.unknown else f" beyond {dollars(Price(pool.price_per_hour.known))}"
                words = f"What a `{pool.machine}` of `{cluster.name}/{pool.name}` costs{known} is not known"
                yield KINDS["price-unknown"].of(Subject("pool", f"{cluster.name}/{pool.name}"), words)


def _still_paid(old: Catalog, new: Catalog) -> Iterator[Finding]:
    known = {one.path: one for one in (*old.reservations.values(), *new.reservations.values())}
    for path in sorted(reservations(old) - reservations(new)):
        one = known.get(path)
        holds = f"its {one.machines} `{one.machine}` stay" if one and one.machines else "it stays"
        users = (
            f"template `{name}` used it"
            for name, template in old.templates.items()
            if any(one.capacity_type == RESERVATION and path in str(one.request) for one in template.offers)
        )
        yield KINDS["reservation-paid"].of(
            Subject("reservation", path),
            f"Nothing uses reservation `{path.rpartition('/')[2]}` any more",
            more=f": {holds} paid until somebody gives the reservation up",
            details=(f"`{path}`", *users),
            grade=Grade.BLOCKING,
        )
