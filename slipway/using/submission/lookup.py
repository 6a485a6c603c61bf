"""Lookup of jobs by their labels: those of a request, a sweep, or all attempts of a submission."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from itertools import count, islice, takewhile

from slipway.base.errors import AnswerUnknown
from slipway.google.jobs import VertexJob
from slipway.google.vertex import Vertex
from slipway.model.kinds import KINDS, JobKind
from slipway.model.labels import REQUEST_LABEL, STACK_LABEL, label_filter
from slipway.using.context import Context
from slipway.using.submission.delivery import SendState
from slipway.using.submission.journal import SubmissionJournal
from slipway.using.submission.request import attempt_id

PAGE = 100


class JobLookup:
    """A lookup in every region where the jobs may be, as an earlier attempt may have gone elsewhere.

    Where the claim lets only one job of a request run, a region without clusters that does not answer is left out:
    `tell` says so once, and it is not asked again.
    """

    def __init__(self, context: Context, tell: Callable[[str], None]) -> None:
        self._context, self._tell = context, tell
        self.skipped: frozenset[str] = frozenset()

    def jobs(self, kind: JobKind, wanted: str, *, runs_once: bool, most: int | None = None) -> tuple[VertexJob, ...]:
        """Return the jobs that the API's filter `wanted` takes, at most `most`, newest first. Raises CloudError."""

        def read(vertex: Vertex) -> tuple[VertexJob, ...]:
            return tuple(islice(vertex.jobs(kind, wanted, page_size=most or PAGE), most))

        if not runs_once:
            return read(self._context.vertex)
        return read(self._context.vertex_of_clusters) if self.skipped else self._context.looked_up(read, self._skip)

    def _skip(self, words: str) -> None:
        if not self.skipped:
            self.skipped = frozenset(self._context.catalog.regions_without_clusters)
            self._tell(f"! {words}")


def sent_from_here(context: Context, journal: SubmissionJournal, request_id: str) -> tuple[VertexJob, ...]:
    """Return the jobs of a submission that its attempts from this machine are known to have made. Raises CloudError."""
    entries = (journal.read(attempt_id(request_id, number)) for number in count())
    names = [entry.job for entry in takewhile(lambda entry: entry is not None, entries) if entry and entry.job]
    return tuple(filter(None, map(context.vertex.found, names)))


def going_on(context: Context, journal: SubmissionJournal, request_id: str) -> tuple[VertexJob, ...]:
    """Return the jobs of a submission that have not ended, of all its attempts from this machine.

    Raises CloudError, and AnswerUnknown where a list may still hide the job of an attempt whose answer was lost.
    """
    jobs: dict[str, VertexJob] = {}
    for number in count():
        id_ = attempt_id(request_id, number)
        entry = journal.read(id_)
        if entry is None:
            return tuple(job for job in jobs.values() if not job.ended)
        # The kind is not part of the filter: a deployment may have changed it.
        wanted = label_filter({STACK_LABEL: context.catalog.identity.label, REQUEST_LABEL: id_})
        listed = {job.name: job for kind in KINDS.values() for job in context.vertex.jobs(kind, wanted)}
        if entry.job and entry.job not in listed and (job := context.vertex.found(entry.job)):
            listed[entry.job] = job
        age = (context.now - datetime.fromisoformat(entry.when)).total_seconds()
        if entry.state is SendState.SENDING and not listed and age < context.look_for:
            raise AnswerUnknown(
                f"whether a job of request {id_} goes on is unknown",
                why=f"it was being sent at {entry.when}, and no job of it is listed",
            )
        jobs |= listed
    raise AssertionError("attempts have no end")
