"""Jobs by template, person, team, sweep and state, of one stack or of all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import islice, takewhile

from slipway.base.errors import ConfigError
from slipway.base.formatting import quoted
from slipway.google.failures import CloudError
from slipway.google.jobs import VertexJob
from slipway.google.vertex import Vertex
from slipway.model.job_state import JobState
from slipway.model.kinds import CUSTOM_JOB, PIPELINE_JOB
from slipway.model.labels import (
    PIPELINE_LABEL,
    STACK_LABEL,
    TEAM_LABEL,
    TEMPLATE_LABEL,
    USER_LABEL,
    label_filter,
    label_value,
)
from slipway.model.rules.job import label_problems
from slipway.using.context import Context

NEWEST = 20
"""The default number of jobs listed."""
MOST = 100_000
_LARGEST_PAGE = 100


@dataclass(frozen=True)
class JobQuery:
    """The choice of jobs; None means any."""

    #: None: jobs of every stack, whoever sent them and by whatever means.
    stack: str | None
    template: str | None = None
    user: str | None = None
    team: str | None = None
    state: str | None = None
    #: The newest so many are listed.
    limit: int = NEWEST
    #: The labels that people gave, with None for any value.
    labels: Mapping[str, str | None] = field(default_factory=dict)

    @property
    def narrowed(self) -> bool:
        """Tell whether anything but the stack narrows the choice."""
        choices = (self.template, self.user, self.team, self.state)
        return any(choice is not None for choice in choices) or bool(self.labels)

    def parts(self) -> list[str]:
        """Return the conditions of the API's filter. Raises ConfigError for a choice that leaves nothing to look for:
        without its condition everybody's jobs would be listed."""
        labels = {STACK_LABEL: self.stack}
        for key, name, value in (
            (TEMPLATE_LABEL, "template", self.template),
            (USER_LABEL, "user", self.user),
            (TEAM_LABEL, "team", self.team),
        ):
            labels[key] = None if value is None else label_value(value)
            if value is not None and not labels[key]:
                raise ConfigError(
                    f"no job can be found by the {name} {quoted(value)}",
                    why="it is looked for among labels, which have letters a to z, digits, - and _, and it has none",
                    fix="leave it out, and look through all: slipway jobs list --limit 1000",
                )
        conditions = [f'labels.{key}="{value}"' for key, value in labels.items() if value]
        for key, wanted in self.labels.items():
            if wrong := next(iter(label_problems(str(key), str(wanted or ""))), ""):
                raise ConfigError("no job can have such a label", why=wrong, fix="slipway jobs list")
            conditions.append(f"labels.{key}:*" if wanted is None else f'labels.{key}="{wanted}"')
        if self.state:
            conditions.append(_state_condition(JobState(self.state)))
        return conditions


_NO_FAILURES = (JobState.QUEUED, JobState.PENDING, JobState.RUNNING, JobState.PAUSED, JobState.SUCCEEDED)
"""States that jobs of every kind can have, none of them by the end of a time limit."""


def _state_condition(state: JobState) -> str:
    if state is not JobState.TIMED_OUT:
        return f'state="{state.raw}"'
    # Vertex AI has the state of a failed or cancelled job for it, and documents no OR: the others are excluded.
    return " AND ".join(f'state!="{other.raw}"' for other in _NO_FAILURES)


def listed_jobs(context: Context, query: JobQuery, say: Callable[[str], None], also: str = "") -> list[VertexJob]:
    """List the newest jobs. `also` is another condition; `say` is told of regions that do not answer and are left out.
    Raises ConfigError and CloudError."""
    wanted = " AND ".join(filter(None, (*query.parts(), also)))

    def newest(vertex: Vertex) -> list[VertexJob]:
        page = min(query.limit, _LARGEST_PAGE)
        listed = vertex.jobs_of_every_kind(wanted, page_size=page)
        # A job that reached its time limit has the raw state of a failed or cancelled one.
        fitting = (job for job in listed if query.state in (None, job.job_state))
        return list(islice(fitting, query.limit))

    return context.looked_up(newest, say)


def with_parts(context: Context, jobs: Sequence[VertexJob]) -> list[VertexJob]:
    """Return the jobs; pipelines among them have the custom jobs of their tasks, as far as these can be read."""
    runs = [job for job in jobs if job.kind is PIPELINE_JOB and PIPELINE_LABEL in job.labels]
    if not runs:
        return list(jobs)
    of_run: dict[str, list[VertexJob]] = {job.labels[PIPELINE_LABEL]: [] for job in runs}
    # Tasks have the labels of their run. Several runs have another each by which they are told apart, and one stack.
    shared = dict(set[tuple[str, str]].intersection(*(set(job.labels.items()) for job in runs)))
    wanted = label_filter({key: shared[key] for key in (PIPELINE_LABEL, STACK_LABEL) if key in shared})
    begun = min((job.create_time for job in runs if job.create_time), default=datetime.min.replace(tzinfo=UTC))
    try:
        listed = context.vertex.jobs(CUSTOM_JOB, wanted or f"labels.{PIPELINE_LABEL}:*")
        for part in takewhile(lambda part: (part.create_time or begun) >= begun, listed):
            of_run.get(part.of_pipeline, []).append(part)
    except CloudError:
        return list(jobs)
    parts = {id_: tuple(found) for id_, found in of_run.items()}
    return [replace(job, parts=parts.get(job.labels.get(PIPELINE_LABEL, ""))) for job in jobs]
