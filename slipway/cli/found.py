"""The job that a person named."""

from __future__ import annotations

from slipway.cli import screen
from slipway.cli.context import Context
from slipway.cloud.resources import CustomJob
from slipway.jobs.finding import find


def found(context: Context, text: str) -> CustomJob:
    """By name, number or full resource name; of several of one name the newest, which is said. Raises ResourceError."""
    hit = find(context.vertex, text)
    if hit.namesakes:
        screen.note(f"note: {hit.namesakes + 1} jobs are called {text}; this is the newest, {hit.job.id}")
    return hit.job
