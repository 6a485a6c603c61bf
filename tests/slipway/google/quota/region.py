"""A region with limits, clusters and jobs, for the quota tests."""

import re
from typing import Any

from slipway.google.clusters import PersistentResource
from slipway.google.jobs import VertexJob
from slipway.google.live import Increase, Live, QuotaLimit, Unknown
from slipway.google.quota.assessment import assess
from slipway.google.quota.report import OfferDraw, QuotaReport
from slipway.model.cluster import ClusterSpec, CurrentCluster, PoolSpec
from slipway.model.machines.spec import MachineGroup
from tests.builders import jobs, pools
from tests.builders.clusters import persistent_resource
from tests.builders.pools import pool_spec, resource_pool

REGION = "us-central1"
M = "custom_model_training_"
CPUS, A3, H100, SSD = f"{M}cpus", f"{M}a3_cpus", f"{M}nvidia_h100_gpus", f"{M}pd_ssd"
SPOT_CPUS, SPOT_H100 = f"{M}preemptible_cpus", f"{M}preemptible_nvidia_h100_gpus"
LIMITS = {CPUS: 2200, A3: -1, H100: 32, SSD: 75_000, SPOT_CPUS: 1, SPOT_H100: 8}
DENIED = Unknown("403 denied", "cloudquotas.googleapis.com", "roles/cloudquotas.viewer", "me")


def h100(low: int = 1, high: int = 4, name: str = "workers") -> PoolSpec:
    return pool_spec(name, pools.H100, low, high)


def cpu(low: int = 1, high: int = 4, name: str = "workers") -> PoolSpec:
    return pool_spec(name, pools.CPU, low, high)


def wanted(name: str, *pools: PoolSpec, lives: bool = False) -> CurrentCluster:
    return CurrentCluster(ClusterSpec(name, pools), f"{name}-1a2b3c4", "1a2b3c4", lives, "RUNNING" if lives else "")


def cluster(id_: str, *pools: PoolSpec, replicas: int = 1, state: str = "RUNNING") -> PersistentResource:
    alive = (resource_pool(pool.name, pool.machine, replicas, low=pool.min, high=pool.max) for pool in pools)
    return persistent_resource(id_, *alive, state=state, stack="")


def machines(pool: PoolSpec, replicas: int) -> MachineGroup:
    return MachineGroup(pool.machine, replicas)


def job(pool: PoolSpec, replicas: int, *, spot: bool = False, state: str = "", **fields: Any) -> VertexJob:
    strategy, state = "SPOT" if spot else "", state.removeprefix("JOB_STATE_") or "RUNNING"
    return jobs.job("j", machine=pool.machine, replicas=replicas, state=state, strategy=strategy, **fields)


def region(
    *clusters: PersistentResource, jobs: tuple[VertexJob, ...] = (), increase: Increase = Increase.UNTOLD, **limits: int
) -> Live:
    amounts = {**LIMITS, **{f"{M}{metric}": amount for metric, amount in limits.items()}}
    listed = {metric: QuotaLimit(metric, REGION, amount, increase) for metric, amount in amounts.items()}
    return Live(clusters=clusters, jobs=jobs, limits=listed, catalog=None)


def judge(
    *current: CurrentCluster,
    live: Live,
    offers: tuple[OfferDraw, ...] = (),
    mode: str = "enforce",
    strict: bool = False,
    preview: bool = False,
    old: frozenset[str] = frozenset(),
) -> QuotaReport:
    return assess(current, live, region=REGION, offers=offers, mode=mode, strict=strict, preview=preview, old=old)


def row(report: QuotaReport, metric: str) -> tuple[int | None, int, int | None, int | None, str]:
    (line,) = (line for line in report.lines if line.metric == metric)
    return line.now, line.ceiling, line.limit, line.others, line.verdict


def state(report: QuotaReport, metric: str) -> tuple[str, list[int]]:
    """Return the state by key, and the numbers of how far pools can grow."""
    (line,) = (line for line in report.lines if line.metric == metric)
    return line.state, [int(number) for number in re.findall("[0-9]+", line.at_most)]


SPOT = OfferDraw("train", "spot", "spot", (machines(h100(), 1),), preemptible=True)
POOL = OfferDraw("train", "pool", "pool")
