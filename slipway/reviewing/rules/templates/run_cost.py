"""Costs of a template's runs before and after: an hour, and at most in all. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from slipway.google.catalog.lookup import usual_offers
from slipway.model.capacity import POOL
from slipway.model.catalog.model import Catalog, Offer, Template
from slipway.model.facts import offers_by_label
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.model.kinds import KINDS as KINDS_OF_JOBS
from slipway.model.machines.price_tables import HOURS_OF_A_MONTH
from slipway.model.prices import Price, dollars, is_steep
from slipway.reviewing.change.usual import by, by_hour, job_spec, rounds
from slipway.reviewing.rules.templates.usage import whose


@dataclass(frozen=True)
class _Run:
    """A run of a template by an offer. `hourly` in USD: a pool's machines are paid, used or not. `hours`: its longest
    time, in as many rounds as its trials need; 0 for no limit. `most`: its cost then."""

    offer: Offer
    hourly: Price
    hours: Decimal

    @classmethod
    def of(cls, offer: Offer, template: Template) -> _Run:
        hourly = Price() if offer.capacity_type == POOL else offer.price_per_hour
        seconds = str(job_spec(offer).get("scheduling", {}).get("timeout", "")).removesuffix("s")
        hours = Decimal(seconds) / 3600 if seconds.replace(".", "", 1).isdigit() else Decimal(0)
        return cls(offer, hourly, hours * rounds(template, offer.kind))

    @property
    def most(self) -> Decimal:
        return self.hourly.known * self.hours

    def __str__(self) -> str:
        """Return `$101.01/h on Spot`."""
        return by_hour(self.offer)

    @property
    def way(self) -> tuple[str, str]:
        return self.offer.capacity_type, self.offer.cluster

    @property
    def in_all(self) -> str:
        return dollars(Price(self.most, self.hourly.complete), per="")


def run_costs(old: Catalog, new: Catalog) -> Iterator[Finding]:
    """Find changed costs. A typical run is by the first available way without parameters. Where its cost is unchanged,
    another way with a changed cost is reported. Other ways' costs are in the same finding, so they have no clause."""
    for name, template in new.templates.items():
        before = old.templates.get(name)
        lines = list(_lines(before, template)) if before else []
        for what, was, now in lines[:1]:
            alike = dollars(was.hourly) == dollars(now.hourly)
            sides = (was.in_all, now.in_all) if alike else (dollars(was.hourly), dollars(now.hourly))
            cost = f"at most {' → '.join(sides)} a run" if alike else " → ".join(sides)
            dearer = _steeper(was, now, old.confirm_above)
            yield KINDS["run-cost"].of(
                Subject("template", name),
                f"{what} of `{name}` costs {_costs(was, now)}",
                details=(f"{_inside(label)} costs {_costs(one, other)}" for label, one, other in lines[1:]),
                grade=None if dearer else Grade.NOTE,
                cost=float(now.hourly.known - was.hourly.known),
                clause=(cost if alike else f"{_inside(what)}: {cost}") if was.way == now.way else "",
            )


def _steeper(was: _Run, now: _Run, unasked: float | None) -> bool:
    """Tell whether a month of running costs more than before, and more than the deployed stack lets anybody submit
    `unasked`; at the same price, whether a run may take longer."""
    price = now.hourly.known
    asked = unasked is None or price > Decimal(str(unasked))
    dearer = asked and is_steep(was.hourly.known * HOURS_OF_A_MONTH, price * HOURS_OF_A_MONTH)
    return dearer or (was.hours > 0 and is_steep(price * was.hours, price * now.hours))


def _inside(what: str) -> str:
    """Return the form that stands within a sentence."""
    return what[:1].lower() + what[1:]


def _costs(was: _Run, now: _Run) -> str:
    hourly = str(was) if dollars(was.hourly) == dollars(now.hourly) else f"{was} → {now}"
    most = " → ".join(one.in_all for one in (was, now) if one.most)
    return hourly + (f", at most {most} a run" if now.most and was.most != now.most else "")


def _lines(old: Template, new: Template) -> Iterator[tuple[str, _Run, _Run]]:
    usual = [[one for one in usual_offers(each) if one.available] for each in (old, new)]
    what = "A usual run"
    if all(some and some[0].capacity_type == POOL for some in usual):
        usual = [[one for one in some if one.capacity_type != POOL] for some in usual]
        what = "A usual run on machines of its own"
    before, after = offers_by_label(old, new.kind), offers_by_label(new)
    first = [next(iter(some), None) for some in usual]
    pairs = [(what, first[0], first[1])]
    pairs += [(f"A run {_by(one, new)}", before.get(label), one) for label, one in after.items()]
    for what, was, now in pairs:
        if was and now:
            one, other = _Run.of(was, old), _Run.of(now, new)
            learnt = one.hourly.unknown and other.hourly.at_most  # The book has new prices, and no offer has changed.
            if (one.hourly != other.hourly and not learnt) or one.most != other.most:
                yield what, one, other


def _by(offer: Offer, template: Template) -> str:
    """Return `on Spot (model=9b)`."""
    kind = (
        f" as a {KINDS_OF_JOBS[offer.kind].words}"
        if offer.kind in KINDS_OF_JOBS and offer.kind != template.kind
        else ""
    )
    return f"{by(offer)}{whose([offer], template)}{kind}"
