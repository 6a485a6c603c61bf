"""The costs of a submission before it is sent: an hour, where its stack has that confirmed, and a whole run on machines
of its own. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING

from slipway.base.errors import PolicyError
from slipway.base.formatting import join, span
from slipway.model.capacity import PAID_ANYWAY, POOL, WEEK
from slipway.model.catalog.model import CONFIRM_ABOVE, Catalog
from slipway.model.prices import UNKNOWN_PRICE, Price, crossing_price, dollars, per_gib
from slipway.using.submission.candidate import Candidate, price
from slipway.using.submission.choice import Choice, JudgedCandidate
from slipway.using.submission.prepared import PreparedSubmission

if TYPE_CHECKING:
    from slipway.using.jobs.earlier_jobs import Times

_CENT = Decimal("0.01")


@dataclass(frozen=True)
class Spending:
    """An hourly price above the limit from which a stack has costs confirmed. An unknown price is above any limit."""

    what: str
    price: Price
    stack: str
    #: USD an hour.
    limit: float
    #: The most that it may cost in all, until its time limit.
    most: Price = field(default_factory=Price)
    machines: frozenset[str] = frozenset()

    @property
    def words(self) -> str:
        """The costs as text: `lora by on-demand: up to $4.25/h; stack prod asks above $4.00/h`"""
        asks = f"above {dollars(Price(Decimal(str(self.limit))))}" if self.limit else "about any cost"
        return f"{self.what}: up to {dollars(self.price)}; stack {self.stack} asks {asks}"

    def within(self, agreed: Spending) -> bool:
        """Tell whether a yes to other costs is one to these."""
        return self.price.known <= agreed.price.known and (self.price.complete or not agreed.price.complete)

    @property
    def refusal(self) -> PolicyError:
        return PolicyError(
            f"nothing was sent: nobody has confirmed the price of {self.what}",
            why=f"{self.words} (slipway:workspace.confirmAbove)",
            fix=("add ", {"yes": True}, ", or take what costs less"),
        )


@dataclass(frozen=True)
class Crossing(Spending):
    """Inputs that may cross regions, at a price for a whole run above the limit."""

    gib: float = 0.0

    @property
    def words(self) -> str:
        costs = UNKNOWN_PRICE if self.price.unknown else f"{amount(self.price)} in all"
        asks = f"above {amount(Price(Decimal(str(self.limit))))}" if self.limit else "about any cost"
        moved = f"its machines would read up to {self.gib:,.0f} GiB of inputs from another region"
        return f"{self.what}: {moved}, {costs}; stack {self.stack} asks {asks}"

    def within(self, agreed: Spending) -> bool:
        return isinstance(agreed, Crossing) and self.gib <= agreed.gib and super().within(agreed)

    @property
    def refusal(self) -> PolicyError:
        return PolicyError(
            f"nothing was sent: nobody has confirmed what {self.what} would move",
            why=f"{self.words} (slipway:workspace.confirmAbove)",
            fix=("add ", {"yes": True}, ", or take regions that have copies of the inputs"),
        )


def crossing(prepared: PreparedSubmission, candidates: Iterable[Candidate], input_bytes: int) -> Crossing | None:
    """Return what a submission on one of these candidates may move to machines of its own, all inputs being where the
    stack is and read by each machine; None where that costs no more than the stack's limit."""
    catalog, away = prepared.catalog, dict[Candidate, Decimal | None]()
    for candidate in candidates:
        if candidate.offer.region not in ("", catalog.region) and input_bytes:
            rate = per_gib(catalog.region, candidate.region)
            total = candidate.demand.machines * Decimal(input_bytes) / 2**30
            away[candidate] = None if rate is None else (rate * total).quantize(_CENT)
    costs = [cost for cost in away.values() if cost is not None]
    if len(costs) == len(away) and max(costs, default=Decimal()) <= Decimal(str(catalog.confirm_above)):
        return None
    price = Price(max(costs, default=Decimal()), complete=len(costs) == len(away))
    return Crossing(
        what=f"{prepared.template.name} in {join(dict.fromkeys(each.region for each in away), 'or')}",
        price=price,
        stack=catalog.stack,
        limit=catalog.confirm_above,
        most=price,
        gib=max(each.demand.machines for each in away) * input_bytes / 2**30,
    )


def possible(prepared: PreparedSubmission, choice: Choice) -> list[Candidate]:
    """Return the chosen candidate and those that the submission may move to, or the legs of a race."""
    if choice.legs:
        return [leg.candidate for leg in choice.legs]
    taken, hopeless = choice.taken.candidate, [judged.candidate for judged in choice.hopeless]
    later = prepared.candidates[prepared.candidates.index(taken) + 1 :] if choice.moves else ()
    return [taken, *(candidate for candidate in later if candidate not in hopeless)]


def spending_of(prepared: PreparedSubmission, choice: Choice) -> Spending | None:
    """Return the spending on the chosen candidate and those it may move to, or on the legs of a race; None where
    nothing needs a yes."""
    return spending(prepared, possible(prepared, choice))


def spending(prepared: PreparedSubmission, candidates: Iterable[Candidate]) -> Spending | None:
    """Return the spending on the dearest of these candidates; None where nothing has to be confirmed."""
    beside = [candidate for candidate in candidates if candidate.offer.capacity_type not in PAID_ANYWAY]
    if not beside:
        return None
    prices = {candidate: price(prepared.catalog, candidate) for candidate in beside}
    # A price that is not wholly known may be higher than any that is.
    highest = max(beside, key=lambda candidate: _dearness(prices[candidate]))
    what, most = f"{prepared.template.name} by {highest.label}", [_most(prices[each], each) for each in beside]
    return _confirmed(prepared.catalog, what, prices[highest], max(most, key=_dearness), beside)


def spending_at_once(catalog: Catalog, template: str, runs: Iterable[tuple[Candidate, int]]) -> Spending | None:
    """Return the spending on `runs` at once, by each of these candidates; None where nothing has to be confirmed."""
    beside = [(candidate, count) for candidate, count in runs if candidate.offer.capacity_type not in PAID_ANYWAY]
    total = sum((price(catalog, candidate) * count for candidate, count in beside), Price())
    most = sum((_most(price(catalog, candidate) * count, candidate) for candidate, count in beside), Price())
    what = f"{sum(count for _, count in beside):,} runs of {template} at once"
    return _confirmed(catalog, what, total, most, [candidate for candidate, _ in beside])


def _dearness(costs: Price) -> tuple[bool, Decimal]:
    return not costs.complete, costs.known


def _most(hourly: Price, candidate: Candidate) -> Price:
    return hourly * (Decimal(str(longest_run(candidate))) / 3600)


def _confirmed(
    catalog: Catalog, what: str, costs: Price, most: Price, candidates: Iterable[Candidate]
) -> Spending | None:
    limit = catalog.confirm_above
    if costs.complete and costs.known <= Decimal(str(limit)):
        return None
    return Spending(
        what=what,
        price=Price(costs.known, costs.complete),
        stack=catalog.stack,
        limit=limit,
        most=most,
        machines=frozenset(str(part.machine) for candidate in candidates for part in candidate.demand.parts),
    )


@dataclass(frozen=True)
class RunTotal:
    """The cost of a run."""

    hourly: Price
    #: The times of earlier runs, None where there are too few.
    times: Times | None
    #: The seconds after which the service ends it.
    longest: float
    #: It is a tuning job, whose machines are not all in use all the time.
    trials: bool = False

    @property
    def usual(self) -> tuple[Price | None, Price] | None:
        """The costs of the shortest and the longest earlier run; the least is None where only a bound is known."""
        if self.times is None:
            return None
        least = None if self.trials or self.hourly.at_most else self._for(self.times.shortest)
        return least, self._for(self.times.longest)

    @property
    def most(self) -> Price:
        return self._for(self.longest)

    @property
    def words(self) -> str:
        """The cost as text: `this run: $0.02 to $0.07 in 4–9 min (11 earlier runs in 30 days), at most $77.11 in 7
        days`"""
        parts = []
        if self.usual is not None:
            least, most = self.usual
            costs = amount(most)
            if least is None:
                costs = f"up to {costs}"
            elif amount(least) != costs:
                costs = f"{amount(least)} to {costs}"
            parts.append(f"{costs} in {self.times}")
        bound = "at most " if self.most.complete else ""
        parts.append(f"{bound}{amount(self.most)} in {span(self.longest)}, its timeout")
        return f"this run: {', '.join(parts)}"

    def _for(self, seconds: float) -> Price:
        return Price(self.hourly.known * Decimal(str(seconds)) / 3600, self.hourly.complete)


def amount(price: Price) -> str:
    """Return an amount as text: `$3.60`, `under $0.01`."""
    return "under $0.01" if price.known < _CENT and price.complete else dollars(price, per="")


def total_of(catalog: Catalog, candidate: Candidate, times: Times | None) -> RunTotal:
    trials = candidate.kind.has_trials
    return RunTotal(hourly=price(catalog, candidate), times=times, longest=longest_run(candidate), trials=trials)


def run_total(catalog: Catalog, judged: JudgedCandidate) -> RunTotal | None:
    """Return a run's cost; None on a pool, whose machines are paid for anyway, and where no price is known."""
    total = total_of(catalog, judged.candidate, judged.times)
    return None if judged.candidate.offer.capacity_type == POOL or total.hourly.unknown else total


def dearest(catalog: Catalog, choice: Choice) -> JudgedCandidate:
    """Return the candidate by which a run costs most, of those that are sent."""
    return max(choice.legs or (choice.taken,), key=lambda judged: _dearness(price(catalog, judged.candidate)))


def left_pool(choice: Choice) -> JudgedCandidate | None:
    """Return the candidate whose machines are paid for anyway, and which the choice leaves for others since the job
    would only wait there; None where it leaves none."""
    if choice.taken.candidate.offer.capacity_type in PAID_ANYWAY:
        return None
    passed = (judged for judged in choice.passed if judged.candidate.offer.capacity_type in PAID_ANYWAY)
    return next((judged for judged in passed if judged.waits or judged.comes_back), None)


def leaving(catalog: Catalog, choice: Choice, runs: int = 1) -> str:
    """Return `leaves pool cpu for on-demand, which costs $0.46/h extra: pool full: …`; empty where no pool is left.
    `runs`: how many at once."""
    left, taken = left_pool(choice), choice.taken.candidate
    if left is None:
        return ""
    extra = price(catalog, taken) * runs
    at_once = f" for {runs:,} runs at once" if runs > 1 else ""
    costs = f"costs {dollars(extra)} extra{at_once}" if not extra.unknown else "costs extra, as no list has its price"
    return f"leaves {left.candidate.label} for {taken.label}, which {costs}: {'; '.join(left.reasons)}"


def unplanned_departure(prepared: PreparedSubmission, choice: Choice) -> str:
    """Return the words of `leaving` if a person should be asked about it: neither the submission nor its template plans
    to move on, and the stack has not set `confirmAbove` higher than the default. Empty otherwise."""
    catalog, asked = prepared.catalog, prepared.asked
    is_planned = prepared.moves or bool(asked.then)
    if is_planned or catalog.confirm_above > CONFIRM_ABOVE:
        return ""
    return leaving(catalog, choice)


def region_lines(prepared: PreparedSubmission, choice: Choice) -> Iterator[str]:
    """Yield what a race is, each other region with its verdict and price; and what may cross regions, by a race or in
    order."""
    home, legs = prepared.catalog.region, choice.legs
    hopeless = [leg.candidate for leg in choice.hopeless]
    racing = [each.region for each in prepared.candidates if each not in hopeless]  # Some may be sent already.
    if len(legs) == 1 == len(racing):
        yield f"  no race: of its regions {racing[0]} alone can run it"
    elif legs:
        yield f"  a race in {join(racing)}: the first that has its machines runs it"
    for leg in legs[1:]:
        yield f"  {leg.sentence()}, {dollars(price(prepared.catalog, leg.candidate))}"
    regions = dict.fromkeys(each.region for each in possible(prepared, choice) if each.offer.region)
    if away := [region for region in regions if region != home]:
        yield (
            f"  in {join(away, 'or')} each machine reads package, inputs and image from {home}, "
            f"{crossing_price(home, away)}; the output stays where it runs"
        )


def longest_run(candidate: Candidate) -> float:
    """Return the longest time of a run in seconds; each round of a tuning job's trials may take the whole timeout."""
    job = candidate.request.job
    timeout = candidate.kind.spec_of(candidate.body).get("scheduling", {}).get("timeout")
    rounds = -(-job.max_trials // max(job.trials, 1)) if candidate.kind.has_trials else 1
    return rounds * (float(str(timeout).removesuffix("s")) if timeout else WEEK)
