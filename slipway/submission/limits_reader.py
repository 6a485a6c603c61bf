"""Limits for a verdict about offers beside the pools, read beside each other and once."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor

from slipway.cloud.failures import CloudError, NotFound, needs_role
from slipway.cloud.quotas import SERVICE, Quotas
from slipway.quota.metrics import quota_id
from slipway.submission.candidates import Candidate
from slipway.submission.quota_verdict import Limits, NotRead, draws

_NO_ID = NotRead("the catalog lacks its id until the next pulumi up")


class LimitsReader:
    """Reads limits by their quota's id: that of the catalog, else by its pattern. A catalog has no ids where its
    deployment might not list quotas. A quota without an id is in the list of all alone, which takes pages: that is read
    for a candidate that lacked quota at the last deployment, and for any that needs it where `patient`."""

    def __init__(self, quotas: Quotas, threads: ThreadPoolExecutor, *, patient: bool) -> None:
        self._quotas, self._threads, self._patient = quotas, threads, patient
        self._by_id: dict[str, Future[int | NotRead | None]] = {}
        self._unnamed: set[str] = set()
        self._listed: Limits | None = None

    def begin(self, candidates: Iterable[Candidate]) -> None:
        """Begin to read what these draw. They are in one region."""
        for candidate in candidates:
            for need in draws(candidate):
                id_ = quota_id(need.metric, self._quotas.ids)
                if id_ is not None and need.metric not in self._by_id:
                    self._by_id[need.metric] = self._threads.submit(_limit, self._quotas, id_, candidate.region)
            self._unnamed |= self._only_listed(candidate)

    def limits(self, candidate: Candidate) -> Limits:
        """Return limits by metric, without those that the service does not have, of a candidate that was begun with."""
        only_listed = self._only_listed(candidate)
        if self._listed is None and only_listed and (self._patient or candidate.offer.lacks_quota):
            self._listed = _listed(self._quotas, frozenset(self._unnamed), candidate.region)
        found = {metric: reading.result() for metric, reading in self._by_id.items()}
        others = dict.fromkeys(only_listed, _NO_ID) if self._listed is None else self._listed
        return {**{metric: limit for metric, limit in found.items() if limit is not None}, **others}

    def _only_listed(self, candidate: Candidate) -> set[str]:
        """Return what it draws that the list alone tells."""
        if self._quotas.ids is not None:
            return set()
        return {need.metric for need in draws(candidate) if quota_id(need.metric) is None}


def _limit(quotas: Quotas, id_: str, region: str) -> int | NotRead | None:
    """Return None where the service has no such quota. Without the role it is not read, and that is said."""
    try:
        return quotas.info(id_).limit(region)
    except NotFound:
        return None
    except CloudError as problem:
        return NotRead(f"{problem.message}{needs_role(problem)}")


def _listed(quotas: Quotas, metrics: frozenset[str], region: str) -> Limits:
    try:
        found = {info.metric.removeprefix(f"{SERVICE}/"): info.limit(region) for info in quotas.infos(metrics)}
    except CloudError as problem:
        return dict.fromkeys(metrics, NotRead(f"{problem.message}{needs_role(problem)}"))
    return {metric: limit for metric, limit in found.items() if limit is not None}
