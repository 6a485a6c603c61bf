"""Notifications by whoever waits for a job, to the address in $SLIPWAY_NOTIFY: each event once, as a launcher that
tells the same address makes the same mark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from slipway.authoring.packages import slipway_notify as notify
from slipway.base.errors import ConfigError
from slipway.google.failures import CloudError
from slipway.google.jobs import FAILED, VertexJob, state_word
from slipway.google.storage import Location
from slipway.model.labels import SWEEP_LABEL
from slipway.model.secret import NOTIFY
from slipway.using.context import Context
from slipway.using.jobs.claim import bucket_of, claim_of
from slipway.using.jobs.failure import read_cause

_ENDS = {
    "JOB_STATE_SUCCEEDED": notify.SUCCEEDED,
    "JOB_STATE_CANCELLED": notify.CANCELLED,
    **dict.fromkeys(FAILED, notify.FAILED),
}


class Notifier:
    """A teller of a job's start after a wait, and of its end or a sweep's; without an address it tells nobody."""

    def __init__(self, context: Context) -> None:
        """Raises ConfigError, without the address, for one that would be read on the way."""
        self._context, self._started = context, False
        self._url = context.environ.get(NOTIFY, "").strip()
        if self._url and not notify.private(self._url):
            raise ConfigError(
                f"{NOTIFY} is no https:// address",
                why="it is not shown, as it may hold a secret",
                fix=f"export {NOTIFY}=https://…, as the chat room gives it, or unset it",
            )

    def saw(self, job: VertexJob) -> str:
        """Tell of a start after a wait; return why that could not be done, mostly nothing."""
        if not self._url or self._started or job.waits or job.ended or not (job.start_time and job.create_time):
            return ""
        self._started, waited = True, (job.start_time - job.create_time).total_seconds()
        return self._tell(job, notify.STARTED, notify.after(waited)) if waited > notify.WAITED_S else ""

    def ended(self, job: VertexJob) -> str:
        """Tell of the end, and why it failed as `slipway jobs show` has it; return why that could not be done."""
        if not self._url or job.state not in _ENDS:
            return ""
        return self._tell(job, _ENDS[job.state], read_cause(self._context, job).text)

    def sweep_ended(self, job: VertexJob, runs: int, states: Iterable[str], again: int) -> str:
        """Tell the end of the sweep that a job is of, with the states of its runs; return why that could not be done.
        `again`: runs that were sent once more, which make another end."""
        if not self._url:
            return ""
        sweep = job.labels[SWEEP_LABEL]
        mark = notify.place_of(f"gs://{self._context.catalog.work_bucket}/claims/", sweep) + f"/{again}" * bool(again)
        why = notify.counted(runs, Counter(map(state_word, states)))
        return self._tell(job, notify.ENDED, why, mark, job="", sweep=sweep, runs=str(runs))

    def _tell(self, job: VertexJob, event: str, why: str, mark: str = "", /, **more: str) -> str:
        catalog, storage = self._context.catalog, self._context.brief.storage
        bucket = bucket_of(job, catalog) or catalog.work_bucket
        mark = mark or claim_of(job) or f"gs://{bucket}/claims/{job.request_id or job.id}"
        facts = {
            "job": job.typed,
            "stack": catalog.stack,
            "template": job.template,
            "user": job.user,
            "why": why,
            **more,
        }

        def take(name: str) -> bool:
            return storage.create(Location.parse(name), job.id.encode(), "text/plain")

        try:
            return notify.tell(mark, self._url, event, facts, take)
        except CloudError as problem:
            return f"nobody was told that it {event}: {problem.brief}"
