"""What is drawn now in a region: counted from live clusters and the jobs beside them, as no API tells it surely."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from slipway.cloud.resources import CustomJob, PersistentResource
from slipway.machines import MachineError, MachineGroup
from slipway.quota.metrics import needs_of

# A failed cluster has no machines; one that is being deleted has them until it is gone.
_HOLDS_NOTHING = frozenset({"ERROR"})
_NOT_STARTED = frozenset({"JOB_STATE_QUEUED", "JOB_STATE_PAUSED"})


@dataclass(frozen=True)
class Usage:
    """Amounts by metric: what the stack's current clusters hold, its old generations, and all else.

    `uncounted`: what was left out.
    """

    own: Mapping[str, int] = field(default_factory=dict)
    old: Mapping[str, int] = field(default_factory=dict)
    others: Mapping[str, int] = field(default_factory=dict)
    uncounted: tuple[str, ...] = ()

    def total(self, metric: str) -> int:
        return self.own.get(metric, 0) + self.old.get(metric, 0) + self.others.get(metric, 0)


def usage(
    clusters: tuple[PersistentResource, ...],
    jobs: tuple[CustomJob, ...],
    own: frozenset[str] = frozenset(),
    old: frozenset[str] = frozenset(),
) -> Usage:
    """Live machines of every cluster, retiring ones too, and of jobs that run beside the clusters.

    `own` and `old` are ids: of the stack's current clusters, and of its generations that go when they can.

    A training pipeline runs as a custom or tuning job, which is counted in its place. A tuning job is counted with all
    trials that may run at once, and the custom jobs of its trials are not counted again.
    """
    tuning = tuple(f"{job.display_name}-trial-" for job in jobs if job.kind.has_trials and not job.ended)
    mine: Counter[str] = Counter()
    leaving: Counter[str] = Counter()
    others: Counter[str] = Counter()
    uncounted: list[str] = []
    for cluster in clusters:
        if cluster.state not in _HOLDS_NOTHING:
            target = mine if cluster.id in own else leaving if cluster.id in old else others
            uncounted += _count(target, cluster.machines, preemptible=False, who=f"cluster {cluster.id}")
    for job in jobs:
        if (
            not job.persistent_resource_id
            and not job.ended
            and job.state not in _NOT_STARTED
            and (job.kind.runs_itself or job.kind.has_trials)
            and not (job.kind.runs_itself and job.display_name.startswith(tuning))
        ):
            uncounted += _count(others, job.machines, preemptible=job.preemptible, who=f"job {job.display_name}")
    return Usage(mine, leaving, others, tuple(uncounted))


def _count(target: Counter[str], groups: tuple[MachineGroup, ...], *, preemptible: bool, who: str) -> list[str]:
    missed: list[str] = []
    for group in groups:
        try:
            found = needs_of((group,), preemptible=preemptible)
        except MachineError as error:
            missed.append(f"{who} is not counted: {error.what}")
            continue
        for need in found:
            target[need.metric] += need.amount
    return missed
