"""A region with limits, clusters and jobs, for the quota tests."""

from __future__ import annotations

from slipway.cluster import ClusterSpec, CurrentCluster, Disk, PoolSpec
from slipway.labels import NAME_LABEL
from slipway.live import JobReplicas, Live, LiveCluster, LiveJob, LivePool, QuotaLimit, Unknown

REGION = "us-central1"
M = "custom_model_training_"
CPUS, A3, H100, SSD = f"{M}cpus", f"{M}a3_cpus", f"{M}nvidia_h100_gpus", f"{M}pd_ssd"
SPOT_CPUS, SPOT_H100 = f"{M}preemptible_cpus", f"{M}preemptible_nvidia_h100_gpus"
LIMITS = {CPUS: 2200, A3: -1, H100: 32, SSD: 75_000, SPOT_CPUS: 1, SPOT_H100: 8}
DENIED = Unknown("403 denied", "cloudquotas.googleapis.com", "roles/cloudquotas.viewer", "me")


def h100(low: int = 1, high: int = 4, name: str = "workers") -> PoolSpec:
    return PoolSpec(name, "a3-highgpu-8g", "NVIDIA_H100_80GB", 8, Disk("pd-ssd", 500), low, high, True, low)


def cpu(low: int = 1, high: int = 4, name: str = "workers") -> PoolSpec:
    return PoolSpec(name, "n1-standard-8", None, 0, Disk("pd-ssd", 100), low, high, True, low)


def wanted(name: str, *pools: PoolSpec, lives: bool = False) -> CurrentCluster:
    return CurrentCluster(ClusterSpec(name, pools), f"{name}-1a2b3c4", "1a2b3c4", lives, "RUNNING" if lives else "")


def cluster(id_: str, *pools: PoolSpec, replicas: int = 1, state: str = "RUNNING") -> LiveCluster:
    alive = tuple(
        LivePool(
            pool.name,
            pool.machine_type,
            pool.accelerator_type,
            pool.accelerator_count,
            pool.disk,
            replicas,
            0,
            pool.min,
            pool.max,
        )
        for pool in pools
    )
    return LiveCluster(id_, state, {NAME_LABEL: id_.split("-")[0]}, alive)


def machines(pool: PoolSpec, replicas: int) -> JobReplicas:
    return JobReplicas(pool.machine_type, pool.accelerator_type, pool.accelerator_count, replicas, pool.disk)


def job(
    pool: PoolSpec,
    replicas: int,
    *,
    spot: bool = False,
    state: str = "JOB_STATE_RUNNING",
    on: str | None = None,
    kind: str = "custom job",
) -> LiveJob:
    return LiveJob("j", "j", state, on, {}, None, None, None, (machines(pool, replicas),), spot, kind)


def region(*clusters: LiveCluster, jobs: tuple[LiveJob, ...] = (), increase: str = "", **limits: int) -> Live:
    amounts = {**LIMITS, **{f"{M}{metric}": amount for metric, amount in limits.items()}}
    listed = {metric: QuotaLimit(metric, REGION, amount, increase) for metric, amount in amounts.items()}
    return Live(clusters=clusters, jobs=jobs, limits=listed, catalog=None)
