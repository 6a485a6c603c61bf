"""One verdict before sending: starts now, scales up, pool full, or can never run. Pure.

It speaks of what the service tells and no more: no order of the queue, no time of arrival.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from slipway.cloud.clusters import PersistentResource, ResourcePool
from slipway.cloud.resources import CustomJob
from slipway.formatting import join, machines, span
from slipway.jobs.demand import Demand, Part, by_pool, find_pool
from slipway.labels import USER_LABEL
from slipway.machines.spec import MachineSpec

_QUEUED = "JOB_STATE_QUEUED"


class Outcome(StrEnum):
    STARTS = "starts-now"
    SCALES = "scales-up"
    FULL = "pool-full"
    NEVER = "can-never-run"
    WAITS = "waits"
    BESIDE = "beside-the-pool"
    UNKNOWN = "cannot-tell"


@dataclass(frozen=True)
class Verdict:
    """`text` is one line that begins with the verdict. `why` has the reasons of a job that can never run.

    `grows`: by how many machines each pool would grow, for a job that makes pools scale up. `holder`: the job that
    has most of a full pool.
    """

    outcome: Outcome
    text: str
    why: tuple[str, ...] = ()
    grows: tuple[tuple[str, int], ...] = ()
    holder: str = ""


@dataclass(frozen=True)
class Load:
    """Machines of one pool against what is asked of it. `ceiling` is what the pool can grow to."""

    pool: str
    needs: int
    live: int
    used: int
    ceiling: int

    @property
    def free(self) -> int:
        return max(0, self.live - self.used)

    @property
    def grows_to(self) -> int:
        return min(self.ceiling, self.used + self.needs)

    @property
    def outcome(self) -> Outcome:
        if self.needs > self.ceiling:
            return Outcome.NEVER
        if self.needs <= self.free:
            return Outcome.STARTS
        return Outcome.SCALES if self.used + self.needs <= self.ceiling else Outcome.FULL


def load(pool: ResourcePool, needs: int) -> Load:
    return Load(pool.id, needs, pool.replicas, pool.used, max(pool.max or 0, pool.replicas))


def on_cluster(
    name: str, demand: Demand, cluster: PersistentResource, jobs: Iterable[CustomJob] | None, now: datetime
) -> Verdict:
    """The verdict for a job on `cluster`, called `name` by people.

    `jobs` are those of the region that have not ended, None when they could not be read.
    """
    homeless = [part for part in demand.parts if find_pool(part, cluster) is None]
    if homeless:
        return _no_match(name, homeless, cluster)
    pools = {pool.id: pool for pool in cluster.pools}
    loads = [load(pools[pool], needs) for pool, needs in by_pool(demand, cluster).items()]
    never = [one for one in loads if one.outcome is Outcome.NEVER]
    if never:
        return _never(name, never)
    if cluster.state not in ("RUNNING", "UPDATING"):
        return Verdict(Outcome.WAITS, f"waits: cluster {name} is {cluster.state}, jobs start when it is RUNNING")
    mine = [job for job in jobs or () if job.persistent_resource_id == cluster.id]
    full = [one for one in loads if one.outcome is Outcome.FULL]
    if full:
        first = _held(full[0].pool, cluster, mine)
        text = f"pool full: {_full(name, full, cluster, mine, now)}"
        return Verdict(Outcome.FULL, text, holder=first[0][1].display_name if first else "")
    growing = [one for one in loads if one.outcome is Outcome.SCALES]
    if growing:
        text = f"scales up: {join(_growth(name, one) for one in growing)}"
        return Verdict(Outcome.SCALES, text, grows=tuple((one.pool, one.grows_to - one.live) for one in growing))
    return Verdict(Outcome.STARTS, f"starts now: uses {_uses(loads)}{_queue(mine)}")


def _uses(loads: list[Load]) -> str:
    if len(loads) == 1:
        return f"{loads[0].needs} of {machines(loads[0].ceiling)}"
    return join(f"{one.needs} of {machines(one.ceiling)} of {one.pool}" for one in loads)


def _growth(name: str, one: Load) -> str:
    return (
        f"{name}/{one.pool} has {one.free} free, needs {one.needs}, grows {one.live} → {one.grows_to} of "
        + machines(one.ceiling)
    )


def _never(name: str, loads: list[Load]) -> Verdict:
    why = tuple(f"{name}/{one.pool}: needs {machines(one.needs)}, the pool's maximum is {one.ceiling}" for one in loads)
    return Verdict(Outcome.NEVER, f"can never run on {name}", why)


def _full(name: str, loads: list[Load], cluster: PersistentResource, jobs: list[CustomJob], now: datetime) -> str:
    return "; ".join(
        f"{name}/{one.pool} has {one.used} of {machines(one.ceiling)} busy{_holders(one.pool, cluster, jobs, now)}, "
        f"this needs {one.needs}"
        for one in loads
    ) + _queue(jobs)


def _holders(pool: str, cluster: PersistentResource, jobs: list[CustomJob], now: datetime) -> str:
    """Who is on the pool, the largest first; at most three by name."""
    held = _held(pool, cluster, jobs)
    names = [holder(job, now) for _, job in held[:3]]
    if len(held) > 3:
        names.append(f"{len(held) - 3} more")
    return f" with {join(names)}" if names else ""


def _held(pool: str, cluster: PersistentResource, jobs: list[CustomJob]) -> list[tuple[int, CustomJob]]:
    held = [(by_pool(Demand.of(job), cluster).get(pool, 0), job) for job in jobs if job.state != _QUEUED]
    return sorted((one for one in held if one[0]), key=lambda one: -one[0])


def holder(job: CustomJob, now: datetime) -> str:
    """`tune-digits-1a (ada, 14 min)`"""
    facts = [job.labels.get(USER_LABEL, "")]
    facts.append(span((now - job.start_time).total_seconds()) if job.start_time else "starting")
    known = ", ".join(fact for fact in facts if fact)
    return f"{job.display_name}{f' ({known})' if known else ''}"


def _queue(jobs: list[CustomJob]) -> str:
    waiting = sum(1 for job in jobs if job.state == _QUEUED)
    if not waiting:
        return ""
    return "; 1 job waits already" if waiting == 1 else f"; {waiting} jobs wait already"


def _no_match(name: str, parts: list[Part], cluster: PersistentResource) -> Verdict:
    lines = tuple(line for part in parts for line in _mismatch(part, cluster))
    return Verdict(Outcome.NEVER, f"can never run on {name}", lines)


def _mismatch(part: Part, cluster: PersistentResource) -> list[str]:
    """The fields side by side with those of the nearest pool."""
    if not cluster.pools:
        return [f"{part.role}: the cluster has no pools"]
    nearest = min(cluster.pools, key=lambda pool: (len(_differences(part.machine, pool.machine)), pool.id))
    return [
        f"no pool is what {part.role} needs: {field} {ours}, where the nearest pool {nearest.id} has {theirs}"
        for field, ours, theirs in _differences(part.machine, nearest.machine)
    ]


def _differences(ours: MachineSpec, theirs: MachineSpec) -> list[tuple[str, str, str]]:
    rows = [
        ("machine", ours.type, theirs.type),
        ("accelerator", ours.accelerator or "none", theirs.accelerator or "none"),
        ("accelerator count", str(ours.accelerator_count), str(theirs.accelerator_count)),
        ("disk type", ours.disk.type, theirs.disk.type),
        ("disk", f"{ours.disk.size_gb} GB", f"{theirs.disk.size_gb} GB"),
    ]
    return [row for row in rows if row[1] != row[2]]
