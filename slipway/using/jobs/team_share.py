"""The shares of teams in a cluster: above its own, a team's jobs are sent only while no team below its own waits. Pure;
it is decided by whoever sends, from the service's lists, and nothing that was sent is taken back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from slipway.base.formatting import counted, few
from slipway.google.clusters import PersistentResource
from slipway.google.jobs import VertexJob
from slipway.model.labels import label_value
from slipway.using.jobs.demand import Demand, by_pool
from slipway.using.jobs.verdict import gets_ready


def may_send(machines: int, share: int, *, others_wait: bool, room: bool) -> bool:
    """Tell whether a job is sent with which its team has so many machines of a cluster. `others_wait`: a job of a team
    below its own share waits for the same pools. `room`: there is room, or it may wait for some."""
    return machines <= share or (room and not others_wait)


@dataclass(frozen=True)
class TeamShare:
    """A team's part of a cluster, and who waits for theirs."""

    #: The cluster's display name.
    cluster: str
    team: str
    share: int
    #: The machines of its jobs, which run or wait.
    has: int
    #: Jobs of teams below their shares, which wait for the same pools.
    waiting: tuple[VertexJob, ...]
    #: The machines of these pools that no job has or waits for.
    free: int

    def keeps_out(self, needs: int, sent: int = 0, *, queues: bool = True) -> str:
        """Return the reason why a job of the team that needs so many machines is not sent; empty where it is. `sent`:
        the machines of jobs that no list shows yet. `queues`: it may wait at the service where nobody waits before."""
        has, room = self.has + sent, queues or sent + needs <= self.free
        if may_send(has + needs, self.share, others_wait=bool(self.waiting), room=room):
            return ""
        names = (f"{job.called} ({job.user or 'nobody by name'} of team {job.team or 'none'})" for job in self.waiting)
        whose = f"team {self.team}" if self.team else "no team"
        share = f"{whose} has {counted(has, 'machine')} of {self.cluster}, with a share of {self.share}"
        waits = "waits" if len(self.waiting) == 1 else "wait"
        return f"{share}; this needs {needs}, and {f'{few(names)} {waits}' if self.waiting else 'none is free'}"


def team_share(
    name: str,
    shares: Mapping[str, int],
    cluster: PersistentResource,
    jobs: Iterable[VertexJob],
    team: str,
    demand: Demand,
) -> TeamShare:
    """Return a team's share of a cluster, called `name`, for a job that asks for `demand`. `jobs`: all that have not
    ended. A team without a share has none, as have the jobs of no team."""
    of_team = Counter({label_value(name): machines for name, machines in shares.items()})
    here = [job for job in jobs if job.is_on(cluster) and not job.ended]
    machines = {job.name: Demand.of(job).machines for job in here}
    queued = [job for job in here if job.waits and not gets_ready(job, cluster)]
    running = Counter[str]()
    for job in here:
        running[job.team] += 0 if job in queued else machines[job.name]
    wanted, free = by_pool(demand, cluster), 0
    rivals = {job.name: by_pool(Demand.of(job), cluster) for job in here}
    for pool in (pool for pool in cluster.pools if pool.id in wanted):
        # Whether the machines of a job that gets ready count as used is not documented.
        started = sum(rivals[job.name].get(pool.id, 0) for job in here if job not in queued)
        ahead = sum(rivals[job.name].get(pool.id, 0) for job in queued)
        free += max(0, pool.ceiling - max(pool.used, started) - ahead)
    return TeamShare(
        cluster=name,
        team=team,
        share=of_team[team],
        has=sum(machines[job.name] for job in here if job.team == team),
        waiting=tuple(
            job
            for job in queued
            if job.team != team and running[job.team] < of_team[job.team] and rivals[job.name].keys() & wanted.keys()
        ),
        free=free,
    )
