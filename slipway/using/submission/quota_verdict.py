"""Quota for a job on machines of its own: its limits, read once, and whether they have room for the job."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from slipway.base.formatting import counted, join, span
from slipway.google.clusters import PersistentResource
from slipway.google.failures import CloudError, NotFound, needs_role
from slipway.google.jobs import VertexJob
from slipway.google.quota.metrics import ON_DEMAND_QUOTA, Need, drawn_by, label, namespace, quota_id, unmetered
from slipway.google.quota.usage import usage
from slipway.google.quotas import SERVICE, Quotas
from slipway.model.capacity import CAPACITY_TYPES, DAY
from slipway.model.draw import UNLIMITED, Draw
from slipway.using.jobs.verdict import Outcome, Verdict
from slipway.using.submission.candidate import Candidate


@dataclass(frozen=True)
class NotRead:
    """A limit that could not be read, and the reason."""

    why: str


Limits = Mapping[str, int | NotRead]
_NOT_LISTED = NotRead("the service lists no such quota")
_NO_ID = NotRead("the catalog lacks its id until the next deployment")


def as_clusters_do(candidate: Candidate) -> bool:
    """Tell whether a candidate draws quota that clusters draw as well: on demand, or for disks."""
    return any(namespace(need.metric) == ON_DEMAND_QUOTA for need in draws(candidate))


def draws(candidate: Candidate) -> tuple[Need, ...]:
    return drawn_by(candidate.offer.capacity_type, candidate.request.job.machines)


def on_own_machines(
    candidate: Candidate,
    region: str,
    limits: Limits,
    active: Iterable[VertexJob] | None,
    clusters: Iterable[PersistentResource] | None,
    *,
    all_read: bool = True,
) -> Verdict:
    """Judge a job on machines of its own. A metric that `limits` lacks is told as not read: the
    service lists no such quota.

    `active` and `clusters` are None when they could not be read; then the job is compared with the limit alone. Without
    `all_read` there may be more jobs than `active`: then use is at least theirs.
    """
    name = candidate.offer.capacity_type
    used = None if active is None or clusters is None else usage(tuple(clusters), tuple(active))
    never, waits, busy, lacking = [], [], [], []
    unread: dict[str, list[str]] = {}  # By reason, the metrics whose limits were not read.
    unsure = False
    least = "" if all_read else "at least "
    needs = draws(candidate)
    for need in needs:
        limit = limits.get(need.metric, _NOT_LISTED)
        if isinstance(limit, NotRead):
            unread.setdefault(limit.why, []).append(label(need.metric))
            continue
        draw = Draw(need.amount, limit, used.total(need.metric) if used else None)
        why = f"quota {need.metric} {region}: needs {need.amount:,}, limit {limit:,}"
        if draw.short:
            lacking.append((need.metric, draw.enough))
        if draw.never:
            never.append(why)
        elif draw.short:
            waits.append((need.metric, f"{why}, used {least}{draw.used:,}"))
            busy.append(f"{need.amount:,} {label(need.metric)} needed, {least}{draw.used:,} of {limit:,} used")
        elif limit != UNLIMITED:
            unsure = unsure or used is None or not all_read
    if never:
        return Verdict(Outcome.NEVER, f"can never run on {name} machines", tuple(never), lacking=tuple(lacking))
    place = _place(candidate)
    if waits:
        kind = join(dict.fromkeys(namespace(metric) for metric, _ in waits))
        text = f"{place}; waits for {kind} quota: {join(busy)}"
        return Verdict(Outcome.WAITS, text, tuple(why for _, why in waits), lacking=tuple(lacking))
    if not needs:
        return Verdict(Outcome.BESIDE, f"{place}; quota not checked: Google does not say which one such jobs need")
    if strange := unmetered(candidate.request.job.machines, preemptible=CAPACITY_TYPES[name].preemptible):
        unread.setdefault("none is known", []).extend(strange)
    if unread:
        reasons = "; ".join(f"quota of {join(what)} not read: {why}" for why, what in unread.items())
        return Verdict(Outcome.BESIDE, f"{place}; {reasons}", unread=unsure)
    if unsure:
        unknown = "could not be read" if used is None else "was not all counted: too many jobs run"
        text = f"cannot tell whether quota suffices: the limits do, what is in use {unknown}"
        return Verdict(Outcome.BESIDE, f"{place}; {text}", unread=True)
    promised = "" if candidate.waits_by_itself else ", machines are not promised"
    return Verdict(Outcome.BESIDE, f"{place}; quota suffices{promised}")


def _place(candidate: Candidate) -> str:
    job, name = candidate.request.job, candidate.offer.capacity_type
    if not candidate.waits_by_itself:
        return f"{name}: runs on {counted(candidate.demand.machines, 'machine')} of its own"
    wait = DAY if job.max_wait is None else job.max_wait
    until = f"up to {span(wait)}" if wait else "forever"
    if candidate.kind.has_trials:
        at_once = f", {job.trials} at a time" if job.trials > 1 else ""
        return f"{name}: each trial waits {until} for {_together(job.replicas)}{at_once}"
    return f"{name}: waits {until} for {_together(job.replicas)}"


def _together(machines: int) -> str:
    return f"{counted(machines, 'machine')} of its own{', all at once' if machines > 1 else ''}"


class LimitsReader:
    """A reader of limits by their quota's id: the catalog's, else the one that `quota_id` infers. A catalog has no ids
    where no deployment could list quotas. A quota without an id is only in the list of all, which takes pages: the list
    is read for a candidate that lacked quota at the last deployment, and, when `patient`, for any that needs it."""

    def __init__(self, quotas: Quotas, threads: ThreadPoolExecutor, *, patient: bool) -> None:
        self._quotas, self._threads, self._patient = quotas, threads, patient
        #: By region and metric.
        self._by_id: dict[tuple[str, str], Future[int | NotRead | None]] = {}
        self._unnamed: set[str] = set()
        #: By region.
        self._listed: dict[str, Limits] = {}

    def begin(self, candidates: Iterable[Candidate]) -> None:
        """Begin to read the limits that these candidates draw, each in its region."""
        for candidate in candidates:
            for need in draws(candidate):
                id_, key = quota_id(need.metric, self._quotas.ids), (candidate.region, need.metric)
                if id_ is not None and key not in self._by_id:
                    self._by_id[key] = self._threads.submit(_limit, self._quotas, id_, candidate.region)
            self._unnamed |= self._only_listed(candidate)

    def limits(self, candidate: Candidate) -> Limits:
        """Return limits by metric, as far as the service has them, for a candidate passed to `begin`."""
        only_listed, here = self._only_listed(candidate), candidate.region
        if here not in self._listed and only_listed and (self._patient or candidate.offer.lacks_quota):
            self._listed[here] = _listed(self._quotas, frozenset(self._unnamed), here)
        by_id = {metric: reading.result() for (region, metric), reading in self._by_id.items() if region == here}
        others = self._listed.get(here, dict.fromkeys(only_listed, _NO_ID))
        return {**{metric: limit for metric, limit in by_id.items() if limit is not None}, **others}

    def _only_listed(self, candidate: Candidate) -> set[str]:
        if self._quotas.ids is not None:
            return set()
        return {need.metric for need in draws(candidate) if quota_id(need.metric) is None}


def _limit(quotas: Quotas, id_: str, region: str) -> int | NotRead | None:
    """Return a limit; None where the service has no such quota. Without the role the result says so."""
    try:
        return quotas.info(id_).limit(region)
    except NotFound:
        return None
    except CloudError as problem:
        return NotRead(f"{problem.message}{needs_role(problem)}")


def _listed(quotas: Quotas, metrics: frozenset[str], region: str) -> Limits:
    try:
        limits = {info.metric.removeprefix(f"{SERVICE}/"): info.limit(region) for info in quotas.infos(metrics)}
    except CloudError as problem:
        return dict.fromkeys(metrics, NotRead(f"{problem.message}{needs_role(problem)}"))
    return {metric: limit for metric, limit in limits.items() if limit is not None}
