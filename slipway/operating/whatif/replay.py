"""The replay of jobs on pools: an event simulation. Pure, and the same each time.

A job takes the first of its capacity types that can have it, as `slipway.using.submission.choice` chooses. It runs on a
pool only where machine and disk are exactly equal, and starts when all its machines are free at once. On a full pool
jobs start in the order of their arrival: no job overtakes another that waits for the same pool. Google documents no
order, so that is an assumption. An autoscaled pool grows for waiting jobs up to its maximum, and shrinks to its need
when it has been larger for a while. Beside the pools there are machines for every job.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count

from slipway.model.cluster import assigned
from slipway.model.machines.spec import MachineGroup
from slipway.operating.whatif.cluster_queue import ClusterQueue, Needs, PoolState, Waiting
from slipway.operating.whatif.model import PoolBounds, PoolUse, Replay, ReplayedJob, ReplayedPool, ReplayedRun

_BOUNDS, _END, _MACHINES, _JOB, _WAITED, _SHRINK = range(6)
"""Events of one moment happen in this order: machines are freed, and come, before any job asks for them."""

Place = tuple[int, int, Needs]
"""A route, a cluster and machines of its pools. Routes beside the pools have _NO_CLUSTER."""
_NO_CLUSTER = -1


def replay(jobs: Sequence[ReplayedJob], pools: Sequence[ReplayedPool], length: float, *, begin: float = 0.0) -> Replay:
    """Replay jobs on pools until all have ended; machine seconds are those from `begin` to `length`."""
    return _Simulation(jobs, pools, length, begin).run()


class _Simulation:
    def __init__(self, jobs: Sequence[ReplayedJob], pools: Sequence[ReplayedPool], length: float, begin: float) -> None:
        self.jobs, self.length, self.begin = jobs, length, begin
        self.pools = [PoolState(pool) for pool in pools]
        names = dict.fromkeys(pool.cluster for pool in pools)
        self.clusters = [
            ClusterQueue(name, number, tuple(at for at, pool in enumerate(pools) if pool.cluster == name))
            for number, name in enumerate(names)
        ]
        self.cluster_of = {at: cluster for cluster in self.clusters for at in cluster.pools}
        self.started: dict[int, tuple[float, str, Needs]] = {}
        self.events: list[tuple[float, int, int, Callable[[float], None]]] = []
        self.numbers, self.orders = count(), count()
        shapes: dict[tuple[MachineGroup, ...], int] = {}
        self.shapes = [shapes.setdefault(job.machines, len(shapes)) for job in jobs]
        self.fits: dict[tuple[int, int], Needs | None] = {}

    def run(self) -> Replay:
        for at, pool in enumerate(self.pools):
            for bounds in pool.spec.bounds:
                self._at(bounds.since, _BOUNDS, partial(self._bound, at, bounds))
        for number, job in enumerate(self.jobs):
            self._at(job.created, _JOB, partial(self._sent, number))
        while self.events:
            now, _, _, happen = heapq.heappop(self.events)
            happen(now)
        ended = [self._up_to(self.length, at) for at in range(len(self.pools))]
        return Replay(
            runs=tuple(ReplayedRun(job, *self.started.get(number, ())) for number, job in enumerate(self.jobs)),
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
            if route.chosen or route.wait is not None or self._takes(place):
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

    def _takes(self, place: Place) -> bool:
        """Tell whether machines are free or coming, in addition to those that others wait for."""
        pools = ((self.pools[at], machines) for at, machines in place[2])
        return all(pool.busy + pool.asked + machines <= pool.max for pool, machines in pools)

    def _take(self, number: int, place: Place, now: float) -> None:
        at, cluster, needs = place
        if cluster == _NO_CLUSTER:
            self._beside(number, at, now)
            return
        waiting = Waiting(order=next(self.orders), job=number, route=at, cluster=cluster, needs=needs)
        self.clusters[cluster].add(waiting, self.pools)
        self._serve(self.clusters[cluster], now)
        self._await(waiting, now)

    def _beside(self, number: int, at: int, now: float) -> None:
        """Run a job beside the pools; by its next route where its machines come too late."""
        route, job = self.jobs[number].routes[at], self.jobs[number]
        delay = job.delays.get(route.capacity_type, 0.0)
        following = next(self._places(number, (at, len(self.clusters))), None)
        if route.wait and delay > route.wait and following is not None:
            self._at(now + route.wait, _WAITED, partial(self._take, number, following))
        else:
            self.started[number] = now + delay, route.capacity_type, ()

    def _await(self, waiting: Waiting, now: float) -> None:
        wait = self.jobs[waiting.job].routes[waiting.route].wait
        if wait and not waiting.gone:
            self._at(now + wait, _WAITED, partial(self._waited, waiting))

    def _waited(self, waiting: Waiting, now: float) -> None:
        """Give a wait up for a later place that takes the job now; else wait for as long again."""
        if waiting.gone:
            return
        later = (place for place in self._places(waiting.job, (waiting.route, waiting.cluster)) if self._takes(place))
        place = next(later, None)
        if place is None:
            self._await(waiting, now)
            return
        self.clusters[waiting.cluster].remove(waiting, self.pools)
        self._take(waiting.job, place, now)
        self._serve(self.clusters[waiting.cluster], now)

    def _serve(self, cluster: ClusterQueue, now: float) -> None:
        for waiting in cluster.startable(self.pools):
            self._start(waiting, now)
        self._scale(cluster, now)

    def _start(self, waiting: Waiting, now: float) -> None:
        self.clusters[waiting.cluster].remove(waiting, self.pools)
        for at, machines in waiting.needs:
            pool = self._up_to(now, at)
            pool.busy += machines
            pool.most = max(pool.most, pool.busy)
        job = self.jobs[waiting.job]
        delay = max((self.pools[at].spec.delays.start for at, _ in waiting.needs), default=0.0)
        self.started[waiting.job] = now + delay, job.routes[waiting.route].capacity_type, waiting.needs
        self._at(now + delay + job.run, _END, partial(self._ended, waiting))

    def _ended(self, waiting: Waiting, now: float) -> None:
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
