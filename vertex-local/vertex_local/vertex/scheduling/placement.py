"""The placement of a job's replicas on a persistent resource's pools (vertex-rules 2: match and size)."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from ..clusters.records import Cluster, Pool
from ..field_errors import Mistake
from ..jobs.records import Demand

_SPECS = "job_spec.worker_pool_specs"


def mistakes(demands: Sequence[Demand], cluster: Cluster) -> list[Mistake]:
    """Return why a job can never run on a cluster: a worker pool that matches no resource pool, or exceeds its size."""
    mismatches = [_mismatch(demand, cluster) for demand in demands if not _matching(demand, cluster.pools)]
    if mismatches:
        return mismatches
    needs: Counter[tuple[str, ...]] = Counter()
    for demand in demands:
        pools = tuple(pool.id for pool in _matching(demand, cluster.pools))
        needs[pools] += demand.count
        ceiling = sum(pool.ceiling for pool in cluster.pools if pool.id in pools)
        if needs[pools] > ceiling:
            named = f"pool{'s' if len(pools) > 1 else ''} {', '.join(pools)}"
            text = f"{needs[pools]} replicas are more than the {ceiling} that {named} of {cluster.id} can have."
            mismatches.append(Mistake(f"{_SPECS}[{demand.index}].replica_count", text))
    return mismatches


def place(demands: Iterable[Demand], pools: Sequence[Pool], used: Mapping[str, int]) -> list[tuple[int, str]] | None:
    """Return a (worker pool index, resource pool id) for each replica, or None when not all find a free one."""
    free = {pool.id: pool.replicas - used.get(pool.id, 0) for pool in pools}
    placed: list[tuple[int, str]] = []
    for demand in demands:
        left = demand.count
        for pool in _matching(demand, pools):
            taken = min(left, max(free[pool.id], 0))
            free[pool.id] -= taken
            left -= taken
            placed += [(demand.index, pool.id)] * taken
        if left:
            return None
    return placed


def wanted(demands: Iterable[Demand], pools: Sequence[Pool], needed: Mapping[str, int]) -> Counter[str]:
    """Return the replicas by pool that a waiting job would take in pools at their largest, beside `needed`."""
    room = {pool.id: pool.ceiling - needed.get(pool.id, 0) for pool in pools}
    wish: Counter[str] = Counter()
    for demand in demands:
        left = demand.count
        for pool in _matching(demand, pools):
            taken = min(left, max(room[pool.id], 0))
            room[pool.id] -= taken
            left -= taken
            wish[pool.id] += taken
        if left:
            # The job does not fit beside those before it, so growing for it now would serve nobody.
            return Counter()
    return wish


def _matching(demand: Demand, pools: Iterable[Pool]) -> list[Pool]:
    return [pool for pool in pools if pool.shape == demand.shape]


def _mismatch(demand: Demand, cluster: Cluster) -> Mistake:
    nearest = min(cluster.pools, key=lambda pool: len(demand.shape.differences(pool.shape)))
    differences = "; ".join(demand.shape.differences(nearest.shape))
    return Mistake(
        f"{_SPECS}[{demand.index}]",
        f"The machine spec and disk spec must match a resource pool of persistent resource {cluster.id}. "
        f"Nearest is pool {nearest.id}: {differences}.",
    )
