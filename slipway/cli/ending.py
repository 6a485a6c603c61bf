"""How a job ended, for those who waited for it or look at it: the error, and what to do now."""

from __future__ import annotations

from slipway.cli.context import Context
from slipway.cloud.resources import CustomJob
from slipway.errors import SlipwayError
from slipway.jobs.advice import Cause, Suggestion, cause_of, suggestions
from slipway.jobs.cost import problem_of
from slipway.submission.recovery import RecoveredSubmission, recover


def ending_of(context: Context, job: CustomJob) -> SlipwayError | None:
    """The error that an ended job is, with what to do about a lack of machines; None for success."""
    problem, cause = problem_of(job), cause_of(job)
    if problem is None or cause is None:
        return problem
    problem.fix = "\n".join([*advice_lines(cause, next_steps(context, job, cause)), problem.fix])
    return problem


def end_run_of(context: Context, job: CustomJob) -> str:
    """Ends the run of the experiment that an ended job belongs to; in words why that could not be done, else empty."""
    if not job.experiment_run and not job.tensorboard:
        return ""
    from slipway.submission.experiment_run import end_run

    return end_run(context.connection.metadata(context.catalog.region), job)


def next_steps(context: Context, job: CustomJob, cause: Cause) -> tuple[Suggestion, ...]:
    """None for a job of no template of the catalog."""
    again = typed(context, job)
    return () if again is None else suggestions(job, cause, again, context.catalog.region, context.flag)


def typed(context: Context, job: CustomJob) -> RecoveredSubmission | None:
    """What was typed for a job; None for one of no template of the catalog."""
    return recover(context.catalog, job)


def advice_lines(cause: Cause, found: tuple[Suggestion, ...]) -> list[str]:
    """A sentence, then a command a line with what it does."""
    width = max((len(step.command) for step in found), default=0)
    head = f"{cause.value}{'. What to try now:' if found else ''}"
    return [head, *(f"{step.command:<{width}}   {step.what}" for step in found)]
