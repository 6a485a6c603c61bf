"""A job from the text that a person types, also if this machine has just sent it and no list shows it yet."""

from __future__ import annotations

from collections.abc import Callable

from slipway.base.errors import ResourceError, SlipwayError
from slipway.google.jobs import VertexJob
from slipway.model.labels import NAME_LABEL, REQUEST_LABEL
from slipway.using.context import Context
from slipway.using.jobs.finding import find_job
from slipway.using.submission.journal import JournalEntry, SubmissionJournal


def find_sent_job(context: Context, text: str, *, of_template: bool = True, tell: Callable[[str], None]) -> VertexJob:
    """Return the job that `find_job` does, or the newest one of the journal with this name, chosen name or request id.
    Raises the errors of `find_job`."""
    try:
        return find_job(context, text, of_template=of_template, tell=tell)
    except ResourceError:
        job = _sent_from_here(context, text)
        if job is None:
            raise
        tell(f"no list shows {text} yet; this is {job.called} ({job.id}), sent from this machine")
        return job


def _sent_from_here(context: Context, text: str) -> VertexJob | None:
    """Return the newest existing job of the journal that `text` names. Raises CloudError."""
    catalog = context.catalog
    try:
        journal = SubmissionJournal.find(context.folder, context.environ, catalog.project, catalog.identity.label)
        entries = [entry for entry in journal.newest() if _is_named(entry, text)]
    except SlipwayError:  # Without a readable journal, lists alone count.
        return None
    found = (context.vertex.found(entry.job) for entry in entries)
    return next(filter(None, found), None)


def _is_named(entry: JournalEntry, text: str) -> bool:
    """Return whether `text` names the job of an entry."""
    job = entry.asked
    if job is None or not entry.job:
        return False
    return text in (job.display_name, job.labels.get(NAME_LABEL), job.labels.get(REQUEST_LABEL))
