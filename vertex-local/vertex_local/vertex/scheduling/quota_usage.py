"""The use of each quota, counted from live clusters and jobs each time, so that it can't drift."""

from collections import Counter
from collections.abc import Iterable

from ...quotas.metrics import drawn
from ...supply.scenario import Strategy
from ...training_settings import TrainingSettings
from ...world import World
from ..clusters.records import CLUSTERS, below
from ..jobs import table as jobs
from ..jobs.records import Demand
from ..names import location_name
from . import reservations


def in_use(world: World, region: str) -> Counter[str]:
    """Return metric to amount: machines of clusters, and of jobs that have machines of their own."""
    used: Counter[str] = Counter()
    for cluster in CLUSTERS.every(world.store, below(location_name(world.project, region))):
        used += drawn(cluster.machines())
    for job in jobs.started(world.store, region):
        if job.run and job.run.cluster is None:
            used += draw(job.run.demands, job.run.strategy, world.settings)
    return used


def draw(demands: Iterable[Demand], strategy: Strategy, rules: TrainingSettings) -> Counter[str]:
    """Return the quota that a running job without a cluster draws, for Spot and flex-start the preemptible."""
    own = rules.reservation_quota == "none"
    counted = [
        (item.shape, item.count)
        for item in demands
        if not (own and reservations.affinity(item.shape).kind == "specific")
    ]
    return drawn(counted, preemptible=strategy != "standard")
