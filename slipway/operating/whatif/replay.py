"""The replay of jobs on pools: an event simulation. Pure, and the same each time.

A job takes the first of its capacity types that can have it, as `slipway.using.submission.choice` chooses. It runs on a
pool only where machine and disk are exactly equal, and starts when all its machines are free at once. On a full pool
jobs start in the order of their arrival: no job overtakes another that waits for the same pool. Google documents no
order, so that is an assumption. For an urgent job others make room, and go on behind it; what a pause or a team's
share holds is sent when it may be. An autoscaled pool grows for waiting jobs up to its maximum, and shrinks to its need
when it has been larger for a while. Beside the pools there are machines for every job.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import count

from slipway.model.cluster import assigned
from slipway.model.machines.spec import MachineGroup
from slipway.operating.whatif.cluster_queue import ClusterQueue, Needs, PoolState, Waiting
from slipway.operating.whatif.holds import Holds
from slipway.operating.whatif.making_room import find_room
from slipway.operating.whatif.model import PoolBounds, PoolUse, Replay, ReplayedJob, ReplayedPool, ReplayedRun

_BOUNDS, _END, _MACHINES, _JOB, _WAITED, _SHRINK = range(6)
"""Events of one moment happen in this order: machines are freed, and come, before any job asks for them."""

Place = tuple[int, int, Needs]
"""A route, a cluster and machines of its pools. Routes beside the pools have _NO_CLUSTER."""
_NO_CLUSTER = -1


def replay(
    jobs: Sequence[ReplayedJob],
    pools: Sequence[ReplayedPool],
    length: float,
    *,
    begin: float = 0.0,
    holds: Holds | None = None,
) -> Replay:
    """Replay jobs on pools until all have ended; machine seconds are those from `begin` to `length`."""
    return _Simulation(jobs, pools, length, begin, holds or Holds()).run()


class _Simulation:
    def __init__(
        self,
        jobs: Sequence[ReplayedJob],
        pools: Sequence[ReplayedPool],
        length: float,
        begin: float,
        holds: Holds,
    ) -> None:
        self.jobs, self.length, self.begin, self.holds = jobs, length, begin, holds
        self.pools = [PoolState(pool) for pool in pools]
        names = dict.fromkeys(pool.cluster for pool in pools)
        self.clusters = [
            ClusterQueue(name, number, tuple(at for at, pool in enumerate(pools) if pool.cluster == name))
            for number, name in enumerate(names)
        ]
        self.cluster_of = {at: cluster for cluster in self.clusters for at in cluster.pools}
        self.runs: dict[int, ReplayedRun] = {}
        self.events: list[tuple[float, int, int, Callable[[float], None]]] = []
        self.numbers, self.orders = count(), count()
        shapes: dict[tuple[MachineGroup, ...], int] = {}
        self.shapes = [shapes.setdefault(job.machines, len(shapes)) for job in jobs]
        self.fits: dict[tuple[int, int], Needs | None] = {}

    def run(self) -> Replay:
        for at, pool in enumerate(self.pools):
            for bounds in pool.spec.bounds:
                self._at(bounds.since, _BOUNDS, partial(self._bound, at, bounds))
        for pause in self.holds.pauses:
            for cluster in self.clusters:
                self._at(pause.until, _BOUNDS, partial(self._serve, cluster))
        for number, job in enumerate(self.jobs):
            self._at(job.created, _JOB, partial(self._sent, number))
        while self.events:
            now, _, _, happen = heapq.heappop(self.events)
            happen(now)
        ended = [self._up_to(self.length, at) for at in range(len(self.pools))]
        return Replay(
            runs=tuple(self.runs.get(number) or ReplayedRun(job) for number, job in enumerate(self.jobs)),
            pools=tuple(PoolUse(pool.spec, pool.live_seconds, pool.held_seconds, pool.most) for pool in ended),
        )

    def _up_to(self, now: float, at: int) -> PoolState:
        """Return a pool with its machine seconds until now added up, to be changed."""
        pool = self.pools[at]
        seconds = min(now, self.length) - max(pool.at, self.begin)
        if seconds > 0:
            pool.live_seconds += pool.live * seconds
            pool.held_seconds += pool.busy * seconds
        pool.at = now
        return pool

    def _at(self, time: float, order: int, happen: Callable[[float], None]) -> None:
        heapq.heappush(self.events, (time, order, next(self.numbers), happen))

    def _sent(self, number: int, now: float) -> None:
        """Send a job to the first place that takes it now, has a wait or was chosen, else where the fewest wait."""
        job = self.jobs[number]
        full: list[Place] = []
        for place in self._places(number):
            route = job.routes[place[0]]
            if route.chosen or route.wait is not None or self._takes(number, place, now):
                self._take(number, place, now)
                return
            full.append(place)
        if full:
            self._take(number, min(full, key=lambda place: self.clusters[place[1]].length), now)

    def _places(self, number: int, after: tuple[int, int] = (-1, _NO_CLUSTER)) -> Iterator[Place]:
        """Yield each route with each cluster that fits, in order, from the one after `after`."""
        job = self.jobs[number]
        for at, route in enumerate(job.routes):
            if not route.on_pool:
                if (at, _NO_CLUSTER) > after:
                    yield at, _NO_CLUSTER, ()
                continue
            for cluster in self.clusters:
                if (at, cluster.number) > after and route.cluster in ("", cluster.name):
                    needs = self._needs(number, cluster)
                    if needs is not None:
                        yield at, cluster.number, needs

    def _needs(self, number: int, cluster: ClusterQueue) -> Needs | None:
        """Return the pools that take a job's machines, None where they don't fit; cached until bounds change."""
        key = (self.shapes[number], cluster.number)
        if key not in self.fits:
            groups, room = self.jobs[number].machines, {at: self.pools[at].max for at in cluster.pools}
            fitting = ([at for at in room if self.pools[at].spec.machine == group.machine] for group in groups)
            places = assigned([(alike, group.count) for alike, group in zip(fitting, groups, strict=True)], room)
            needs = Counter[int]()
            for at, group in zip(places or (), groups, strict=False):
                needs[at] += group.count
            self.fits[key] = None if places is None else tuple(sorted(needs.items()))
        return self.fits[key]

    def _takes(self, number: int, place: Place, now: float) -> bool:
        """Tell whether machines are free or coming, in addition to those that others wait for, and nothing holds it."""
        if place[1] == _NO_CLUSTER:
            return self.holds.paused_until(self.jobs[number], "", now) is None
        pools = ((self.pools[at], machines) for at, machines in place[2])
        free = all(pool.busy + pool.asked + machines <= pool.max for pool, machines in pools)
        return free and not self._holds(self._waiting(number, place), now)

    def _waiting(self, number: int, place: Place) -> Waiting:
        (at, cluster, needs), job = place, self.jobs[number]
        return Waiting(number, at, cluster, needs, job, job.run)

    def _holds(self, waiting: Waiting, now: float) -> bool:
        return self.holds.hold(waiting, self.clusters[waiting.cluster], self.pools, now)

    def _take(self, number: int, place: Place, now: float) -> None:
        at, cluster, _ = place
        if cluster == _NO_CLUSTER:
            paused = self.holds.paused_until(self.jobs[number], "", now)
            if paused is not None:
                self._at(paused, _JOB, partial(self._take, number, place))
            else:
                self._beside(number, at, now)
            return
        waiting = self._waiting(number, place)
        self.clusters[cluster].held.append(waiting)
        self._serve(self.clusters[cluster], now)
        self._await(waiting, now)

    def _beside(self, number: int, at: int, now: float) -> None:
        """Run a job beside the pools; by its next route where its machines come too late."""
        route, job = self.jobs[number].routes[at], self.jobs[number]
        delay = job.delays.get(route.label, 0.0)
        following = next(self._places(number, (at, len(self.clusters))), None)
        if route.wait and following is not None and (delay is None or delay > route.wait):
            self._at(now + route.wait, _WAITED, partial(self._take, number, following))
        else:
            self.runs[number] = ReplayedRun(job, None if delay is None else now + delay, route)

    def _await(self, waiting: Waiting, now: float) -> None:
        wait = waiting.job.routes[waiting.route].wait
        if wait and not waiting.gone:
            self._at(now + wait, _WAITED, partial(self._waited, waiting))

    def _waited(self, waiting: Waiting, now: float) -> None:
        """Give a wait up for a later place that takes the job now; else wait for as long again."""
        if waiting.gone:
            return
        number = waiting.number
        later = self._places(number, (waiting.route, waiting.cluster))
        place = next((place for place in later if self._takes(number, place, now)), None)
        if place is None:
            self._await(waiting, now)
            return
        self.clusters[waiting.cluster].remove(waiting, self.pools)
        self._take(number, place, now)
        self._serve(self.clusters[waiting.cluster], now)

    def _serve(self, cluster: ClusterQueue, now: float) -> None:
        """Start what can start, and send what nothing holds any more."""
        sent: Waiting | None = None
        while True:
            for waiting in cluster.startable(self.pools):
                self._start(waiting, now)
            if sent and sent.job.urgent and not sent.gone:
                self._make_room(sent, cluster, now)
            sent = next((waiting for waiting in cluster.first_held if not self._holds(waiting, now)), None)
            if sent is None:
                break
            cluster.held.remove(sent)
            sent.order = next(self.orders)
            cluster.add(sent, self.pools)
        self._scale(cluster, now)

    def _make_room(self, urgent: Waiting, cluster: ClusterQueue, now: float) -> None:
        back, holders = find_room(urgent, cluster, self.pools, now)
        for waiting in back:
            cluster.remove(waiting, self.pools)
            cluster.add(replace(waiting, order=next(self.orders), gone=False), self.pools)
        for holder in holders:
            holder.job.asked = True
            self._at(holder.ends, _END, partial(self._makes_room, holder.job))

    def _makes_room(self, running: Waiting, now: float) -> None:
        """Have a job that was asked go on behind the others, unless no urgent one waits for it, or it has ended."""
        running.asked, cluster = False, self.clusters[running.cluster]
        wanted = any(waiting.job.urgent and waiting.meets(running) for waiting in cluster.waiting)
        if not wanted or cluster.running.get(running.order) is not running:
            return
        left = running.left - (now - running.began)
        behind = replace(running, order=next(self.orders), left=left, stopped=now, gone=False)
        cluster.add(behind, self.pools)
        self._ended(running, now)

    def _start(self, waiting: Waiting, now: float) -> None:
        cluster = self.clusters[waiting.cluster]
        cluster.remove(waiting, self.pools)
        cluster.running[waiting.order] = waiting
        for at, machines in waiting.needs:
            pool = self._up_to(now, at)
            pool.busy += machines
            pool.most = max(pool.most, pool.busy)
        number, job = waiting.number, waiting.job
        waiting.began = now + max((self.pools[at].spec.delays.start for at, _ in waiting.needs), default=0.0)
        if waiting.stopped is None:
            self.runs[number] = ReplayedRun(job, waiting.began, job.routes[waiting.route], waiting.needs)
        else:
            run = self.runs[number]
            self.runs[number] = replace(run, breaks=(*run.breaks, (waiting.stopped, waiting.began)))
        self._at(waiting.began + waiting.left, _END, partial(self._ended, waiting))

    def _ended(self, waiting: Waiting, now: float) -> None:
        if self.clusters[waiting.cluster].running.pop(waiting.order, None) is None:
            return  # It has made room before.
        for at, machines in waiting.needs:
            self._up_to(now, at).free(machines)
        self._serve(self.clusters[waiting.cluster], now)

    def _bound(self, at: int, bounds: PoolBounds, now: float) -> None:
        self._up_to(now, at).bound(bounds.min, bounds.max)
        self.fits.clear()
        self._serve(self.cluster_of[at], now)

    def _scale(self, cluster: ClusterQueue, now: float) -> None:
        autoscaled = [at for at in cluster.pools if self.pools[at].max > self.pools[at].min]
        full = all(self.pools[at].busy >= self.pools[at].max for at in autoscaled)
        needed = {at: self.pools[at].busy for at in autoscaled} if full else cluster.needed(self.pools)
        for at in autoscaled:
            pool, delays = self.pools[at], self.pools[at].spec.delays
            if (more := needed[at] - pool.live - pool.coming) > 0:
                pool.coming += more
                self._at(now + delays.scale_up, _MACHINES, partial(self._grown, at, more))
            if max(needed[at], pool.min) >= pool.live:
                pool.shrinks_at = None
            elif pool.shrinks_at is None:
                pool.shrinks_at = now + delays.idle
                self._at(pool.shrinks_at, _SHRINK, partial(self._shrunk, at))

    def _grown(self, at: int, machines: int, now: float) -> None:
        self._up_to(now, at).grow(machines)
        self._serve(self.cluster_of[at], now)

    def _shrunk(self, at: int, now: float) -> None:
        if self.pools[at].shrinks_at != now:
            return
        pool, cluster = self._up_to(now, at), self.cluster_of[at]
        pool.shrinks_at = None
        pool.live = min(pool.live, max(cluster.needed(self.pools)[at], pool.min))
        self._scale(cluster, now)
