"""Ending a job that runs or waits."""

from __future__ import annotations

from datetime import datetime

from slipway.cloud.resources import CustomJob
from slipway.cloud.vertex import Vertex
from slipway.errors import ResourceError
from slipway.jobs.waiting import state_word
from slipway.words import span


def end(vertex: Vertex, job: CustomJob, now: datetime) -> None:
    """Asks for the job's end. Raises ResourceError for one that has ended, and CloudError."""
    if job.ended:
        name = job.display_name or job.id
        age = f" {span((now - job.end_time).total_seconds())} ago" if job.end_time else ""
        raise ResourceError(
            f"job {name} has ended, there is nothing to cancel",
            why=f"it {state_word(job.state)}{age}" if job.state != "JOB_STATE_CANCELLED" else f"cancelled{age}",
            fix=f"slipway jobs show {name}",
        )
    vertex.cancel(job.name)
