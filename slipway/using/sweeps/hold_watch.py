"""A reader of what holds the runs of a sweep, beside their sending."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor, Future
from contextlib import suppress

from slipway.google.failures import CloudError
from slipway.using.context import Context
from slipway.using.jobs.pause import Pause, pause_of, read_pauses

EVERY_S = 10.0


class HoldWatch:
    """Times are those of the monotonic clock."""

    def __init__(self, context: Context, threads: Executor) -> None:
        self._context, self._threads = context, threads
        self._pauses: Mapping[str, Pause] | None = None
        self._ask_at = 0.0
        self._reading: Future[dict[str, Pause]] | None = None

    def why(self, cluster: str, now: float) -> str:
        """Return the reason why nothing is sent to a cluster now, as of the last look; empty where it is sent. The
        first look is waited for; a look that fails tells nothing new."""
        if self._reading is None and now >= self._ask_at:
            context = self._context
            self._reading = self._threads.submit(read_pauses, context.hurried.storage, context.catalog.work_bucket)
            self._ask_at = now + EVERY_S
        if self._reading and (self._reading.done() or self._pauses is None):
            reading, self._reading = self._reading, None
            with suppress(CloudError):
                self._pauses = reading.result()
        pause = pause_of(self._pauses or {}, cluster)
        return pause.words(self._context.catalog.stack) if pause else ""
