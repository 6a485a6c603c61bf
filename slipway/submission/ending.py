"""A job's end: asking for it; and for those who waited for it or look at it, the error and what to do now."""

from __future__ import annotations

from datetime import datetime

from slipway.cloud.resources import CustomJob
from slipway.cloud.vertex import Vertex
from slipway.context import Context
from slipway.errors import ResourceError
from slipway.formatting import span
from slipway.jobs.cost import problem_of
from slipway.jobs.waiting import state_word
from slipway.submission.advice import Cause, Suggestion, cause_of, suggestions
from slipway.submission.recovery import recover


def cancel_job(vertex: Vertex, job: CustomJob, now: datetime) -> None:
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


def require_success(context: Context, job: CustomJob) -> None:
    """Raises the error that an ended job is, with what to do about a lack of machines; nothing for success."""
    problem, cause = problem_of(job), cause_of(job)
    if problem and cause:
        problem.fix = "\n".join([*advice_lines(cause, next_steps(context, job, cause)), problem.fix])
    if problem:
        raise problem


def next_steps(context: Context, job: CustomJob, cause: Cause) -> tuple[Suggestion, ...]:
    """None for a job of no template of the catalog."""
    again = recover(context.catalog, job)
    return () if again is None else suggestions(job, cause, again, context.catalog.region, context.address)


def advice_lines(cause: Cause, found: tuple[Suggestion, ...]) -> list[str]:
    """A sentence, then a command a line with what it does."""
    width = max((len(step.command) for step in found), default=0)
    head = f"{cause.value}{'. What to try now:' if found else ''}"
    return [head, *(f"{step.command:<{width}}   {step.what}" for step in found)]
