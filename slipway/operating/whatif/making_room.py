"""Room for an urgent job during a replay: who makes it, by the rules of `slipway.using.urgent`. Pure.

No history tells when jobs wrote checkpoints, so that each is taken to write one as often as the longest time that it
would be waited for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from slipway.operating.whatif.cluster_queue import ClusterQueue, PoolState, Waiting
from slipway.using.submission.yielding import WITHIN_S
from slipway.using.urgent import chosen

CHECKPOINT_S = WITHIN_S


@dataclass(frozen=True)
class Holder:
    """A running job that can make room."""

    job: Waiting
    now: float
    is_session = False

    @property
    def since(self) -> float:
        """The seconds since its last checkpoint, 0 before it has begun."""
        return max(0.0, self.now - self.job.began) % CHECKPOINT_S

    @property
    def ends(self) -> float:
        """The moment of its next checkpoint, or of its start: then it makes room."""
        return max(self.job.began, self.now + (CHECKPOINT_S - self.since) * (self.job.began < self.now))

    @property
    def machines(self) -> Mapping[int, int]:
        return dict(self.job.needs)

    @property
    def order(self) -> tuple[float, str]:
        return self.since * self.job.machines, self.job.job.name


def find_room(
    urgent: Waiting, cluster: ClusterQueue, pools: Sequence[PoolState], now: float
) -> tuple[list[Waiting], tuple[Holder, ...]]:
    """Return the jobs that wait before an urgent one and step back behind it, in order, and the running jobs that lose
    least for what it and the rest of them are short of; none where nothing is short."""
    before = [job for job in cluster.waiting if job.order < urgent.order and job.meets(urgent)]
    if not _shortage([urgent, *before], pools):
        return [], ()
    short = _shortage([urgent, *(job for job in before if not _can_go_on(job))], pools)
    holders = []
    for job in cluster.running.values():
        if job.asked:
            short.subtract(dict(job.needs))
        elif _can_go_on(job):
            holders.append(Holder(job, now))
    back = sorted(filter(_can_go_on, before), key=lambda job: job.order)
    return back, chosen(+short, holders) if +short else ()


def _can_go_on(job: Waiting) -> bool:
    return job.job.yields and not job.job.urgent


def _shortage(jobs: Iterable[Waiting], pools: Sequence[PoolState]) -> Counter[int]:
    needed = Counter[int]()
    for job in jobs:
        needed.update(dict(job.needs))
    return +Counter({at: count - (pools[at].max - pools[at].busy) for at, count in needed.items()})
