"""A month of an invented stack: 3,000 jobs of several people on four pools and beside them. Deterministic.

Generations, a season, preemptions, deployments and a queue are in it, and names that would do harm where they are not
escaped. Jobs start in their order as soon as machines are free, so that no pool is ever used beyond its live machines.
"""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from slipway.model.capacity import FLEX_START, ON_DEMAND, POOL, SPOT
from slipway.model.catalog.clusters import Cluster, Pool
from slipway.model.catalog.model import Catalog
from slipway.model.machines.spec import MachineSpec
from slipway.model.prices import hourly
from slipway.operating.history.model import Deployment, History, MachinesUsed, PastJob, PoolKey, PoolSample, Sample

NOW = datetime(2026, 11, 24, 15, 20, tzinfo=UTC)
SINCE = NOW - timedelta(days=30)
REGION = "us-central1"
H100 = MachineSpec("a3-highgpu-8g", "NVIDIA_H100_80GB", 8)
A100 = MachineSpec("a2-highgpu-1g", "NVIDIA_TESLA_A100", 1)
L4 = MachineSpec("g2-standard-12", "NVIDIA_L4", 1)
CPU = MachineSpec("n1-standard-8")
HOSTILE = (
    "<img src=x onerror=alert(1)>",
    '"><script>alert(1)</script>',
    "</script><script>alert(1)</script>",
    "{{ 7 * 7 }}",
    "\u202eevil\u200b",
    "javascript:alert(1)",
    "x" * 128,
)
_USERS = {"ada": "vision", "grace": "vision", "linus": "language", "marie": "language", "alan": "language"}
_USERS |= {"edsger": "vision", "barbara": "speech", "ci": "", "katherine": "speech", "donald": "language"}


@dataclass(frozen=True)
class _Place:
    """Machines that jobs run on: a pool, or a capacity type beside them. `wanted`: seconds of a run, median."""

    cluster: str
    pool: str
    machine: MachineSpec
    min: int
    max: int
    templates: tuple[str, ...]
    counts: tuple[int, ...]
    wanted: float
    share: float
    capacity_type: str = POOL
    generations: tuple[tuple[str, float], ...] = ()
    """Ids of clusters, each with the day of its creation."""
    season: tuple[float, float] = (0, math.inf)


_PLACES = (
    _Place(
        *("h100", "workers", H100, 1, 4, ("tune-27b", "gemma2-lora", "ddp-vision"), (1, 1, 1, 1, 2), 9_500, 0.08),
        generations=(("h100-3e29a36", 0), ("h100-4b2277a", 12.4)),
    ),
    _Place(
        *("cpu", "workers", CPU, 10, 10, ("dask-digits", "preprocess", "eval"), (1, 1, 2, 3, 6), 2_100, 0.44),
        generations=(("cpu-19581e0", 0),),
    ),
    _Place(
        *("cpu", "gpu-small", L4, 0, 8, ("tune-digits", "torchrun-digits", "eval"), (1, 1, 1, 2, 4), 2_700, 0.32),
        generations=(("cpu-19581e0", 0),),
    ),
    _Place(
        *("a100", "workers", A100, 4, 4, ("ddp-vision", "tune-digits"), (1, 2, 4), 7_000, 0.06),
        generations=(("a100-77c0d1b", 8),),
        season=(8, 22),
    ),
    _Place("", "", L4, 0, 40, ("tune-digits", "my-mlp"), (1, 2), 3_000, 0.06, SPOT),
    _Place("", "", H100, 0, 6, ("gemma2-lora",), (1,), 8_000, 0.02, FLEX_START),
    _Place("", "", CPU, 0, 40, ("eval", "preprocess"), (1, 2), 1_500, 0.02, ON_DEMAND),
)
_DAY = 86_400.0


def history(jobs: int = 3000, seed: int = 29, *, hostile: bool = True) -> History:
    """Return the month's history; the same for the same arguments. `hostile`: some names would do harm."""
    chance = random.Random(seed)
    made = [job for place in _PLACES for job in _jobs_of(place, round(jobs * place.share), chance)]
    made = sorted(made, key=lambda job: job.created or NOW)
    made = [replace(job, name=f"{job.name}{4_711_000_000_000 + index}") for index, job in enumerate(made)]
    swept = iter([(lr, hidden) for lr in (0.001, 0.003, 0.01, 0.03, 0.1, 0.3) for hidden in (32, 64, 128, 256)])
    mine = [index for index, job in enumerate(made) if job.template == "my-mlp" and job.state == "SUCCEEDED"][-24:]
    for run, index in enumerate(mine, 1):
        lr, hidden = next(swept)
        labels = {"sweep": "lr-grid", "run": str(run)}
        values = {"lr": lr, "hidden": hidden}
        made[index] = replace(made[index], **labels, parameters=values)  # type: ignore[arg-type]
    for place, index in enumerate(range(40, len(made), max(1, len(made) // len(HOSTILE))) if hostile else ()):
        name = HOSTILE[place % len(HOSTILE)]
        made[index] = replace(made[index], user=name, team=name, template=name, display_name=name, error=name)
    return History(
        *("prod", "acme-ml-prod", REGION, SINCE, NOW, tuple(made)),
        deployments=tuple(_deployments()),
        samples=tuple(_samples(made)),
    )


def _jobs_of(place: _Place, count: int, chance: random.Random) -> Iterator[PastJob]:
    """Yield jobs in the order of their creation: earlier ones wait no longer than later ones."""
    begin, end = (SINCE + timedelta(days=min(day, 30)) for day in place.season)
    free: list[tuple[datetime, int]] = [(begin, place.max)]
    earliest = begin
    for number, created in enumerate(sorted(_moment(begin, end, chance) for _ in range(count))):
        machines = min(chance.choice(place.counts), place.max)
        started, held = max(created, earliest), 0
        while held < machines:
            when, some = heapq.heappop(free)
            started, held = max(started, when), held + some
        started += timedelta(seconds=chance.uniform(2, 20) if place.cluster else chance.expovariate(1 / 700))
        earliest = started if place.cluster else begin
        ran = min(chance.lognormvariate(math.log(place.wanted), 0.9), 14 * 3600)
        ended = started + timedelta(seconds=ran)
        if not place.cluster or ended < end:
            yield _job(place, number, machines, (created, started, ended), chance)
        else:  # The season is over: no more jobs are sent there.
            ended = end
            yield _job(place, number, machines, (created, started, end), chance)
        heapq.heappush(free, (ended, machines))
        if held > machines:
            heapq.heappush(free, (started, held - machines))


def _moment(begin: datetime, end: datetime, chance: random.Random) -> datetime:
    """Draw a moment: most by day, few at weekends."""
    while True:
        when = begin + (end - begin) * chance.random()
        busy = (1.0 if 8 <= when.hour < 19 else 0.35) * (0.3 if when.weekday() >= 5 else 1.0)
        if chance.random() < busy:
            return when


def _job(
    place: _Place, number: int, machines: int, times: tuple[datetime, datetime, datetime], chance: random.Random
) -> PastJob:
    created, started, ended = times
    template, user = chance.choice(place.templates), chance.choices([*_USERS], weights=range(len(_USERS), 0, -1))[0]
    fate = chance.random()
    state, error = "SUCCEEDED", ""
    if fate < 0.05:
        state, error = "FAILED", "CUDA out of memory: tried to allocate 2.4 GiB (38.9 of 39.4 GiB in use)"
    elif fate < 0.08:
        state = "CANCELLED"
    if started >= NOW:
        state = "QUEUED" if place.cluster else "PENDING"
    elif ended >= NOW:
        state = "RUNNING"
    began = started if started < NOW else None
    done = ended if ended < NOW else None
    price = hourly(place.machine, REGION, place.capacity_type) * machines
    seconds = ((done or NOW) - began).total_seconds() if began else None
    lost = chance.choice((0.0, 0.0, seconds * 0.2)) if place.capacity_type == SPOT and seconds else 0.0
    word = "".join(chance.choices("abcdefghjkmnpqrstuvwxyz23456789", k=8))
    cluster_id = [id_ for id_, day in place.generations if SINCE + timedelta(days=day) <= created][-1:]
    return PastJob(
        name=f"projects/817265/locations/{REGION}/customJobs/",
        display_name=f"{template}-{word}",
        state=state,
        kind="custom",
        template=template,
        user=user,
        team=_USERS[user],
        capacity_type=place.capacity_type,
        region=REGION,
        cluster=place.cluster,
        cluster_id="".join(cluster_id),
        machines=(MachinesUsed(place.machine, machines, place.pool),),
        created=created,
        started=began,
        ended=done,
        cost=None if seconds is None else price * (Decimal(str(round(seconds - lost, 3))) / 3600),
        lost=lost,
        error=error if state == "FAILED" and done else "",
        request_id=f"{template}-{word}-{number}",
        busy=None if seconds is None else seconds - lost,
        preemptions=(began + ((done or NOW) - began) * 0.4,) if began and lost else (),
    )


def _deployments() -> Iterator[Deployment]:
    """Yield a deployment at each change of the clusters, and some between that change templates alone."""
    days = sorted({0.0, 5.2, 12.4, 16.3, 22.0, 26.7, *(day for one in _PLACES for _, day in one.generations)})
    for number, day in enumerate(days):
        clusters: dict[str, Cluster] = {}
        for place in _PLACES:
            if not place.cluster or not place.season[0] <= day < place.season[1]:
                continue
            id_ = [id_ for id_, since in place.generations if since <= day][-1]
            before = clusters[place.cluster].pools if place.cluster in clusters else ()
            bounds = (place.min, place.max, place.min < place.max)
            pool = Pool(place.pool, place.machine, *bounds, price_per_hour=hourly(place.machine, REGION))
            clusters[place.cluster] = Cluster(place.cluster, (*before, pool), id=id_)
        retiring = ("h100-3e29a36",) if day == 12.4 else ()
        commit = f"{(number + 3) * 0x1F3D5B7:07x}"[:7]
        catalog = Catalog("prod", "acme-ml-prod", REGION, commit, False, "work", "trainer", clusters, retiring, {})
        yield Deployment(SINCE + timedelta(days=day), catalog)


def _samples(jobs: Iterable[PastJob]) -> Iterator[Sample]:
    """Yield the hourly run's samples: pools grow with their jobs and shrink an hour behind them. Six hours are missing,
    as somebody had switched it off."""
    on: dict[PoolKey, list[PastJob]] = {}
    for job in jobs:
        on.setdefault(PoolKey(job.cluster_id, job.machines[0].pool), []).append(job)
    before: dict[PoolKey, int] = {}
    for hour in range(30 * 24 + 1):
        at = SINCE + timedelta(hours=hour)
        pools = {}
        for place in _PLACES:
            days = (at - SINCE) / timedelta(days=1)
            if not place.cluster or not place.season[0] <= days < place.season[1]:
                continue
            key = PoolKey([id_ for id_, since in place.generations if since <= days][-1], place.pool)
            used = sum(job.machines[0].count for job in on.get(key, ()) if _runs(job, at))
            live = min(place.max, max(place.min, used, before.get(key, place.min) - 1))
            pools[key], before[key] = PoolSample(live, min(used, live)), live
        if not 400 <= hour < 406:
            yield Sample(at, pools)


def _runs(job: PastJob, at: datetime) -> bool:
    return bool(job.started and job.started <= at < (job.ended or NOW + timedelta(1)))
