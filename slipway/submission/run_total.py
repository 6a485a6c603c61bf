"""What a run beside the pools costs from its start to its end, before it is sent. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from slipway.capacity import POOL, WEEK
from slipway.catalog.model import Catalog
from slipway.cloud.jobs import VertexJob
from slipway.formatting import span
from slipway.jobs.earlier_jobs import Times
from slipway.prices import Price, dollars
from slipway.submission.candidates import Candidate, price
from slipway.submission.choice import JudgedCandidate

_CENT = Decimal("0.01")


@dataclass(frozen=True)
class RunTotal:
    """`hourly` for all its machines, which those of a job with `trials` are not in use all the time. `times` that
    earlier runs took, None where too few tell; `longest`: the seconds after which the service ends it."""

    hourly: Price
    times: Times | None
    longest: float
    trials: bool = False

    @property
    def usual(self) -> tuple[Price | None, Price] | None:
        """For the shortest of the earlier runs and for the longest; at least nothing is known where only a bound is."""
        if self.times is None:
            return None
        least = None if self.trials or self.hourly.at_most else self._for(self.times.shortest)
        return least, self._for(self.times.longest)

    @property
    def most(self) -> Price:
        return self._for(self.longest)

    @property
    def words(self) -> str:
        """`this run: $0.02 to $0.07 in 4–9 min (11 earlier runs in 30 days), at most $77.11 in 7 days`"""
        parts = []
        if self.usual is not None:
            least, most = self.usual
            low, high = _amount(least) if least else "", _amount(most)
            parts.append(f"{'up to ' if not low else '' if low == high else f'{low} to '}{high} in {self.times}")
        bound = "at most " if self.most.complete else ""
        parts.append(f"{bound}{_amount(self.most)} in {span(self.longest)}, its timeout")
        return f"this run: {', '.join(parts)}"

    def _for(self, seconds: float) -> Price:
        return Price(self.hourly.known * Decimal(str(seconds)) / 3600, self.hourly.complete)


def _amount(price: Price) -> str:
    return "under $0.01" if price.known < _CENT and price.complete else dollars(price, per="")


def run_total(catalog: Catalog, judged: JudgedCandidate) -> RunTotal | None:
    """None on a pool, whose machines are paid for anyway, and where no price is known."""
    candidate = judged.candidate
    hourly = price(catalog, candidate)
    if candidate.offer.capacity_type == POOL or hourly.unknown:
        return None
    return RunTotal(hourly, judged.times, _longest(candidate), candidate.kind.has_trials)


def _longest(candidate: Candidate) -> float:
    """A tuning job's trials come in rounds, each of which may take the whole timeout."""
    job = VertexJob.read(candidate.body, candidate.kind)
    timeout = candidate.kind.spec_of(candidate.body).get("scheduling", {}).get("timeout")
    rounds = -(-job.max_trials // max(job.trials, 1)) if candidate.kind.has_trials else 1
    return rounds * (float(str(timeout).removesuffix("s")) if timeout else WEEK)
