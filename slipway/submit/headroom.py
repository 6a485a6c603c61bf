"""Whether quota has room for a job beside the pools, by the preemptible metrics it draws. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from slipway.cloud.resources import CustomJob
from slipway.live_reader.translate import custom_job
from slipway.machines import MachineError
from slipway.quota import Need, label, usage
from slipway.quota.metrics import needs_of
from slipway.submit.demand import Demand, Part
from slipway.submit.verdict import Outcome, Verdict
from slipway.words import join, machines

UNLIMITED = -1


@dataclass(frozen=True)
class NotChecked:
    """A limit that could not be read, and why."""

    why: str


Limits = Mapping[str, int | NotChecked]


def draws(demand: Demand) -> tuple[Need, ...]:
    """What the job draws of each preemptible metric. Empty for machines whose shape is not known."""
    from slipway.cluster import Disk
    from slipway.live import JobReplicas

    def replicas(part: Part) -> JobReplicas:
        shape = part.shape
        disk = Disk(shape.disk_type, shape.disk_gb)
        return JobReplicas(shape.machine, shape.accelerator, shape.accelerator_count, part.machines, disk)

    try:
        return needs_of((replicas(part) for part in demand.parts), preemptible=True)
    except MachineError:
        return ()


def beside(way: str, demand: Demand, region: str, limits: Limits, active: Iterable[CustomJob] | None) -> Verdict:
    """The verdict for a job on machines of its own. A metric that ``limits`` lacks is not looked at."""
    used = None if active is None else usage((), tuple(custom_job(job) for job in active), frozenset())
    place = f"{way}: runs beside the pools on {machines(demand.machines)} of its own"
    never, waits, unread = [], [], []
    for need in draws(demand):
        limit = limits.get(need.metric)
        if isinstance(limit, NotChecked):
            unread.append(limit.why)
        elif limit is None or limit == UNLIMITED:
            continue
        elif need.amount > limit:
            never.append(f"quota {need.metric} {region}: needs {need.amount:,}, limit {limit:,}")
        elif used is not None and need.amount + used.total(need.metric) > limit:
            waits.append(f"{label(need.metric)} needs {need.amount:,}, {used.total(need.metric):,} of {limit:,} used")
    if never:
        return Verdict(Outcome.NEVER, f"can never run by way {way}", tuple(never))
    if waits:
        return Verdict(Outcome.WAITS, f"{place}; waits for preemptible quota: {join(waits)}")
    if unread:
        return Verdict(Outcome.BESIDE, f"{place}; quota not checked: {unread[0]}")
    return Verdict(Outcome.BESIDE, f"{place}; quota suffices, machines are not promised")
