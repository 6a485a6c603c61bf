"""Judges whether quota has room for a job beside the pools, by the metrics that its capacity type draws. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from slipway.capacity import CAPACITY_TYPES, DAY
from slipway.cloud.clusters import PersistentResource
from slipway.cloud.jobs import VertexJob
from slipway.formatting import counted, join, span
from slipway.jobs.verdict import Outcome, Verdict
from slipway.machines.spec import MachineGroup
from slipway.quota.metrics import ON_DEMAND_QUOTA, Need, drawn_by, label, namespace, unmetered
from slipway.quota.usage import usage
from slipway.submission.candidates import Candidate

UNLIMITED = -1


@dataclass(frozen=True)
class NotRead:
    """A limit that could not be read, and why."""

    why: str


Limits = Mapping[str, int | NotRead]
_NOT_LISTED = NotRead("the service lists no such quota")


def as_clusters_do(candidate: Candidate) -> bool:
    """Tell whether it draws quota that clusters draw as well: that of disks is the same for all."""
    return any(namespace(need.metric) == ON_DEMAND_QUOTA for need in draws(candidate))


def draws(candidate: Candidate) -> tuple[Need, ...]:
    """Return what the job draws of each metric."""
    return drawn_by(candidate.offer.capacity_type, _machines(candidate))


def on_own_machines(
    candidate: Candidate,
    region: str,
    limits: Limits,
    active: Iterable[VertexJob] | None,
    clusters: Iterable[PersistentResource] | None,
    *,
    all_read: bool = True,
) -> Verdict:
    """Judge a job on machines of its own. A metric that `limits` lacks is none of the service's.

    `active` and `clusters` are None when they could not be read; the limit alone is held against then. Without
    `all_read` there may be more jobs than `active`: at least so much is in use.
    """
    name = candidate.offer.capacity_type
    used = None if active is None or clusters is None else usage(tuple(clusters), tuple(active))
    never, waits, busy, lacking = [], [], [], []
    unread: dict[str, list[str]] = {}
    unsure, least = False, "" if all_read else "at least "
    needs = draws(candidate)
    for need in needs:
        limit, have = limits.get(need.metric, _NOT_LISTED), used.total(need.metric) if used else 0
        if isinstance(limit, NotRead):
            unread.setdefault(limit.why, []).append(label(need.metric))
            continue
        if limit == UNLIMITED:
            continue
        why = f"quota {need.metric} {region}: needs {need.amount:,}, limit {limit:,}"
        if need.amount > limit:
            never.append(why)
        elif need.amount + have > limit:
            waits.append((need.metric, f"{why}, used {least}{have:,}"))
            busy.append(f"{need.amount:,} {label(need.metric)} needed, {least}{have:,} of {limit:,} used")
        else:
            unsure = unsure or used is None or not all_read
            continue
        lacking.append((need.metric, need.amount + have))
    if never:
        return Verdict(Outcome.NEVER, f"can never run on {name} machines", tuple(never), lacking=tuple(lacking))
    place = _place(candidate)
    if waits:
        kind = join(dict.fromkeys(namespace(metric) for metric, _ in waits))
        text = f"{place}; waits for {kind} quota: {join(busy)}"
        return Verdict(Outcome.WAITS, text, tuple(why for _, why in waits), lacking=tuple(lacking))
    if not needs:
        return Verdict(Outcome.BESIDE, f"{place}; which quota it draws is not documented, so none was checked")
    if strange := unmetered(_machines(candidate), preemptible=CAPACITY_TYPES[name].preemptible):
        unread.setdefault("none is known", []).extend(strange)
    if unread:
        told = "; ".join(f"quota of {join(what)} not read: {why}" for why, what in unread.items())
        return Verdict(Outcome.BESIDE, f"{place}; {told}", unread=unsure)
    if unsure:
        unknown = "could not be read" if used is None else "was not all counted: too many jobs run"
        text = f"cannot tell whether quota suffices: the limits do, what is in use {unknown}"
        return Verdict(Outcome.BESIDE, f"{place}; {text}", unread=True)
    promised = "" if candidate.waits_by_itself else ", machines are not promised"
    return Verdict(Outcome.BESIDE, f"{place}; quota suffices{promised}")


def _machines(candidate: Candidate) -> tuple[MachineGroup, ...]:
    return tuple(MachineGroup(part.machine, part.machines) for part in candidate.demand.parts)


def _place(candidate: Candidate) -> str:
    job, name = VertexJob.read(candidate.body, candidate.kind), candidate.offer.capacity_type
    if not candidate.waits_by_itself:
        return f"{name}: runs beside the pools on {counted(candidate.demand.machines, 'machine')} of its own"
    wait = DAY if job.max_wait is None else job.max_wait
    until = f"up to {span(wait)}" if wait else "forever"
    if candidate.kind.has_trials:
        at_once = f", {job.trials} at a time" if job.trials > 1 else ""
        return f"{name}: each trial waits {until} for {_together(job.replicas)}{at_once}"
    return f"{name}: waits {until} for {_together(job.replicas)}"


def _together(machines: int) -> str:
    return f"{counted(machines, 'machine')} of its own{', all at once' if machines > 1 else ''}"
