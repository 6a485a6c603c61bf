"""The machines of a journey's clusters, and what they have cost, busy or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import pairwise

from local.demo.play import Play
from local.demo.report import cents
from slipway.base.formatting import counted
from slipway.google.connection import connect
from slipway.model.labels import STACK_LABEL
from slipway.model.prices import Price, hourly


@dataclass(frozen=True)
class Machines:
    """The live machines of a stack at one moment, and their price."""

    when: datetime
    count: int
    per_hour: Price


def machines(journey: Play) -> Machines:
    """Return the live machines of the stack's clusters, as the deployer sees them."""
    stack = journey.stack
    vertex = connect(journey.deployer.environment).vertex(stack.project, stack.region)
    ours = [one for one in vertex.persistent_resources() if one.labels.get(STACK_LABEL) == stack.identity.label]
    pools = [pool for cluster in ours for pool in cluster.pools]
    per_hour = sum((hourly(pool.machine, stack.region) * pool.replicas for pool in pools), Price())
    return Machines(journey.now(), sum(pool.replicas for pool in pools), per_hour)


def pool_cost(samples: Sequence[Machines]) -> str:
    """Return the cost from the first sample to the last: between two of them the larger count is taken."""
    total, minutes = Price(), Decimal(0)
    for before, after in pairwise(samples):
        hours = Decimal(str((after.when - before.when).total_seconds())) / 3600
        larger = max(before.per_hour.known, after.per_hour.known)
        total += Price(larger, before.per_hour.complete and after.per_hour.complete) * hours
        minutes += hours * 60
    low, high = min(sample.count for sample in samples), max(sample.count for sample in samples)
    machines = counted(low, "machine") if low == high else f"{low} to {high} machines"
    counts = f"{machines} over {minutes:.1f} minutes, busy or not"
    return f"{'at most ' if total.complete else ''}{cents(total)} for {counts}"
