"""The limits that a verdict about offers beside the pools asks for, read beside each other and once."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor

from slipway.cloud.failures import CloudError, NotFound, needs_role
from slipway.cloud.quotas import SERVICE, Quotas
from slipway.quota.metrics import quota_id
from slipway.submission.candidates import Candidate
from slipway.submission.quota_verdict import Limits, NotChecked, draws


class LimitsReader:
    """A limit is read by its quota's id where that is known. The others are in the list of all quotas alone, which
    takes pages: it is read once a candidate is judged that lacked quota at the last deployment, or for whoever is
    `patient` any that draws some of those."""

    def __init__(self, quotas: Quotas, threads: ThreadPoolExecutor, *, patient: bool) -> None:
        self._quotas, self._threads, self._patient = quotas, threads, patient
        self._by_id: dict[str, Future[int | NotChecked | None]] = {}
        self._unnamed: set[str] = set()
        self._listed: Limits | None = None

    def begin(self, candidates: Iterable[Candidate]) -> None:
        """With what these draw, as far as that was not begun before. They are in one region."""
        for candidate in candidates:
            for need in draws(candidate):
                id_ = quota_id(need.metric)
                if id_ is not None and need.metric not in self._by_id:
                    self._by_id[need.metric] = self._threads.submit(_limit, self._quotas, id_, candidate.region)
            self._unnamed |= self._only_listed(candidate)

    def limits(self, candidate: Candidate) -> Limits:
        """By metric, without those that the service does not have, and those that were not read. The candidate is one
        that was begun with."""
        if self._listed is None and self._only_listed(candidate):
            self._listed = _listed(self._quotas, frozenset(self._unnamed), candidate.region)
        found = {metric: reading.result() for metric, reading in self._by_id.items()}
        return {**{metric: limit for metric, limit in found.items() if limit is not None}, **(self._listed or {})}

    def _only_listed(self, candidate: Candidate) -> set[str]:
        """What it draws that the list alone tells, where that is worth its pages."""
        if not (self._patient or candidate.offer.lacks_quota):
            return set()
        return {need.metric for need in draws(candidate) if quota_id(need.metric) is None}


def _limit(quotas: Quotas, id_: str, region: str) -> int | NotChecked | None:
    """None where the service has no such quota. Without the role it is not checked, and that is said."""
    try:
        return quotas.info(id_).limit(region)
    except NotFound:
        return None
    except CloudError as problem:
        return NotChecked(f"{problem.message}{needs_role(problem)}")


def _listed(quotas: Quotas, metrics: frozenset[str], region: str) -> Limits:
    try:
        found = {info.metric.removeprefix(f"{SERVICE}/"): info.limit(region) for info in quotas.infos(metrics)}
    except CloudError as problem:
        return dict.fromkeys(metrics, NotChecked(f"{problem.message}{needs_role(problem)}"))
    return {metric: limit for metric, limit in found.items() if limit is not None}
