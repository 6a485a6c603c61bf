"""The past of a replay in a history's form: jobs with their times, deployments, and hourly samples."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from slipway.model.catalog.clusters import Cluster, Pool
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.template import Offer
from slipway.model.machines.spec import MachineSpec
from slipway.model.prices import Price
from slipway.operating.history.model import Deployment, History, MachinesUsed, PastJob, PoolKey, PoolSample, Sample
from slipway.operating.whatif.comparison import Declaration
from slipway.operating.whatif.model import PoolBounds, PoolDelays, Replay, ReplayedPool, ReplayedRun
from slipway.using.submission.request import derived_request_id
from tests.builders import catalogs, clusters, pools

SINCE = datetime(2026, 10, 1, tzinfo=UTC)
CPU = MachineSpec("n1-standard-8")
PRICE = Price(Decimal("0.5"))


def pool(name: str, least: int, most: int, machine: MachineSpec = CPU) -> Pool:
    return pools.pool(name, machine, least, most if most > least else None, price=PRICE)


def cluster(name: str, *pools: Pool, id: str = "") -> Cluster:
    return clusters.cluster(name, *pools, id=id or f"{name}-1a2b3c4")


def replayed(of: Cluster, delays: PoolDelays) -> list[ReplayedPool]:
    return [
        ReplayedPool(
            of.name,
            pool.name,
            pool.machine,
            pool.price_per_hour,
            (PoolBounds(float("-inf"), pool.min, pool.max),),
            delays,
        )
        for pool in of.pools
    ]


def offer(capacity_type: str, cluster: str = "", wait: float | None = None, **more: Any) -> Offer:
    return catalogs.offer(
        capacity_type, **{"cluster": cluster, "price_per_hour": PRICE, "request": {}, "wait": wait, **more}
    )


def catalog(clusters: Iterable[Cluster], templates: Mapping[str, Sequence[Offer]]) -> Catalog:
    return catalogs.catalog(*clusters, *(catalogs.template(name, *offers) for name, offers in templates.items()))


def job(
    name: str,
    created: float,
    waited: float | None,
    run: float | None,
    *,
    on: Cluster | None = None,
    capacity_type: str = "pool",
    machines: tuple[MachinesUsed, ...] = (MachinesUsed(CPU, 1, "workers"),),
    template: str = "t",
    **more: object,
) -> PastJob:
    """Return a job, in seconds since SINCE. A job without a wait has not started, a job without a run goes on."""
    made = SINCE + timedelta(seconds=created)
    started = None if waited is None else made + timedelta(seconds=waited)
    ended = None if started is None or run is None else started + timedelta(seconds=run)
    plain = PastJob(
        name=name,
        display_name=name,
        state="SUCCEEDED" if ended else "RUNNING",
        kind="custom-job",
        template=template,
        user="ada",
        team="",
        capacity_type=capacity_type,
        region="us-central1",
        cluster=on.name if on else "",
        cluster_id=on.id if on else "",
        machines=machines if on else tuple(replace(machine, pool="") for machine in machines),
        created=made,
        started=started,
        ended=ended,
        cost=None,
        busy=run,
    )
    return replace(plain, **more)  # type: ignore[arg-type]


def history(
    jobs: Iterable[PastJob], clusters: Iterable[Cluster], *, days: float = 30, samples: tuple[Sample, ...] = ()
) -> History:
    deployment = Deployment(
        SINCE - timedelta(days=1), catalogs.catalog(clusters={cluster.name: cluster for cluster in clusters})
    )
    until = SINCE + timedelta(days=days)
    return History("prod", "acme-ml-prod", "us-central1", SINCE, until, tuple(jobs), (deployment,), samples)


def told(replay: Replay, on: Cluster) -> tuple[PastJob, ...]:
    """Return jobs of a replay on one cluster of one pool, as the service would list them: those that went on behind
    others too."""
    return tuple(sorted((part for run in replay.runs for part in _parts(run, on)), key=lambda part: str(part.created)))


def _parts(run: ReplayedRun, on: Cluster) -> Iterator[PastJob]:
    """Yield the job of a run, and those in which it went on."""
    (pool,), left, request = on.pools, run.job.run, run.job.name
    created, started = run.job.created, run.started
    for number, (stopped, resumed) in enumerate([*run.breaks, (None, None)]):
        if started is None:
            return
        ends = started + left if stopped is None else stopped
        yield job(
            f"{run.job.name}{number or ''}",
            created,
            started - created,
            ends - started,
            on=on,
            machines=tuple(MachinesUsed(machine.machine, machine.count, pool.name) for machine in run.job.machines),
            template=run.job.template,
            request_id=request,
            team=run.job.team,
            yields=run.job.yields,
            labels={"slipway-urgent": "true"} if run.job.urgent else {},
        )
        left, created, started = left - (ends - started), ends, resumed
        request = derived_request_id("yield", request, 1)


def sampled(lives: Iterable[tuple[float, int]], on: Cluster) -> tuple[Sample, ...]:
    """Return samples of its only pool: machines that were up, by seconds since SINCE."""
    (pool,) = on.pools
    return tuple(
        Sample(SINCE + timedelta(seconds=at), {PoolKey(on.id, pool.name): PoolSample(live, 0)}) for at, live in lives
    )


def declared(*clusters: Cluster, **more: Any) -> Declaration:
    return Declaration(clusters, **more)
