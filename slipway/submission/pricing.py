"""What a submission's machines cost, and how it is placed, in a line."""

from __future__ import annotations

from slipway.catalog.model import Catalog
from slipway.formatting import counted, join, shape
from slipway.money import UNKNOWN, Price, total
from slipway.submission.candidates import Candidate
from slipway.submission.demand import Part
from slipway.submission.verdict import Verdict


def price(catalog: Catalog, candidate: Candidate) -> Price:
    """USD an hour for all machines: as published for a pool, from the price book for others."""
    return total(_each(catalog, candidate, part) * part.machines for part in candidate.demand.parts)


def added(catalog: Catalog, candidate: Candidate, verdict: Verdict) -> Price:
    """USD an hour for the machines that pools would grow by."""
    pools = catalog.clusters[candidate.offer.cluster].pools
    return total((pools[name].price_per_hour if name in pools else UNKNOWN) * count for name, count in verdict.grows)


def summary(candidate: Candidate) -> str:
    """`pool cpu/workers  n1-standard-8 × 3 (1 scheduler, 2 workers)`"""
    demand, offer = candidate.demand, candidate.offer
    place = offer.capacity_type
    if offer.cluster:
        place = f"pool {join(f'{offer.cluster}/{pool}' for pool in dict.fromkeys(part.pool for part in demand.parts))}"
    shapes: dict[str, int] = {}
    for part in demand.parts:
        words = shape(part.shape.machine, part.shape.accelerator, part.shape.accelerator_count)
        shapes[words] = shapes.get(words, 0) + part.machines
    roles = ", ".join(counted(part.machines, part.role) for part in demand.parts)
    return f"{place}  {', '.join(f'{words} × {count}' for words, count in shapes.items())} ({roles})"


def _each(catalog: Catalog, candidate: Candidate, part: Part) -> Price:
    if candidate.offer.cluster:
        pool = catalog.clusters[candidate.offer.cluster].pools.get(part.pool)
        return pool.price_per_hour if pool else UNKNOWN
    from slipway.cluster import Disk
    from slipway.prices import hourly

    disk = Disk(part.shape.disk_type, part.shape.disk_gb)
    return hourly(
        part.shape.machine, catalog.region, disk, candidate.offer.capacity_type, accelerator=part.shape.accelerator
    )
