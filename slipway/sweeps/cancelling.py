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
from slipway.sweeps.runs import sweep_filter

_WIDTH = 8


@dataclass(frozen=True)
class CancelledSweep:
    """`jobs` are all of the sweep, `cancelling` the names of those that were asked to end now."""

    jobs: Sequence[VertexJob]
    cancelling: Sequence[str]

    @property
    def template(self) -> str:
        return self.jobs[0].labels.get(TEMPLATE_LABEL, "TEMPLATE")


def cancel_sweep(context: Context, sweep: str) -> CancelledSweep:
    """Raises ResourceError where nothing of it goes on, ConfigError for an id that can't be one's, and CloudError."""
    jobs = list(context.vertex.jobs_of_every_kind(sweep_filter(context.catalog.stack, sweep)))
    if not jobs:
        raise ResourceError(
            f"no jobs of sweep {sweep}", why=f"stack {context.catalog.stack} has none", fix="slipway jobs list"
        )
    going = [job for job in jobs if not job.ended]
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
        return CancelledSweep(jobs, [job.name for job, was in zip(going, done, strict=True) if was])
