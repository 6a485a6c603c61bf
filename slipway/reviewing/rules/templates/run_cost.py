"""Costs of a template's runs before and after: an hour, and at most in all. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from slipway.google.catalog.lookup import usual_offers
from slipway.model.capacity import POOL
from slipway.model.catalog.model import Catalog, Offer, Template
from slipway.model.facts import offers_by_label
from slipway.model.findings.finding import Grade, Subject
from slipway.model.kinds import KINDS
from slipway.model.machines.price_tables import HOURS_OF_A_MONTH
from slipway.model.machines.spec import MachineSpec
from slipway.model.prices import Price, dollars, is_steep, unpriced
from slipway.reviewing.change.usual import by, by_hour, posted_pools, rounds, whose
from slipway.reviewing.consequence import IT, Consequence, consequence
from slipway.reviewing.rules.templates.cases import divided


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


Sides = tuple[_Run, _Run]


def run_costs(old: Catalog, new: Catalog) -> Iterator[Consequence]:
    """Find changed costs. A typical run is by the first available way without parameters. Where its cost is unchanged,
    another way with a changed cost is reported. Other ways' costs are in the same consequence."""
    for name, template in new.templates.items():
        before = old.templates.get(name)
        changed = list(_changed(*divided(before, template))) if before and before != template else []
        for who, (was, now) in changed[:1]:
            moves_in = now.offer.capacity_type == POOL != was.offer.capacity_type
            yield consequence(
                "run-cost",
                Subject("template", name),
                _costs(was, now),
                who=f"{who} of {IT}",
                so="they hold its machines, and others wait" if moves_in else _lacking(now),
                details=(f"{other} {_costs(*sides)}" for other, sides in changed[1:]),
                grade=None if _is_steeper(was, now, old.confirm_above) else Grade.NOTE,
                cost=float(now.hourly.known - was.hourly.known),
            )


def _lacking(run: _Run) -> str:
    return "" if run.hourly.complete else unpriced(map(MachineSpec.read, filter(None, posted_pools(run.offer))))


def _costs(was: _Run, now: _Run) -> str:
    """Return `costs $2.53/h on Spot → $0.77/h on Spot, at most $61 → $18 a run`."""
    sides = list(dict.fromkeys(by_hour(run.offer) for run in (was, now)))
    if dollars(was.hourly) == dollars(now.hourly):
        sides = sides[:1]
    most = " → ".join(dollars(Price(run.most, run.hourly.complete), per="") for run in (was, now) if run.most)
    return f"costs {' → '.join(sides)}{f', at most {most} a run' if now.most and was.most != now.most else ''}"


def _is_steeper(was: _Run, now: _Run, unasked: float | None) -> bool:
    """Tell whether a month of running costs more than before, and more than the deployed stack lets anybody submit
    `unasked`; at the same price, whether a run may take longer."""
    price = now.hourly.known
    asked = unasked is None or price > Decimal(str(unasked))
    dearer = asked and is_steep(was.hourly.known * HOURS_OF_A_MONTH, price * HOURS_OF_A_MONTH)
    return dearer or (was.hours > 0 and is_steep(price * was.hours, price * now.hours))


def _changed(old: Template, new: Template) -> Iterator[tuple[str, Sides]]:
    usual = [[offer for offer in usual_offers(side) if offer.available] for side in (old, new)]
    who = "A usual run"
    if all(side and side[0].capacity_type == POOL for side in usual):
        usual = [[offer for offer in side if offer.capacity_type != POOL] for side in usual]
        who = "A usual run on machines of its own"
    before = offers_by_label(old, new.kind)
    first = [next(iter(side), None) for side in usual]
    pairs = [(who, first[0], first[1])]
    for label, offer in offers_by_label(new).items():
        if first == [before.get(label), offer]:
            continue  # The usual run is told first.
        kind = f" as a {KINDS[offer.kind].words}" if offer.kind in KINDS and offer.kind != new.kind else ""
        pairs.append((f"A run {by(offer)}{whose([offer], new)}{kind}", before.get(label), offer))
    for who, former, latter in pairs:
        if former and latter and latter.available:
            was, now = _Run.of(former, old), _Run.of(latter, new)
            # The book has new prices, and no offer has changed.
            learnt = was.hourly.unknown and now.hourly.at_most
            if (was.hourly != now.hourly and not learnt) or was.most != now.most:
                yield who, (was, now)
