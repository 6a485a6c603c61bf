"""Reads, at once, what the verdict before sending needs, and gives it. What can't be read is said, not guessed."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import islice
from typing import TYPE_CHECKING

from slipway.catalog.model import Catalog, Way
from slipway.cloud.connection import Connection
from slipway.cloud.failures import CloudError, Denied, NotFound, Unauthenticated, Unreachable
from slipway.cloud.resources import CustomJob, PersistentResource
from slipway.errors import PolicyError, ResourceError
from slipway.submit.demand import Demand, Part
from slipway.submit.sending import Sent
from slipway.submit.verdict import Outcome, Verdict, on_cluster
from slipway.words import join

if TYPE_CHECKING:
    from slipway.cloud.quotas import Quotas
    from slipway.submit.headroom import Limits

_FIRST_PAGE = 100


@dataclass(frozen=True)
class Survey:
    """``per_hour``: USD for all machines, None for *price unknown*. ``earlier``: what the request id made before."""

    verdict: Verdict
    per_hour: Decimal | None
    earlier: Sent | None = None


def survey(
    connection: Connection,
    catalog: Catalog,
    way: Way,
    demand: Demand,
    now: datetime,
    begin: Callable[[], Sent | None],
) -> Survey:
    """One round of concurrent reads. ``begin`` runs beside them and may find the job that the request made before.

    Raises ResourceError when the cluster is gone or in ERROR, Unreachable and Unauthenticated as they come.
    """
    vertex = connection.vertex(catalog.project, catalog.region)
    with ThreadPoolExecutor(4, thread_name_prefix="survey") as threads:
        before = threads.submit(begin)
        jobs = threads.submit(lambda: tuple(islice(vertex.active_custom_jobs(), _FIRST_PAGE)))
        if way.cluster:
            cluster = threads.submit(lambda: vertex.persistent_resource(catalog.clusters[way.cluster].id))
        else:
            quotas = connection.quotas(catalog.project)
            limits = threads.submit(_limits, quotas, demand, catalog.region)
        sent = before.result()
        if sent:
            return Survey(Verdict(Outcome.UNKNOWN, "submitted before"), None, sent)
        if way.cluster:
            verdict = _on_pool(catalog, way, demand, cluster, jobs, now)
        else:
            from slipway.submit.headroom import beside

            verdict = beside(way.way, demand, catalog.region, limits.result(), _listed(jobs))
    return Survey(verdict, price(catalog, way, demand))


def insist(verdict: Verdict, template: str, way: Way) -> None:
    """Raises PolicyError for a job that can never run: it would wait for ever."""
    if verdict.outcome is Outcome.NEVER:
        more = "have the pool changed in the stack file" if way.cluster else "ask for more quota: slipway quota"
        raise PolicyError(
            f"{template} {verdict.text}",
            why="\n".join(verdict.why),
            fix=f"ask for less (slipway templates show {template}), or {more}",
        )


def added(catalog: Catalog, way: Way, verdict: Verdict) -> Decimal | None:
    """USD an hour for the machines that pools would grow by; None when a price is unknown."""
    total = Decimal(0)
    for name, count in verdict.grows:
        pool = catalog.clusters[way.cluster].pools.get(name)
        if pool is None or pool.price_per_hour is None:
            return None
        total += pool.price_per_hour * count
    return total


def _limits(quotas: Quotas, demand: Demand, region: str) -> Limits:
    """The limits of the metrics whose quota ids are known. Without the role they are not checked, and that is said."""
    from slipway.quota import quota_id
    from slipway.submit.headroom import NotChecked, draws

    found: dict[str, int | NotChecked] = {}
    for need in draws(demand):
        id_ = quota_id(need.metric)
        if id_ is None:
            continue
        try:
            limit = quotas.info(id_).limit(region)
        except NotFound:
            continue
        except CloudError as problem:
            needs = f" (needs {problem.role})" if isinstance(problem, Denied) and problem.role else ""
            found[need.metric] = NotChecked(f"{problem.message}{needs}")
            continue
        if limit is not None:
            found[need.metric] = limit
    return found


def _listed(listing: Future[tuple[CustomJob, ...]]) -> tuple[CustomJob, ...] | None:
    try:
        return listing.result()
    except CloudError:
        return None


def price(catalog: Catalog, way: Way, demand: Demand) -> Decimal | None:
    """USD an hour for all machines: as published for a pool, from the price book for others."""
    total = Decimal(0)
    for part in demand.parts:
        each = _each(catalog, way, part)
        if each is None:
            return None
        total += each * part.machines
    return total


def _each(catalog: Catalog, way: Way, part: Part) -> Decimal | None:
    if way.cluster:
        pool = catalog.clusters[way.cluster].pools.get(part.pool)
        return pool.price_per_hour if pool else None
    from slipway.cluster import Disk
    from slipway.prices import hourly

    disk = Disk(part.shape.disk_type, part.shape.disk_gb)
    return hourly(part.shape.machine, catalog.region, disk, way.way, accelerator=part.shape.accelerator)


def _on_pool(
    catalog: Catalog,
    way: Way,
    demand: Demand,
    reading: Future[PersistentResource],
    listing: Future[tuple[CustomJob, ...]],
    now: datetime,
) -> Verdict:
    name, id_ = way.cluster, catalog.clusters[way.cluster].id
    try:
        cluster = reading.result()
    except NotFound as problem:
        raise ResourceError(
            f"cluster {name} is gone",
            why=f"{id_}: {problem.message}",
            fix=f"make it again: pulumi up --stack {catalog.stack}",
        ) from problem
    except (Unreachable, Unauthenticated):
        raise
    except CloudError as problem:
        needs = f" (needs {problem.role})" if isinstance(problem, Denied) and problem.role else ""
        return Verdict(Outcome.UNKNOWN, f"cannot tell whether it starts now: {problem.message}{needs}")
    if cluster.state in ("ERROR", "STOPPING"):
        raise ResourceError(
            f"cluster {name} is in {cluster.state} and takes no jobs",
            why=f"{id_}: {cluster.error or 'the service gives no reason'}",
            fix=f"pulumi up --stack {catalog.stack}   (makes a new one)",
        )
    return on_cluster(name, demand, cluster, _listed(listing), now)


def summary(way: Way, demand: Demand) -> str:
    """``pool cpu/workers  n1-standard-8 × 3 (1 scheduler, 2 workers)``"""
    place = way.way
    if way.cluster:
        place = f"pool {join(f'{way.cluster}/{pool}' for pool in dict.fromkeys(part.pool for part in demand.parts))}"
    shapes: dict[str, int] = {}
    for part in demand.parts:
        accelerator = f" + {part.shape.accelerator_count} × {part.shape.accelerator}" if part.shape.accelerator else ""
        shape = part.shape.machine + accelerator
        shapes[shape] = shapes.get(shape, 0) + part.machines
    roles = ", ".join(f"{part.machines} {part.role}" for part in demand.parts)
    return f"{place}  {', '.join(f'{shape} × {count}' for shape, count in shapes.items())} ({roles})"
