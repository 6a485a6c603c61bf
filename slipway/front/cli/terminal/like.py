"""The job of `slipway submit --like JOB`, and the messages about it before anything is sent."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from slipway.front.cli.terminal import screen
from slipway.front.cli.terminal.arguments import SubmitArguments
from slipway.front.cli.terminal.options import found_job
from slipway.google.jobs import VertexJob
from slipway.using.context import Context
from slipway.using.submission.like import Likeness, request_like


def liked(context: Context, typed: SubmitArguments) -> tuple[SubmitArguments, VertexJob]:
    """Return the job, and the words that name it for good, as a template's name does not. Raises ResourceError."""
    assert typed.like, "the command has it"
    job = found_job(context, typed.like)
    return replace(typed, like=job.typed), job


def request_like_job(context: Context, typed: SubmitArguments, job: VertexJob, swept: Collection[str] = ()) -> Likeness:
    """Print the parts that are taken over, and those that can't be the same any more. `swept`: parameters that the
    points of a sweep give. Raises the errors of `request_like`."""
    likeness = request_like(context, job, typed.request(), own_code=typed.code is not None, swept=swept)
    for line in likeness.notes:
        screen.note(line)
    for line in likeness.differences:
        screen.note(f"  not as it was: {line}")
    return likeness
