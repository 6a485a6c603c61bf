"""Words of consequences: jobs with owner and age, machines, quota, fields from one value to another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime

from slipway.base.formatting import join, span
from slipway.google.jobs import VertexJob, distinct
from slipway.google.quota.metrics import label, namespace, request_command
from slipway.google.quotas import PREFIX
from slipway.model.labels import user_values
from slipway.model.machines.spec import MachineGroup
from slipway.reviewing.change.secret_values import HIDDEN
from slipway.reviewing.rules.table import say

_NEVER = datetime.max.replace(tzinfo=UTC)
MOST_NAMED = 3
"""The number of similar things that a sentence names; the details have all of them."""


def jobs(some: Iterable[VertexJob], now: datetime, times: Callable[[float], str] = span) -> tuple[str, ...]:
    return tuple(f"`{job.display_name}` ({job.owner_and_age(now, times)})" for job in oldest_first(some))


def sent_by(member: str, jobs: Iterable[VertexJob]) -> tuple[VertexJob, ...]:
    return tuple(job for job in distinct(jobs) if job.user in user_values(member))


def owned(some: Iterable[VertexJob], whose: str = "its ") -> str:
    """Return `tune-27b-x1` (ada); its 5 jobs."""
    listed = oldest_first(some)
    if len(listed) > 1:
        return f"{whose}{len(listed)} jobs"
    return join(f"`{job.display_name}`{f' ({job.user})' if job.user else ''}" for job in listed)


def have_ended(some: Iterable[VertexJob], whose: str = "its ") -> str:
    """Return `x` (ada) has ended; its 5 jobs have ended."""
    listed = distinct(some)
    return f"{owned(listed, whose)} {'has' if len(listed) == 1 else 'have'} ended"


def oldest_first(some: Iterable[VertexJob]) -> list[VertexJob]:
    return sorted(distinct(some), key=lambda job: (job.start_time or job.create_time or _NEVER, job.name))


def machines(groups: Iterable[MachineGroup]) -> str:
    """Return 1 `a3-highgpu-8g` and 2 `n1-standard-8`; machines that differ in their disk alone are counted together."""
    counts = Counter[str]()
    for group in groups:
        counts[str(group.machine)] += group.count
    return join(f"{count:,} `{machine}`" for machine, count in counts.items() if count)


def other_blanks(told: str, old: object, new: object) -> str:
    """Return words for an old value; of one that differs from the new one in blanks alone, words that say so."""
    alike = old != new and _split(old) == _split(new)
    return say("other-blanks") if alike and told != HIDDEN else told


def _split(value: object) -> list[list[str]]:
    return [str(text).split() for text in (value if isinstance(value, tuple | list) else [value])]


def named(words: Iterable[str], last: str = "and") -> str:
    """Return `a`, `b`, `c` and 4 more."""
    listed = list(words)
    more = len(listed) - MOST_NAMED
    # A single other one would be as short by its name.
    return join([*listed[:MOST_NAMED], f"{more} more"] if more > 1 else listed, last)


def in_backticks(names: Iterable[str], last: str = "and") -> str:
    """Return `named` of names in backticks."""
    return named((f"`{name}`" for name in names), last)


def called_teams(names: Sequence[str]) -> str:
    """Return ``team `vision` ``, or ``teams `vision` and `speech` ``; empty for none."""
    return f"team{'s' * (len(names) > 1)} {in_backticks(names)}" if names else ""


def in_words(metric: str) -> str:
    return f"{'preemptible ' if namespace(metric) == 'preemptible' else ''}{label(metric)}"


def ask(metric: str, limit: int) -> str:
    """Return the command that asks Google for a limit."""
    return f"`{request_command(metric.removeprefix(PREFIX).replace('nvidia_', ''), limit)}`"
