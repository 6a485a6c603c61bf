"""Cancelling a sweep: every job of it that has not ended."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

from slipway.base.errors import PolicyError, ResourceError
from slipway.base.formatting import nearest
from slipway.google.failures import CloudError, Conflict, NotFound, Refused
from slipway.google.jobs import VertexJob
from slipway.model.labels import STACK_LABEL, SWEEP_LABEL, TEMPLATE_LABEL, label_filter
from slipway.using.context import Context
from slipway.using.submission.cancelling import not_ones_own
from slipway.using.sweeps.cancel_watch import note_cancel
from slipway.using.sweeps.runs import sweep_filter
from slipway.using.sweeps.sweep_journal import is_being_sent, journal_of_sweep

_WIDTH = 8
_RECENT, _SHOWN = 100, 3


@dataclass(frozen=True)
class CancelledSweep:
    sweep: str
    jobs: Sequence[VertexJob]
    cancelling: Sequence[str]
    #: A process on this machine still sent others; None where the sweep was begun elsewhere, so that it is not known.
    sending: bool | None
    #: The reason why whoever sends others goes on, as no note of the cancel could be taken.
    unnoted: str
    #: Others may go on, where not all regions could be read.
    problem: ResourceError | None

    @property
    def template(self) -> str:
        return self.jobs[0].labels.get(TEMPLATE_LABEL, "TEMPLATE")


def cancel_sweep(context: Context, sweep: str, confirm: Callable[[PolicyError], None]) -> CancelledSweep:
    """Cancel a sweep's jobs. `confirm` is given the refusal to cancel others' jobs, and raises it unless somebody
    confirms that. Raises ResourceError where none of them goes on, ConfigError for an invalid sweep id, and CloudError.

    A region without clusters on offer that does not answer keeps nothing elsewhere from being cancelled.
    """
    wanted = sweep_filter(context.catalog.identity.label, sweep)
    sending = is_being_sent(journal_of_sweep(context, sweep))
    notes: list[str] = []
    jobs = context.looked_up(lambda vertex: list(vertex.jobs_of_every_kind(wanted)), notes.append)
    unseen = "".join(notes)
    if unseen and all(job.ended for job in jobs):
        raise _not_seen(sweep, unseen)
    if not jobs:
        raise unknown_sweep(context, sweep)
    going = [job for job in jobs if not job.ended]
    if not going and not sending:
        raise ResourceError(
            f"sweep {sweep} has nothing to cancel",
            why=f"all of its {len(jobs):,} jobs have ended",
            fix=f"slipway jobs list --sweep {sweep}",
        )

    if theirs := not_ones_own(going, context):
        confirm(theirs)
    unnoted = ""
    try:
        note_cancel(context.connection.storage, context.catalog.work_bucket, sweep)
    except CloudError as problem:
        unnoted = problem.message
    cancelling = cancel_all(context, [job.name for job in going])
    return CancelledSweep(sweep, jobs, cancelling, sending, unnoted, _not_seen(sweep, unseen) if unseen else None)


def cancel_all(context: Context, names: Collection[str]) -> list[str]:
    """Ask for the end of jobs; return the names of those that had not ended. Raises CloudError."""

    def ask(name: str) -> bool:
        try:
            context.vertex.cancel(name)
        except (Refused, Conflict, NotFound):  # The job has ended meanwhile.
            return False
        return True

    context.connection.session.widen(_WIDTH)
    with ThreadPoolExecutor(_WIDTH, thread_name_prefix="cancel") as threads:
        return [name for name, asked in zip(names, threads.map(ask, names), strict=True) if asked]


def _not_seen(sweep: str, why: str) -> ResourceError:
    return ResourceError(
        f"some jobs of sweep {sweep} may go on where nobody could look",
        why=why,
        fix=f"once that answers: slipway jobs cancel --sweep {sweep}",
    )


def unknown_sweep(context: Context, sweep: str) -> ResourceError:
    """Return the error for a sweep that nobody has sent, with the most similar recent one."""
    stack = context.catalog.stack
    recent: list[str] = []
    with suppress(CloudError):
        jobs = context.vertex.jobs_of_every_kind(
            f"{label_filter({STACK_LABEL: context.catalog.identity.label})} AND labels.{SWEEP_LABEL}:*"
        )
        recent = [*dict.fromkeys(job.labels[SWEEP_LABEL] for job in islice(jobs, _RECENT))]
    near = nearest(sweep, sorted(recent))
    sweeps = [near] if near else recent[:_SHOWN]
    listing = "\n".join(f"slipway jobs list --sweep {id_}" for id_ in sweeps) or "slipway jobs list"
    return ResourceError(f"no jobs of sweep {sweep}", why=f"stack {stack} has none", fix=listing)
