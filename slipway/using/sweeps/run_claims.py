"""The claims of a sweep's ended runs. A copy of a run ends well as soon as it finds the claim taken, while the job that
has the claim may fail, and a list may hide that job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

from slipway.google.failures import Denied
from slipway.google.jobs import CANCELLED, VertexJob
from slipway.using.context import Context
from slipway.using.jobs.claim import ENDS, claim_of, claim_text
from slipway.using.jobs.claimant import job_of_number, rival
from slipway.using.sweeps.sweep_jobs import SweepJobs

_AT_ONCE = 8
AT_A_LOOK = 8


def read_rivals(context: Context, jobs: Sequence[VertexJob]) -> dict[str, str]:
    """Return what `rival` tells of each ended job, by the jobs' names; empty for one whose claim may not be read.
    Raises CloudError."""
    storage = context.connection.storage

    def read(job: VertexJob) -> str:
        claim = claim_of(job)
        try:
            return rival(job, claim_text(storage, claim)) if claim else ""
        except Denied:
            return ""

    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="claims") as threads:
        return dict(zip((job.name for job in jobs), threads.map(read, jobs), strict=True))


def hidden_copies(context: Context, jobs: Sequence[VertexJob]) -> frozenset[str]:
    """Return the names of listed jobs that ended as copies of one that no list shows yet, which may be for as long as a
    list lags. Raises CloudError."""
    since, listed = context.now - timedelta(seconds=context.look_for), {job.id for job in jobs}
    recent = [job for job in jobs if job.ended and job.end_time is not None and job.end_time > since]
    rivals = read_rivals(context, recent)
    return frozenset(name for name, number in rivals.items() if number and number not in listed)


class RunClaims:
    """The claims of a sweep's ended runs. Each is read once."""

    def __init__(self, context: Context, jobs: SweepJobs) -> None:
        self._context, self._jobs = context, jobs
        #: What `rival` returned for each job that was asked about, by its name.
        self._rivals: dict[str, str] = {}
        #: The ended jobs that ran in place of others, by the others' names.
        self._ended: dict[str, VertexJob] = {}
        #: The numbers of runs that ran by a job that was deleted.
        self.gone: set[int] = set()
        #: The number of calls of the last look.
        self.calls, self._most = 0, AT_A_LOOK

    def resolved(self, jobs: Mapping[int, VertexJob], most: int = AT_A_LOOK) -> dict[int, VertexJob]:
        """Return the jobs of runs with the job that has the claim in place of an ended copy, without the runs that are
        gone. At most `most` jobs that lists hide are asked for. Raises CloudError."""
        self.calls, self._most = 0, most
        unread = [job for job in jobs.values() if job.ended and job.name not in self._rivals]
        self._rivals |= read_rivals(self._context, unread)
        resolved = {
            index: self._of_claim(index, job, self._rivals.get(job.name, "")) for index, job in sorted(jobs.items())
        }
        return {index: job for index, job in resolved.items() if index not in self.gone}

    def _of_claim(self, index: int, job: VertexJob, number: str) -> VertexJob:
        if not number:
            return job
        if number in ENDS:  # Neither this job nor a copy of it has run.
            return replace(job, state=CANCELLED)
        if job.name in self._ended:
            return self._ended[job.name]
        if self.calls >= self._most:
            return job
        self.calls += 1
        owner = job_of_number(self._context.vertex, number)
        if owner is None:
            self.gone.add(index)
            return job
        if not self._jobs.own([owner]):  # That of another sweep, which `SweepJobs.taken` tells.
            self._ended[job.name] = job
            return job
        if owner.ended:
            self._ended[job.name] = owner
        return owner
