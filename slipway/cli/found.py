"""The job that a person named."""

from __future__ import annotations

from slipway.cli import screen
from slipway.cli.context import Context
from slipway.cloud.resources import CustomJob
from slipway.jobs.copies import original
from slipway.jobs.finding import find


def found(context: Context, text: str) -> CustomJob:
    """By name, number or full resource name. Raises ResourceError.

    Of several of one name it is the newest, or the one that this is a copy of, which is said.
    """
    hit = find(context.vertex, text)
    if not hit.namesakes:
        return hit.job
    ran = original(context.vertex, context.connection.storage, hit.job)
    which = f"{ran.id}, which runs the submission" if ran else f"the newest, {hit.job.id}"
    screen.note(f"note: {hit.namesakes + 1} jobs are called {text}; this is {which}")
    return ran or hit.job
