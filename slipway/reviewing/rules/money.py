"""Costs of a change: idle and at most, the overlap of generations, reservations that stay paid, and templates' runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, NamedTuple

from slipway.base.codec import As
from slipway.base.formatting import last_part
from slipway.google.catalog.lookup import usual_offers
from slipway.model.capacity import POOL, RESERVATION
from slipway.model.catalog.cases import divided, renames
from slipway.model.catalog.model import CONFIRM_ABOVE, Catalog
from slipway.model.catalog.template import Offer, Template
from slipway.model.cluster import Reservation
from slipway.model.facts import offers_by_label
from slipway.model.findings.finding import Grade, Subject
from slipway.model.findings.grades import asks_above
from slipway.model.machines.price_tables import HOURS_OF_A_MONTH
from slipway.model.machines.spec import MachineSpec
from slipway.model.prices import UNKNOWN, Price, bounded, dearest, dollars, is_steep, unpriced
from slipway.model.season import moment_in_words
from slipway.reviewing.change.change import Change, Side, once
from slipway.reviewing.change.edits import Edit
from slipway.reviewing.change.usual import (
    DEFAULT_SIZE,
    Offers,
    Way,
    as_kind,
    compete,
    cost,
    misfits,
    reservations,
    rounds,
    varies,
    whose,
)
from slipway.reviewing.consequence import PRICE_LIMIT, Consequence
from slipway.reviewing.rules.clusters.cluster_change import cluster_changes, price
from slipway.reviewing.rules.clusters.jobs import users
from slipway.reviewing.rules.table import by_row, say
from slipway.reviewing.rules.templates.offers import kept, refused
from slipway.reviewing.rules.templates.waits import left
from slipway.reviewing.rules.words import in_backticks, jobs, owned


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
    #: More machines without a whole price, or fewer.
    more: bool = False
    fewer: bool = False

    @property
    def difference(self) -> Decimal:
        return self.after.known - self.before.known

    @property
    def differs(self) -> bool:
        return bool(self.difference or self.more or self.fewer)

    @property
    def monthly(self) -> Decimal:
        return Decimal(round(self.difference * HOURS_OF_A_MONTH))

    @property
    def months(self) -> tuple[Decimal, Decimal]:
        """Whole USD a month of both sides, as `slipway check` has them."""
        before, after = (Decimal(round(price.known * HOURS_OF_A_MONTH)) for price in (self.before, self.after))
        return before, after

    @property
    def steep(self) -> bool:
        return self.told and is_steep(*self.months)

    @property
    def told(self) -> bool:
        """Tell whether the difference holds whatever the unknown parts are."""
        return (self.difference > 0 and not self.fewer) or (self.difference < 0 and not self.more)

    @property
    def bounded(self) -> bool:
        """Tell whether the cost rises by at most the difference, as nobody knows all of what it was."""
        return self.difference > 0 and self.fewer and not self.more


@dataclass(frozen=True)
class Money:
    """The costs of the stack's clusters. Before a first deployment amounts are 0; unreadable ones are unknown."""

    #: With nothing running.
    idle: Amount
    #: With every pool at its maximum, at the dearest time, coming seasons included, as `slipway check` counts them.
    most: Amount
    #: The additional cost of old generations until they are gone.
    overlap: Hourly


@once
def money(change: Change) -> Money:
    beside = (cluster.held_price for cluster in cluster_changes(change) if cluster.retires and not cluster.in_place)
    return Money(_amount(change, most=False), _amount(change, most=True), sum(beside, Price()))


def _amount(change: Change, *, most: bool, at: datetime | None = None) -> Amount:
    (before, lacked), (after, lacks) = (_total(change, side, most=most, at=at) for side in Side)
    return Amount(before, after, more=bool(lacks - lacked), fewer=bool(lacked - lacks))


class _Seasonal(NamedTuple):
    """An amount among those of other times, as seasons begin and end."""

    amount: Amount
    #: Others differ: it holds at times alone, or is the least of falls.
    at_times: bool = False
    least: bool = False
    #: The dates of its only time, in words; empty where it has none.
    since: str = ""
    until: str = ""


def _of_seasons(change: Change, *, most: bool) -> _Seasonal:
    """Return the highest rise as seasons begin and end, or the least fall, or the largest where the cost falls at times
    alone. Seasons that have begun or ended since the last deployment are so on both sides."""
    seasons = [cluster.season for cluster in (*change.old.expected, *change.new.expected)]
    dates = {date for season in seasons for date in (season.begins, season.ends) if date and date > change.now}
    times = [change.now, *sorted(dates)]
    amounts = [_amount(change, most=most, at=at) for at in times]
    told = max(amounts, key=lambda amount: (amount.more, amount.difference, not amount.fewer))
    known = max(amounts, key=lambda amount: amount.difference)
    # At another time than the rise that is not known: that may be even higher.
    apart = told.more and known.difference > max(told.difference, Decimal())
    told = replace(known, more=True) if apart else told
    alike = [_rise(amount) == _rise(told) for amount in amounts]
    if all(alike):
        return _Seasonal(told)
    if told.difference < 0:
        return _Seasonal(told, least=True)
    if not told.differs:
        told = min(amounts, key=lambda amount: (amount.difference, not amount.fewer))
        alike = [_rise(amount) == _rise(told) for amount in amounts]
    first = alike.index(True)
    last = alike.index(False, first) if False in alike[first:] else len(alike)
    since, until = times[first] if first else None, times[last] if last < len(times) else None
    only = not (apart or any(alike[last:]))
    begins, ends = (moment_in_words(date) if date and only else "" for date in (since, until))
    return _Seasonal(told, at_times=True, since=begins, until=ends)


def _rise(amount: Amount) -> object:
    """Return what amounts of other times are told by: an unknown part is told where no known sum is."""
    return amount.difference or (amount.more, amount.fewer)


def costs(change: Change) -> Iterator[Consequence]:
    if change.unknown:
        return
    yield from _shift(change, "idle-cost")
    yield from _shift(change, "most-cost")
    if not change.first:
        yield from _confirmation(change, change.old.confirm_above, change.new.confirm_above)
        yield from _agents(change.old, change.new)
        yield from _runs(change.old, change.new)
        yield from _still_paid(change)
        yield from _dated(change)


def _total(change: Change, of: Side, *, most: bool, at: datetime | None) -> tuple[Price, Counter[object]]:
    """Return the own clusters' price, and machines without a whole one; `most`: at the dearest time; `at`: then."""
    lacking: Counter[object] = Counter([of] if of in change.unknown else ())
    if lacking:
        return UNKNOWN, lacking
    catalog = change.old if of is Side.BEFORE else change.new
    sides = [there for _, there in catalog.at_once] if most else [[*catalog.clusters.values()]]
    sides = [[each for each in catalog.expected if each.season.includes(at)]] if at else sides
    own = [[each for each in side if not each.adopted and (most or each.season.stays_idle)] for side in sides]
    for side in own:
        pools = [pool for each in side for pool in each.pools if not pool.price_per_hour.complete]
        lacking |= Counter(pool.machine for pool in pools for _ in range(pool.max if most else pool.min))
    return dearest(sum((price(each, most=most) for each in side), Price()) for side in own), lacking


def _shift(change: Change, kind: str) -> Iterator[Consequence]:
    idle, both = kind == "idle-cost", money(change)
    whole, when = both.idle if idle else both.most, say("stack-load", idle=idle)
    today, of_edits, asks = whole, _Seasonal(whole), None
    # Of the deployed commit somebody has approved what comes by itself: seasons, alternatives.
    if change.edited and (seasons := _of_seasons(change, most=not idle)).amount.differs:
        today, of_edits = _amount(change, most=not idle, at=change.now), seasons
        asks = asks_above((change.before.policy, change.after.policy), kind)
    amount = of_edits.amount
    if not amount.differs:
        return
    steep = idle and today.steep and not change.first
    # A rise that is only bounded, or not known, may be above the sum: a person decides.
    shuts = asks is not None and (amount.more or float(amount.monthly) > asks)
    least = amount.more or amount.fewer
    month = abs(amount.monthly)
    # Nothing is deployed that is refused, whoever approves it.
    refused = change.preview is not None and change.preview.refused
    yield by_row(
        "stack-cost",
        Subject("stack"),
        as_kind=kind,
        when=when,
        times=of_edits.at_times,
        since=of_edits.since,
        until=of_edits.until,
        told=amount.told,
        bounded=amount.bounded,
        least=least,
        down=least or of_edits.least,
        monthly=f"${month:,.0f}" if month >= 1 else "less than $1",
        more="more" if amount.difference > 0 else "less",
        unknown="" if amount.difference else "more" * (not amount.fewer) or "less" * (not amount.more),
        asks=f"${asks:,.0f}" if shuts and not refused else "",
        # The table has these amounts, which coming seasons may have grown.
        edits=(Edit(when, dollars(whole.before), dollars(whole.after)),)
        if whole.difference == amount.difference
        else (),
        grade=Grade.BLOCKING if shuts else Grade.WARNING if steep else None,
        cost=None if least or of_edits.at_times or of_edits.least else Price(amount.difference),
    )


def _confirmation(change: Change, old: float, new: float) -> Iterator[Consequence]:
    if old == new:
        return
    before, after = (dollars(Price(Decimal(str(limit)))) for limit in (old, new))
    robots = new < old and any(who.startswith("serviceAccount:") for who in change.after.people)
    edits, grade = (Edit("confirmAbove", before, after),), Grade.NOTE if new < old and not robots else Grade.WARNING
    subject = Subject("workspace", "confirmAbove")
    yield by_row("spending-limit", subject, edits=edits, grade=grade, before=before, after=after, robots=robots)


def _agents(was: Catalog, becomes: Catalog) -> Iterator[Consequence]:
    old, new = was.agents, becomes.agents
    if old == new:
        return
    before, after = (allowance.words if allowance else "nothing" for allowance in (old, new))
    edits = (Edit("agents", before, after),)
    yield by_row("agents-may-spend", Subject("agents"), edits=edits, before=before, after=after)


def _still_paid(change: Change) -> Iterator[Consequence]:
    """Find reservations that no template uses any more, and others that are listed anew, or no more."""
    old, new = change.old.reservations, change.new.reservations
    unused = reservations(change.old.offers) - reservations(change.new.offers)
    for path in sorted(unused | (old.keys() ^ new.keys())):
        reservation, subject = {**old, **new}.get(path, Reservation(path)), Subject("reservation", path)
        alike = [each for each in {**old, **new} if last_part(each) == last_part(path)]
        name = path if alike[1:] else last_part(path)
        told: dict[str, Any] = {"last": name, "gone": path in old, "over": reservation.over(change.now)}
        told |= {"machines": reservation.machines, "machine": reservation.machine, "dates": reservation.dates}
        if path in unused and not told["over"]:
            on_it = users(change, "reservation", path)
            yield by_row("reservation-paid", subject, jobs=owned(on_it, ""), details=jobs(on_it, change.now), **told)
        elif (path in old) != (path in new):
            yield by_row("reservation-listed", subject, **told)


def _dated(change: Change) -> Iterator[Consequence]:
    for path, new in change.new.reservations.items():
        old = change.old.reservations.get(path, new)
        if new.dates != old.dates:
            told: dict[str, Any] = {"last": last_part(path), "dates": new.dates, "before": old.dates}
            told["over"] = new.over(change.now)
            bounds = [at for at in (new.begins, new.ends) if at]
            less = not all(old.closed(at) for at in bounds if at not in (old.begins, old.ends))
            ways = [*_ways_beside(path, change.new)]
            alone = dict.fromkeys(template.name for template, _, rest in ways if less and not rest)
            told |= {"bounds": bounds, "templates": in_backticks(dict.fromkeys(way[0].name for way in ways))}
            told |= {"alone": in_backticks(alone), "left": left(ways, change.new) if less else ""}
            used = any(map(change.jobs_by_template.get, alone))
            grade = Grade.BLOCKING if used else Grade.WARNING if less and ways else None
            yield by_row("reservation-dates", Subject("reservation", path), grade=grade, **told)


def _ways_beside(path: str, catalog: Catalog) -> Iterator[Way]:
    """Yield the ways of a reservation, but for cases that a template's file refuses."""
    for template in catalog.templates.values():
        others = [each for each in template.offers if each.available and each.capacity_type != RESERVATION]
        listed = Offers(offers_by_label(template))
        there = (each for each in listed.values() if path in reservations([each]) and not refused(each, listed))
        yield from ((template, offer, [each for each in others if compete(each, offer)]) for offer in there)


@dataclass(frozen=True)
class _Run:
    """A run of a template by an offer."""

    offer: Offer
    #: USD; a pool's machines are paid, used or not.
    hourly: Price
    #: Its longest time, in as many rounds as its trials need; 0 for no limit.
    hours: Decimal

    @classmethod
    def of(cls, offer: Offer, template: Template) -> _Run:
        hourly = Price() if offer.capacity_type == POOL else offer.price_per_hour
        seconds = str(offer.spec.get("scheduling", {}).get("timeout", "")).removesuffix("s")
        hours = Decimal(seconds) / 3600 if seconds.replace(".", "", 1).isdigit() else Decimal(0)
        return cls(offer, hourly, hours * rounds(template, offer.kind))

    @property
    def most(self) -> Decimal:
        return self.hourly.known * self.hours

    @property
    def most_in_words(self) -> str:
        """Return `$61`: a catalog's prices have four digits, too few for the cents of many hours."""
        words = f"${self.most:,.0f}" if self.most >= 10 else f"${self.most:,.2f}"
        return bounded(words, Price(self.most, self.hourly.complete))


def _runs(old: Catalog, new: Catalog) -> Iterator[Consequence]:
    """Find changed costs. A typical run is by the first available way without parameters. Where its cost is unchanged,
    another way with a changed cost is reported."""
    for name, template in new.templates.items():
        before = old.templates.get(name, template)
        # Of one that fits no pool the refusal tells, and no run is usual.
        differs = before != template and not misfits(template)
        changed = next(_changed(*divided(before, template)), None) if differs else None
        if changed:
            told, (was, now) = changed
            machines = map(MachineSpec.read, filter(None, now.offer.worker_pools))
            limit = Decimal(str(new.confirm_above))
            yield by_row(
                "run-cost",
                Subject("template", name),
                **told,
                **_costs(was, now, old, new),
                unpriced="" if now.hourly.complete else unpriced(machines),
                limit=was.hourly.known <= limit < now.hourly.known and dollars(Price(limit)),
                # A price that is not known may be any.
                grade=None if now.hourly.unknown or _is_steeper(was, now, old.confirm_above) else Grade.NOTE,
                cost=Price(now.hourly.known - was.hourly.known),
            )


def _costs(was: _Run, now: _Run, old: Catalog, new: Catalog) -> dict[str, Any]:
    """Return `$2.53/h on Spot → $0.77/h on Spot`, and what a run costs at most, `$61 → $18`."""
    sides = dict.fromkeys((cost(was.offer, old), cost(now.offer, new)))
    size = DEFAULT_SIZE * any(map(varies, (was.offer, now.offer)))
    sums = dict.fromkeys(run.most_in_words for run in (was, now) if run.most)
    most = " → ".join(sums) if now.most and was.most_in_words != now.most_in_words else ""
    return {"sides": " → ".join(sides), "most": most, "size": size}


def _is_steeper(was: _Run, now: _Run, unasked: float) -> bool:
    """Tell whether a month of running costs more than before, and more than the deployed stack lets anybody submit
    `unasked`, where it has raised that; at the same price, whether a run may take longer."""
    price = now.hourly.known
    asked = unasked <= CONFIRM_ABOVE or price > Decimal(str(unasked))
    dearer = asked and is_steep(was.hourly.known * HOURS_OF_A_MONTH, price * HOURS_OF_A_MONTH)
    return dearer or (was.hours > 0 and is_steep(price * was.hours, price * now.hours))


def _changed(old: Template, new: Template) -> Iterator[tuple[dict[str, Any], tuple[_Run, _Run]]]:
    called = renames(old, new)
    usual = [[offer for offer in usual_offers(side, called=called) if offer.available] for side in (old, new)]
    pooled = all(side and side[0].capacity_type == POOL for side in usual)
    if pooled:
        usual = [[offer for offer in side if offer.capacity_type != POOL] for side in usual]
    before, after = Offers(offers_by_label(old, new.kind)), Offers(offers_by_label(new))
    first = [next(iter(side), None) for side in usual]
    apart = whose([first[1]], new) if first[1] and any(offer.team for offer in new.offers) else ""
    told: dict[str, Any] = {"default": True, "whose": apart, "own": pooled, "kind": ""}
    pairs = [(told, first[0], first[1])]
    for former, latter in ((before[label], after[now]) for now, label in kept(before, after).items()):
        if first != [former, latter]:  # The default run is told first.
            pairs.append(({}, former, latter))
    for told, deployed, declared in pairs:
        # Whether a reservation takes such a job is told of the offer.
        reserved = declared is not None and declared.capacity_type == RESERVATION
        if deployed and deployed.available and declared and declared.available and not reserved:
            was, now = _Run.of(deployed, old), _Run.of(declared, new)
            # The book has new prices, and no offer has changed.
            learnt = was.hourly.unknown and now.hourly.at_most
            if (was.hourly != now.hourly and not learnt) or was.most != now.most:
                beside = (*before.beside(deployed).values(), *after.beside(declared).values())
                pool = any(each.available and each.capacity_type == POOL for each in beside)
                own = pool and declared.capacity_type != POOL
                theirs = {"default": False, "own": own, "kind": as_kind(declared, new)}
                yield told or {**theirs, "whose": whose([declared], new)}, (was, now)
