"""A submission's candidate: an offer of the catalog with the request that it would send. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from slipway.base.formatting import counted, join
from slipway.model.capacity import WAIT_BY_THEMSELVES
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.template import Offer
from slipway.model.cluster import PoolSpec
from slipway.model.kinds import PIPELINE_JOB, JobKind
from slipway.model.prices import UNKNOWN, Price, hourly
from slipway.using.jobs.demand import Demand
from slipway.using.jobs.verdict import Verdict
from slipway.using.submission.request import Request


@dataclass(frozen=True, eq=False)
class Candidate:
    """An offer that the submission may take."""

    offer: Offer
    kind: JobKind
    #: Makes the offer's request, on first use.
    make: Callable[[], Request]
    #: Seconds until the next candidate is taken, None to stay with this one.
    wait: float | None = None
    roles: tuple[str, ...] = ()
    #: The region of its cluster, or the stack's own.
    region: str = ""
    #: The edit of the stack file that brings its dormant cluster back, where the cluster does not return by itself.
    edit: str = ""
    #: Its pools, where any machines that suffice take a job of its kind; else the machines are the job's own.
    taken: tuple[PoolSpec, ...] = ()
    #: The reason why the team that it counts for may not use its cluster; empty where it may.
    barred: str = ""
    #: The teams that may use it, and that the submission may count for.
    teams: tuple[str, ...] = ()

    @cached_property
    def request(self) -> Request:
        """The job to post, made on first use. Raises ConfigError when the catalog is not consistent with itself."""
        return self.make()

    @property
    def body(self) -> Mapping[str, Any]:
        return self.request.body

    @cached_property
    def demand(self) -> Demand:
        return Demand.of(self.request.job, self.roles, self.offer.pools, self.taken)

    @property
    def label(self) -> str:
        """The label: `pool cpu`, `spot`, `spot on a2-ultragpu-2g`, `spot in us-east5`"""
        words = (self.offer.capacity_type, self.offer.cluster or self.offer.dormant)
        shape, elsewhere = self.offer.shape, self.offer.region
        return " ".join(filter(None, (*words, f"on {shape}" if shape else "", f"in {elsewhere}" if elsewhere else "")))

    @property
    def waits_by_itself(self) -> bool:
        return self.offer.capacity_type in WAIT_BY_THEMSELVES


def likely(candidates: Sequence[Candidate]) -> Candidate:
    """Return the candidate that is most likely taken: the first that was available at the last deployment."""
    can = (candidate for candidate in candidates if candidate.offer.available and not candidate.barred)
    return next(can, candidates[0])


def price(catalog: Catalog, candidate: Candidate) -> Price:
    """Return USD an hour for all machines: as published for a pool, from the price book for others. Not complete for a
    pipeline that may need more of these."""
    offer, total = candidate.offer, Price()
    if candidate.kind is PIPELINE_JOB and not offer.cluster:
        from slipway.model.kinds.pipeline import Pipeline  # Other kinds are submitted without it.

        total = Price(complete=Pipeline(candidate.body[PIPELINE_JOB.spec]).bounded)
    for part in candidate.demand.parts:
        if offer.cluster:
            each = _of_pool(catalog, offer.cluster, part.pool)
        else:
            each = hourly(part.machine, candidate.region, offer.capacity_type)
        total += each * part.machines
    return total


def added(catalog: Catalog, candidate: Candidate, verdict: Verdict) -> Price:
    cluster = candidate.offer.cluster
    return sum((_of_pool(catalog, cluster, name) * count for name, count in verdict.grows), Price())


def summary(candidate: Candidate, home: str, runs: int | None = None) -> str:
    """Return `pool cpu/workers in us-east4  n1-standard-8 × 3 (1 scheduler, 2 workers)`, with the region only when it
    is not the stack's own, `home`. Of several `runs`: `40 runs, each by spot: n1-standard-8`."""
    demand, offer = candidate.demand, candidate.offer
    place = offer.capacity_type
    if offer.cluster:
        place = f"pool {join(f'{offer.cluster}/{pool}' for pool in dict.fromkeys(part.pool for part in demand.parts))}"
    if candidate.region != home:
        place += f" in {candidate.region}"
    machines = _machines(demand)
    if runs is None:
        return f"{place}  {machines}"
    each = "each " if runs > 1 else ""
    return f"{counted(f'{runs:,}', 'run')}, {each}{'on' if offer.cluster else 'by'} {place}: {machines}"


def _machines(demand: Demand) -> str:
    """Return `n1-standard-8 × 3 (1 scheduler, 2 workers)`; of a single machine its type alone."""
    counts = Counter[str]()
    for part in demand.parts:
        counts[str(part.machine)] += part.machines
    if demand.machines == 1:
        return next(iter(counts))
    roles = ", ".join(counted(part.machines, part.role) for part in demand.parts)
    return f"{', '.join(f'{machine} × {count}' for machine, count in counts.items())} ({roles})"


def _of_pool(catalog: Catalog, cluster: str, name: str) -> Price:
    pool = catalog.clusters[cluster].pool(name)
    return pool.price_per_hour if pool else UNKNOWN
