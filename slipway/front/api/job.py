"""Jobs from Python: `slipway.job(NAME)`, `slipway.jobs(...)` and the `Job` that they return.

Nothing is printed. The command's messages beside its result go to the logger `slipway` as INFO.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.base.errors import ConfigError, ResourceError, SlipwayError
from slipway.base.formatting import nearest, quoted
from slipway.front.api.call import check, timeout_s
from slipway.front.api.notebook import facts, table
from slipway.google.jobs import VertexJob
from slipway.google.trials import Trial
from slipway.model.job_state import SELECTABLE, JobState
from slipway.model.labels import SWEEP_LABEL
from slipway.model.own_settings import OwnSettings
from slipway.using.context import Context, context_of

if TYPE_CHECKING:
    from slipway.front.api.result import ResultTable
    from slipway.model.catalog.parameter_types import Value
    from slipway.using.jobs.cost import JobCost
    from slipway.using.jobs.follower import Event
    from slipway.using.jobs.metrics import Metrics

_log = logging.getLogger("slipway")


@dataclass(frozen=True, repr=False)
class Job:
    """A job at its last reading: it does not change, `refresh` returns a newer one.

    `wait`, `logs` and `download` go on with the job that runs its submission by now, as the command does. One that was
    found by its number, or listed, has its own log and output.

    `resource_name` is `projects/…/locations/…/customJobs/NUMBER`, or that of another kind. Two handles of one job are
    equal.
    """

    resource_name: str
    request_id: str = field(compare=False)
    _job: VertexJob = field(compare=False, repr=False)
    _context: Context = field(compare=False, repr=False)
    #: The name by which `logs` and `download` find the job that runs the submission; empty for this job alone.
    _named: str = field(default="", compare=False, repr=False)

    def __repr__(self) -> str:
        return f"Job(name={self.name!r}, state={self.state.value!r})"

    def _handle(self, job: VertexJob) -> Job:
        """Return the handle of another reading of this job, or of the job that runs in its place."""
        return Job(job.name, self.request_id, job, self._context, self._named and job.display_name)

    def _runs(self) -> VertexJob:
        from slipway.using.submission.next_attempt import last_attempt

        with suppress(ResourceError):  # A list may not have it yet.
            return last_attempt(self._context, self._named or self.resource_name, _log.info)
        return self.refresh()._job

    @property
    def name(self) -> str:
        """The name that commands take: `dask-digits-7k2p3f9a`; the number, if a shell would change the name."""
        return self._job.typed

    @property
    def given_name(self) -> str:
        """The name that its submitter gave it with `job_name=` or `--name`, empty for none."""
        return self._job.chosen_name

    @property
    def template(self) -> str:
        """The template's name; empty for a job of none."""
        return self._job.template

    @property
    def user(self) -> str:
        """The submitter; empty for a job that Slipway did not submit."""
        return self._job.user

    @property
    def team(self) -> str:
        """The team that the job counts for, empty for none."""
        return self._job.team

    @property
    def id(self) -> str:
        """The number that the service gave it."""
        return self._job.id

    @property
    def commit(self) -> str:
        """The reviewed commit that defined its template: `3f9c2e1`."""
        return self._job.revision.commit

    @property
    def dirty(self) -> bool | None:
        """Tell whether the template was deployed with changes that this commit lacks; None if unknown."""
        return self._job.revision.dirty

    @property
    def state(self) -> JobState:
        """The state, in the words of the command: `running`, `succeeded`, `timed-out`. A `JobState` is a `str`."""
        return self._job.job_state

    @property
    def raw_state(self) -> str:
        """The state as Vertex AI names it: `JOB_STATE_RUNNING`."""
        return self._job.state

    @property
    def ended(self) -> bool:
        return self._job.ended

    @property
    def created(self) -> datetime | None:
        """The time when Vertex AI accepted it, in UTC."""
        return self._job.create_time

    @property
    def waited(self) -> float | None:
        """The seconds that it waited for its machines, up to the reading; None for a wait that never began."""
        return self._cost().wait

    @property
    def ran(self) -> float | None:
        """The seconds that it ran, up to the reading; None for a job that never ran."""
        return self._cost().run

    @property
    def error(self) -> str:
        """Vertex AI's message about its end, empty for none."""
        return self._job.error

    @property
    def failure_reason(self) -> str:
        """Why it failed, in a line: the last lines of its log, else Vertex AI's message. Empty for a job that has not
        failed. The log is read at each use."""
        from slipway.using.jobs.failure import read_cause

        return read_cause(self._context, self._job).text

    @property
    def failure_reason_why(self) -> str:
        """Why its log can't be read, so that `failure_reason` is Vertex AI's message. Empty if it can be read."""
        from slipway.using.jobs.failure import read_cause

        return read_cause(self._context, self._job).why

    @property
    def output(self) -> str:
        """The output directory, `gs://…`; empty for a job without one."""
        return self._job.output

    @property
    def parameters(self) -> Mapping[str, Value] | None:
        """The values that the job was submitted with, defaults too; None for a job that does not record them."""
        return self._job.parameters

    @property
    def settings(self) -> OwnSettings:
        """The settings of the submission beside its template: `env`, `secrets`, `max_run` (seconds), `retries`,
        `retry_on` and `replicas`; None or empty for what it did not set."""
        return self._job.own_settings

    @property
    def sweep(self) -> str:
        """The id of the sweep that it is a run of, empty for none."""
        return self._job.labels.get(SWEEP_LABEL, "")

    @property
    def run(self) -> int | None:
        """Its number in its sweep, None for a job of no sweep."""
        return self._job.run

    @property
    def cluster(self) -> str:
        """The cluster that it runs on, empty for a job with machines of its own."""
        id_ = self._job.persistent_resource_id
        return self._context.cluster_name(id_) if id_ else ""

    @property
    def retried(self) -> int | None:
        """How often its code was started again after a failure; None for a job without retries, and if that can't be
        read. It is read at each use."""
        from slipway.using.jobs.claim import known_retries

        return known_retries(self._context.brief.storage, self._job)

    @property
    def labels(self) -> Mapping[str, str]:
        """The job's labels, those that Slipway set among them."""
        return self._job.labels

    @property
    def note(self) -> str:
        """The note of its submission, empty for none."""
        return self._job.note

    @property
    def capacity_type(self) -> str:
        """Where its machines come from: `pool`, `spot`, `on-demand`."""
        return self._job.capacity_type

    @property
    def machines(self) -> str:
        """Its machines with their roles: `1 × n1-standard-8 (main)`."""
        from slipway.using.jobs.roles import machines_of

        return machines_of(self._job)

    @property
    def price_per_hour(self) -> Decimal | None:
        """The list price of its machines in USD an hour; those of a pool are paid for anyway. None if unknown."""
        price = self._cost().per_hour
        return None if price.unknown else price.known

    @property
    def cost(self) -> Decimal | None:
        """The cost of its machines in USD, so far or in all; None for a job that never ran, or an unknown price."""
        cost = self._cost().cost
        return None if cost is None or cost.unknown else cost.known

    def _cost(self) -> JobCost:
        from slipway.using.jobs.cost import job_cost

        return job_cost(self._job, self._job.region or self._context.catalog.region, self._context.now)

    @property
    def best_trial(self) -> Trial | None:
        """The best trial of a tuning job that has succeeded so far. None where there is none, or no single best one."""
        return self._job.best_trial

    @property
    def metrics(self) -> Metrics:
        """The metrics by name, as its `metrics.json`, its run in an experiment or its best trial has them now: they are
        read at each use. `Metrics.steps` are those with steps; where there are none, `Metrics.why` tells the reason."""
        from slipway.using.jobs.metrics import read_metrics

        return read_metrics(self._context, [self.refresh()._job])[self.resource_name]

    def refresh(self) -> Job:
        """Return the job as it is now. Raises CloudError."""
        return self._handle(self._context.vertex.job(self.resource_name))

    def wait(self, timeout: str | float | None = None) -> Job:
        """Wait for the end, at most `timeout`, as "2h" or in seconds, and return the job as it is then.

        For a duplicate, wait for the job that runs and return that. Raises ResourceError for a job that failed or
        expired, or is a duplicate of a deleted one, its subclass JobTimeout for a job that reached its time limit,
        Cancelled, WaitTimeout (`timeout` is over, and the job goes on), ConfigError for a `timeout` that is no time,
        and CloudError after an hour without contact (SLIPWAY_NO_CONTACT). Each has the job, as it was last read, as its
        `job`.
        """
        from slipway.using.jobs.notification import Notifier
        from slipway.using.submission.ending import require_success
        from slipway.using.submission.experiment_run import end_run

        limit = timeout_s(timeout)
        job, notifier = self._job, Notifier(self._context)
        try:
            for job, event in _followed(self._context, self._job, logs=False, timeout=limit):
                tell_event(event)
                if problem := notifier.saw(job):
                    _log.warning(problem)
            for problem in filter(None, (end_run(self._context, job), notifier.ended(job))):
                _log.warning(problem)
            require_success(self._context, job)
        except SlipwayError as error:
            error.job = self._handle(job)
            raise
        return self._handle(job)

    def logs(self, *, follow: bool = False) -> Iterator[str]:
        """Yield the lines of its log so far, each after the role that wrote it: `workers-1  epoch 3`.

        With `follow` they go on until the job has ended, in whatever way. Raises CloudError.
        """
        from slipway.using.jobs.follower import LogLine
        from slipway.using.jobs.log import WHOLE_LOG, job_filter, line

        # A tuning job's trials, and the job behind a pipeline, are known only once they have begun.
        runs = self._runs()
        if follow:
            for job, event in _followed(self._context, runs, logs=True):
                if isinstance(event, LogLine):
                    yield from line(event.entry, job).split("\n")
                else:
                    tell_event(event)
            return
        logging = self._context.connection.with_policy(WHOLE_LOG).logging(self._context.catalog.project)
        for entry in logging.entries(job_filter(runs.log_ids)) if runs.log_ids else ():
            yield from line(entry, runs).split("\n")

    def download(self, folder: str | os.PathLike[str] | None = None, *, overwrite: bool = False) -> Path:
        """Fetch its output so far below its output directory into `folder`, else into one with the job's name, and
        return the folder. Existing files are kept, so that the same call continues after an interruption.

        Raises ConfigError where a file of the folder differs, unless `overwrite`; ResourceError for a job without an
        output directory, and, when the others are there, for objects that can't become files; and CloudError.
        """
        from slipway.using.jobs.download import download

        check(folder=folder, overwrite=overwrite)
        into = Path(os.fsdecode(folder)) if folder is not None else Path(self._job.typed)
        done = download(self._context, self._runs(), into, overwrite=overwrite)
        _log.info("%s has %d files of %s", into, len(done.files), self.name)
        done.require_all()
        return into

    def cancel(self, *, yes: bool = False) -> None:
        """Ask for its end, and that of other jobs of its submission, one of which would run in its stead; nothing more
        is sent of that, and `wait` then raises Cancelled. Raises PolicyError for somebody else's job without `yes`, and
        ResourceError for one that has ended already."""
        from slipway.using.submission.cancelling import cancel_submissions, not_ones_own, with_copies

        check(yes=yes)
        targets = with_copies(self._context, self.refresh()._job, _log.info)
        if theirs := not_ones_own(targets, self._context, yes=yes):
            raise theirs
        if problems := cancel_submissions(self._context, [targets], _log.info).problems:
            raise problems[0]

    def _repr_html_(self) -> str:
        from slipway.model.catalog.placeholders import render

        job = self._job
        values = ", ".join(f"{name}={render(value)}" for name, value in (job.parameters or {}).items())
        state = f"{job.job_state}: {job.error}" if job.error else str(job.job_state)
        return facts(
            (
                ("job", self.name),
                ("state", state),
                ("template", job.template),
                ("parameters", values),
                ("note", job.note),
                ("user", job.user),
                ("output", job.output),
                ("name", self.resource_name),
            )
        )


class Jobs(tuple[Job, ...]):
    """Jobs at the time of listing."""

    def results(self, sort: str | None = None) -> ResultTable:
        """Return their results side by side: the varying parameters, metrics, run time and cost, for
        `pandas.DataFrame`. `sort` is a metric, with `-` before it where more is better: the best first, and marked.

        Raises ConfigError for a metric that no job has, where they have others.
        """
        from slipway.front.api.result import table_of

        return table_of(self[0]._context if self else None, [job._job for job in self], sort)

    def _repr_html_(self) -> str:
        rows = [(job.name, job.state.value, job.template, job.user) for job in self]
        return table(("JOB", "STATE", "TEMPLATE", "USER"), rows)


def job(name: str, *, catalog: str | None = None) -> Job:
    """Return the job of this name, number, resource name or request id; a template's name is your newest job of it, or
    that of others if you have none. `catalog` is `gs://BUCKET[/NAME]`, else the command's default. Raises
    ResourceError, ConfigError and CloudError."""
    from slipway.using.submission.sent_job import find_sent_job

    check(name=name, catalog=catalog)
    context = context_of(catalog)
    target = find_sent_job(context, name, tell=_log.info)
    named = target.display_name if target.request_id and name not in (target.id, target.name) else ""
    return Job(target.name, target.request_id, target, context, named)


def jobs(
    *,
    template: str | None = None,
    user: str | None = None,
    team: str | None = None,
    sweep: str | None = None,
    state: JobState | str | None = None,
    labels: Mapping[str, str | None] | None = None,
    limit: int | None = None,
    everything: bool = False,
    catalog: str | None = None,
) -> Jobs:
    """Return the newest jobs of the stack that fit all of the arguments.

    `sweep`: the last job of each run, in the order of the runs.
    `state`: a `JobState`, or its text, such as `running`.
    `labels`: None stands for any value.
    `limit`: the most jobs, 20 unless it is a sweep.
    `everything`: the jobs of every stack, by whatever means they were submitted.
    `catalog`: `gs://BUCKET[/NAME]`, else the command's default.

    Raises ConfigError and CloudError.
    """
    from slipway.using.jobs.claimant import claimant
    from slipway.using.jobs.listing import MOST, NEWEST, JobQuery, listed_jobs
    from slipway.using.sweeps.run_claims import hidden_copies
    from slipway.using.sweeps.runs import latest, sweep_filter

    check(user=user, team=team, sweep=sweep, state=state, limit=limit, everything=everything, catalog=catalog)
    check(labels=labels)
    if template is not None:
        check(template=template)
    if state is not None and state not in SELECTABLE:
        raise ConfigError(f"state is {str(state)!r}", fix=f"one of {', '.join(SELECTABLE)}")
    if limit is not None and not 1 <= limit <= MOST:
        raise ConfigError("limit is out of bounds", fix=f"a number of jobs, 1 to {MOST:,}")
    context = context_of(catalog)
    stack = context.catalog.identity.label
    query = JobQuery(
        stack=None if everything else stack,
        template=template,
        user=user,
        team=team,
        state=state,
        limit=limit or (NEWEST if sweep is None else MOST),
        labels=labels or {},
    )
    listed = listed_jobs(context, query, _log.info, sweep_filter(stack, sweep) if sweep is not None else "")
    if not listed:
        _warn_of_unknown(template, context)
    if sweep is not None:
        storage, copies_of_hidden = context.connection.storage, hidden_copies(context, listed)
        listed = [job for job in listed if job.name not in copies_of_hidden]
        listed = list(latest(listed, lambda copies: claimant(storage, copies)).values())
    return Jobs(Job(job.name, job.request_id, job, context) for job in listed)


def _warn_of_unknown(template: str | None, context: Context) -> None:
    """Log that the catalog has no such template."""
    if template is None or template in context.catalog.templates:
        return
    near = nearest(template, context.catalog.templates)
    hint = f"; did you mean {near}?" if near else ""
    _log.warning("no jobs: the catalog has no template %s%s", quoted(template), hint)


def _followed(
    context: Context, job: VertexJob, *, logs: bool, timeout: float | None = None
) -> Iterator[tuple[VertexJob, Event]]:
    """Yield the events of a job, and of each in which its submission goes on, with the job as it is then."""
    from slipway.using.jobs.follower import follower_of
    from slipway.using.jobs.race import decided
    from slipway.using.submission.next_attempt import goes_on_as

    begun, left = context.clock.monotonic(), timeout
    later: VertexJob | None = job
    while later:
        job = decided(context, later, _log.info, timeout=left)
        if timeout is not None:
            left = max(0.0, timeout - (context.clock.monotonic() - begun))
        follower = follower_of(context, job, logs=logs, timeout=left)
        for event in follower.events(left):
            yield follower.job, event
        later = goes_on_as(context, follower.job, _log.info, left)


def tell_event(event: Event) -> None:
    """Log a problem that passes; nothing of other events."""
    from slipway.using.jobs.follower import Trouble

    if isinstance(event, Trouble):
        _log.info(event.text)
