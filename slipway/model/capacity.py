"""Capacity types, the sources of machines: what each draws and costs, and how it behaves; one row each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from slipway.base.formatting import join
from slipway.model.machines.table import models

DAY = 24 * 3600
WEEK = 7 * DAY


@dataclass(frozen=True)
class CapacityType:
    """A row: where the machines of a job come from."""

    name: str
    #: "nothing" (a pool holds the machines), "on-demand", "preemptible" (in name only for flex-start), or "unknown".
    draws: str
    #: The jobs that it is for, as text.
    when: str
    billing: str
    #: The description for a person whose job has failed; `{}` is the cluster.
    instead: str
    #: Of the job's scheduling, None where it is left out.
    strategy: str | None = None
    #: Its table in the price book, None where a book can't tell.
    price: str | None = None
    #: The service waits for machines, for `maxWaitDuration`; others wait only for quota or a pool.
    waits_by_itself: bool = False
    #: The prices include Vertex AI's management fee.
    with_fee: bool = False
    #: Today's rule, where earlier documentation of Google's says another one.
    differs: str = ""

    @property
    def preemptible(self) -> bool:
        return self.draws == "preemptible"


POOL, FLEX_START, SPOT, ON_DEMAND, RESERVATION = "pool", "flex-start", "spot", "on-demand", "reservation"
PAID_ANYWAY = frozenset({POOL, RESERVATION})
"""The capacity types whose cost a review has seen: a submission adds no machine beyond it."""

_ROWS = (
    CapacityType(
        POOL,
        draws="nothing",
        price="on-demand",
        when="short jobs, many of them, and machines that must be there",
        billing="the pool is billed for all its time, a job on it costs nothing more",
        instead="on pool {}",
    ),
    CapacityType(
        FLEX_START,
        strategy="FLEX_START",
        draws="preemptible",
        price="flex-start",
        with_fee=True,
        waits_by_itself=True,
        instead="waits in the queue until all its machines are there at once",
        when="scarce GPUs for up to 7 days, when the start may be later",
        billing="Compute Engine's flex-start price and Vertex AI's management fee while it runs; waiting is not billed",
        differs=f"{join(models(flex_start=True))} only, at a price below the on-demand one",
    ),
    CapacityType(
        SPOT,
        strategy="SPOT",
        draws="preemptible",
        price="spot",
        instead="Spot machines, which may be taken away again",
        when="work that resumes from checkpoints",
        billing="Compute Engine's Spot price and Vertex AI's management fee while it runs; queued or preempted is free",
        differs="every machine that Compute Engine offers as Spot, TPU pods excepted",
    ),
    CapacityType(
        ON_DEMAND,
        strategy="STANDARD",
        draws="on-demand",
        price="on-demand",
        instead="machines of its own, which nobody takes away",
        when="machines that are easy to get, and jobs too rare for a pool",
        billing="Vertex AI's price while it runs",
    ),
    CapacityType(
        RESERVATION,
        draws="unknown",
        instead="on reserved machines",
        when=(
            "machines that are paid for already, and those that only a reservation gives "
            f"({join(models(reserved_only=True))})"
        ),
        billing="the reservation is billed for all its time, and Vertex AI's management fee while the job runs",
    ),
)

CAPACITY_TYPES: Mapping[str, CapacityType] = MappingProxyType({row.name: row for row in _ROWS})
"""Capacity types by name, in no order of preference: that is a template's."""

WAIT_BY_THEMSELVES = frozenset(row.name for row in _ROWS if row.waits_by_itself)


def of_job(strategy: str, label: str = "", reserved: bool = False) -> str:
    """Return the capacity type of a job beside the pools.

    `strategy`: of its scheduling, empty where it is left out. `label`: the type in its label; it does not count where
    the strategy disagrees. `reserved`: it takes machines of a reservation.
    """
    labelled = CAPACITY_TYPES.get(label)
    if labelled is not None and label != POOL and strategy in ("", labelled.strategy or "STANDARD"):
        return label
    by_strategy = next((row.name for row in _ROWS if row.strategy == strategy), ON_DEMAND)
    # A reservation has no strategy of its own.
    return RESERVATION if reserved and by_strategy == ON_DEMAND else by_strategy
