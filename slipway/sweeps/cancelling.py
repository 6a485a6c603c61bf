"""Cancelling a sweep: every job of it that has not ended."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from slipway.cloud.failures import Conflict, NotFound, Refused
from slipway.cloud.jobs import VertexJob
from slipway.context import Context
from slipway.errors import ResourceError
from slipway.labels import TEMPLATE_LABEL
from slipway.submission.journal import state_folder
from slipway.sweeps.runs import sweep_filter
from slipway.sweeps.sweep_journal import is_being_sent, journal_file

_WIDTH = 8


@dataclass(frozen=True)
class CancelledSweep:
    """`jobs` are all of the sweep, `cancelling` the names of those that were asked to end now. `sending`: a process on
    this machine goes on sending others; None where the sweep was begun elsewhere, so that nobody can tell."""

    jobs: Sequence[VertexJob]
    cancelling: Sequence[str]
    sending: bool | None

    @property
    def template(self) -> str:
        return self.jobs[0].labels.get(TEMPLATE_LABEL, "TEMPLATE")


def cancel_sweep(context: Context, sweep: str) -> CancelledSweep:
    """Raises ResourceError where nothing of it goes on, ConfigError for an id that can't be one's, and CloudError."""
    catalog, wanted = context.catalog, sweep_filter(context.catalog.stack, sweep)
    state = state_folder(context.folder, context.environ)
    sending = is_being_sent(journal_file(state, catalog.project, catalog.stack, sweep))
    jobs = list(context.vertex.jobs_of_every_kind(wanted))
    if not jobs:
        raise ResourceError(
            f"no jobs of sweep {sweep}", why=f"stack {context.catalog.stack} has none", fix="slipway jobs list"
        )
    going = [job for job in jobs if not job.ended]
    if not going and sending:
        raise ResourceError(
            f"sweep {sweep} has nothing to cancel yet, but a command of yours still sends runs of it",
            why=f"all of its {len(jobs):,} jobs so far have ended",
            fix="end that command (Ctrl-C)",
        )
    if not going:
        raise ResourceError(
            f"sweep {sweep} has ended, there is nothing to cancel",
            why=f"all of its {len(jobs):,} jobs have ended",
            fix=f"slipway jobs list --sweep {sweep}",
        )

    def asked(job: VertexJob) -> bool:
        try:
            context.vertex.cancel(job.name)
        except (Refused, Conflict, NotFound):  # It has ended meanwhile.
            return False
        return True

    context.connection.session.widen(_WIDTH)
    with ThreadPoolExecutor(_WIDTH, thread_name_prefix="cancel") as threads:
        done = threads.map(asked, going)
        cancelling = [job.name for job, was in zip(going, done, strict=True) if was]
    return CancelledSweep(jobs, cancelling, sending)
