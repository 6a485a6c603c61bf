"""What a submission may cost an hour beside what is paid for anyway, and whether its stack has that confirmed. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from slipway.capacity import POOL, RESERVATION
from slipway.catalog.model import Catalog
from slipway.errors import PolicyError
from slipway.prices import Price, dollars
from slipway.submission.candidates import Candidate, PreparedSubmission, price
from slipway.submission.choice import Choice

_PAID_ANYWAY = frozenset({POOL, RESERVATION})
"""What these cost a review has seen, and a submission adds no machine beyond that."""


@dataclass(frozen=True)
class Spending:
    """`what` may cost so much an hour, and `stack` has more than `limit` USD confirmed. What has no known price is more
    than any limit."""

    what: str
    price: Price
    stack: str
    limit: float

    @property
    def words(self) -> str:
        """`lora by on-demand: up to $4.25/h; stack prod asks above $4.00/h`"""
        limit = dollars(Price(Decimal(str(self.limit))))
        return f"{self.what}: up to {dollars(self.price)}; stack {self.stack} asks above {limit}"

    @property
    def refusal(self) -> PolicyError:
        """Where nobody can be asked."""
        return PolicyError(
            f"nothing was sent: nobody has confirmed the price of {self.what}",
            why=f"{self.words} (slipway:workspace.confirmAbove)",
            fix=("add ", {"yes": True}, ", or take what costs less"),
        )


def spending_of(prepared: PreparedSubmission, choice: Choice) -> Spending | None:
    """Of what was chosen, and of all that the submission may move on to; None where nothing has to be confirmed."""
    taken, hopeless = choice.taken.candidate, [one.candidate for one in choice.hopeless]
    later = prepared.candidates[prepared.candidates.index(taken) + 1 :] if choice.moves else ()
    return spending(prepared, [taken, *(one for one in later if one not in hopeless)])


def spending(prepared: PreparedSubmission, candidates: Iterable[Candidate]) -> Spending | None:
    """Of the dearest of these; None where nothing has to be confirmed."""
    beside = [one for one in candidates if one.offer.capacity_type not in _PAID_ANYWAY]
    if not beside or prepared.catalog.confirm_above is None:
        return None
    priced = [(price(prepared.catalog, one), one.label) for one in beside]
    dearest, label = max(priced, key=lambda one: (not one[0].complete, one[0].known))
    return _confirmed(prepared.catalog, f"{prepared.template.name} by {label}", dearest)


def spending_at_once(catalog: Catalog, template: str, runs: Iterable[tuple[Candidate, int]]) -> Spending | None:
    """Of so many runs by each of these, all at the same time; None where nothing has to be confirmed."""
    beside = [(one, count) for one, count in runs if one.offer.capacity_type not in _PAID_ANYWAY]
    total = sum((price(catalog, one) * count for one, count in beside), Price())
    return _confirmed(catalog, f"{sum(count for _, count in beside):,} runs of {template} at once", total)


def _confirmed(catalog: Catalog, what: str, costs: Price) -> Spending | None:
    limit = catalog.confirm_above
    if limit is None or (costs.complete and costs.known <= Decimal(str(limit))):
        return None
    return Spending(what, Price(costs.known, costs.complete), catalog.stack, limit)
