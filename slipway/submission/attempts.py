"""The attempts of a submission as they are found later: each has an entry in the journal, and jobs at the service."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from itertools import count

from slipway.cloud.failures import NotFound
from slipway.cloud.jobs import VertexJob
from slipway.context import Context
from slipway.errors import AnswerUnknown
from slipway.kinds import KINDS
from slipway.labels import REQUEST_LABEL, STACK_LABEL, label_filter
from slipway.submission.fallback import attempt_id
from slipway.submission.journal import EntryState, SubmissionJournal


def going_on(context: Context, journal: SubmissionJournal, request_id: str) -> tuple[VertexJob, ...]:
    """The jobs of a submission that have not ended, of all its attempts from this machine.

    Raises CloudError, and AnswerUnknown where a list may still hide the job of an attempt whose answer was lost.
    """
    found: dict[str, VertexJob] = {}
    for number in count():
        id_ = attempt_id(request_id, number)
        entry = journal.read(id_)
        if entry is None:
            return tuple(job for job in found.values() if not job.ended)
        # Whatever kind it is by now: a deployment may have changed that too.
        wanted = label_filter({STACK_LABEL: context.catalog.stack, REQUEST_LABEL: id_})
        listed = {job.name: job for kind in KINDS.values() for job in context.vertex.jobs(kind, wanted)}
        if entry.job and entry.job not in listed:
            with suppress(NotFound):
                listed[entry.job] = context.vertex.job(entry.job)
        age = (context.now - datetime.fromisoformat(entry.when)).total_seconds()
        if entry.state is EntryState.SENDING and not listed and age < context.look_for:
            raise AnswerUnknown(
                f"whether a job of request {id_} goes on is unknown",
                why=f"it was being sent at {entry.when}, and no job of it is listed",
            )
        found |= listed
    raise AssertionError("attempts have no end")
