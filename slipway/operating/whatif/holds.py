"""Pauses and teams' shares during a replay, which hold jobs before they are sent. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from slipway.model.labels import label_value
from slipway.operating.whatif.cluster_queue import ClusterQueue, PoolState, Waiting
from slipway.operating.whatif.model import ReplayedJob, ReplayedPause
from slipway.using.jobs.team_share import may_send


@dataclass(frozen=True)
class Holds:
    """The pauses and shares of a replay."""

    #: Machines of a cluster by team, while others wait.
    shares: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    pauses: tuple[ReplayedPause, ...] = ()

    def paused_until(self, job: ReplayedJob, cluster: str, now: float) -> float | None:
        """Return the end of the pause that keeps a job off a cluster, or off its own machines where that is empty."""
        ends = (
            pause.until
            for pause in self.pauses
            if job.pausable and pause.cluster in ("", cluster) and pause.since <= now < pause.until
        )
        return max(ends, default=None)

    def hold(self, job: Waiting, cluster: ClusterQueue, pools: Sequence[PoolState], now: float) -> bool:
        """Tell whether a job is not sent to a cluster now."""
        if self.paused_until(job.job, cluster.name, now) is not None:
            return True
        shares = self.shares.get(cluster.name)
        return bool(shares) and not job.job.urgent and _above_share(job, cluster, pools, shares or {})


def _above_share(job: Waiting, cluster: ClusterQueue, pools: Sequence[PoolState], shares: Mapping[str, int]) -> bool:
    """Decide as `slipway.using.jobs.team_share` does from the service's lists."""
    team, of_team = job.job.team, Counter({label_value(name): machines for name, machines in shares.items()})
    running, has = Counter[str](), job.machines
    for other in cluster.running.values():
        running[other.job.team] += other.machines
    has += running[team] + sum(other.machines for other in cluster.waiting if other.job.team == team)
    others_wait = any(
        other.job.team != team and running[other.job.team] < of_team[other.job.team] and other.meets(job)
        for other in cluster.waiting
    )
    free = sum(max(0, pools[at].max - pools[at].busy - pools[at].asked) for at, _ in job.needs)
    return not may_send(has, of_team[team], others_wait=others_wait, room=not job.job.of_sweep or job.machines <= free)
