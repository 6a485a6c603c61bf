"""Phrases about clusters, their machines and their jobs, as findings print them. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime

from slipway.base.formatting import few, join
from slipway.google.jobs import VertexJob, distinct
from slipway.model.machines.spec import MachineGroup

_MOST_WORDS = 30


def phrases(first: str, *others: str) -> str:
    """Return the phrases as one sentence, the most important first; what makes it too long is left out."""
    sentence = first
    for phrase in filter(None, others):
        longer = f"{sentence}; {phrase}"
        if len(longer.split()) <= _MOST_WORDS:
            sentence = longer
    return sentence


def phrase(start: str, value: str, end: str = "") -> str:
    """Return a phrase with a value; empty without a value."""
    return f"{start}{value}{end}" if value else ""


def machines_text(groups: Iterable[MachineGroup]) -> str:
    """Return ``1 `a3-highgpu-8g` and 2 `n1-standard-8` ``; empty for none."""
    counts = Counter[str]()
    for group in groups:
        counts[str(group.machine)] += group.count
    return join(f"{count:,} `{machine}`" for machine, count in (+counts).items())


def scarce(groups: Iterable[MachineGroup]) -> tuple[MachineGroup, ...]:
    return tuple(group for group in groups if group.machine.accelerator)


def users(jobs: Iterable[VertexJob]) -> tuple[str, ...]:
    return tuple(sorted({job.user for job in jobs if job.user}))


def jobs_text(jobs: Iterable[VertexJob]) -> str:
    """Return ``job `tune-27b` (ada) and 3 more``; empty for none."""
    return few(f"job `{job.called}` ({job.user or 'unknown user'})" for job in distinct(jobs))


def job_lines(jobs: Iterable[VertexJob], now: datetime) -> tuple[str, ...]:
    """Return ``job `tune-27b` (ada, running 3 h 12 min)`` for each job, by name."""
    listed = sorted(distinct(jobs), key=lambda job: job.called)
    return tuple(f"job `{job.called}` ({job.owner_and_age(now)})" for job in listed)
