"""Submitting from Python: `slipway.submit(...)` and the `Job` it gives. The same code as the command.

Nothing is printed. What the command would say beside its result goes to the logger `slipway` as INFO.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.cloud.jobs import VertexJob
from slipway.cloud.trials import Trial
from slipway.context import Context, context_of
from slipway.submission.call import check, check_timeout, params_as_typed, types, waits_as_typed
from slipway.submission.candidates import PreparedSubmission, SubmissionRequest, prepare
from slipway.submission.choice import Choice, never_runs
from slipway.submission.costs import Spending, run_total
from slipway.submission.fallback import WaitingAttempt
from slipway.submission.parameters import waits
from slipway.submission.request import checked_request_id, new_request_id
from slipway.submission.sender import about_copies, about_earlier
from slipway.submission.submitter import SubmissionResult, deliver, with_code

if TYPE_CHECKING:
    from slipway.jobs.follower import Event

_log = logging.getLogger("slipway")


def submit(
    template: str,
    *,
    capacity: str | None = None,
    kind: str | None = None,
    wait_for: Mapping[str, str | float] | None = None,
    then: str | Sequence[str] = (),
    request_id: str | None = None,
    catalog: str | None = None,
    code: str | os.PathLike[str] | None = None,
    yes: bool = False,
    **params: str | float,
) -> Job:
    """Submits one job from a template of the catalog and gives a handle to it.

    `capacity` and `kind` are the command's `--capacity` and `--as`; None takes the template's first that can
    run. `wait_for` is how long to wait for a capacity type before the next is taken, as `{"pool": "30m"}` or in
    seconds, in that order (0 for flex-start waits forever); `then` are the types after those. `request_id` names
    the submission: given again with the same parameters it finds the job, and runs nothing twice. `catalog` is
    `gs://BUCKET[/NAME]`, else what the command would use. `code` is a folder, as `--code`. `yes` confirms what it
    costs, where that is more than the stack lets pass unasked. `params` are the
    template's parameters; one whose name is taken above is written with one more underscore behind it (`code_=…`, and
    `code__=…` for one that is named `code_`).

    With `wait_for`, and where the template has waits of its own, this returns when the job has started or is on its
    last capacity type. If it is interrupted before that, call it again with the same `request_id` to go on.

    Raises ConfigError, AuthError, ResourceError, PolicyError and AnswerUnknown of `slipway.errors`, as the command
    exits with 2, 3, 4, 5 and 75, and Cancelled for a job that began while it was being given up.
    """
    check(template=template, capacity=capacity, kind=kind, wait_for=wait_for, then=then)
    check(request_id=request_id, catalog=catalog, code=code, yes=yes)
    id_ = checked_request_id(request_id) if request_id is not None else new_request_id()
    context = context_of(catalog)
    asked = SubmissionRequest(
        template, params_as_typed(params), capacity, kind, waits(waits_as_typed(wait_for)), types(then)
    )
    if code is not None:
        asked = with_code(context, asked, Path(os.fsdecode(code)), tell=_log.info)
    prepared = prepare(context.catalog, asked, context.user, context.team)
    again = f"the same call with request_id={id_!r}"
    try:
        submitted = deliver(context, _LogDisplay(yes), prepared, id_, repeated=request_id is not None, again=again)
    except KeyboardInterrupt as stopped:
        stopped.add_note(f"what was sent stays; {again} resumes it")
        raise
    return Job(submitted.attempt.job.name, id_, submitted.attempt.job, submitted.context)


@dataclass(frozen=True)
class Job:
    """A job as it was when it was last looked at: it does not change, `refresh` gives a newer one.

    `resource_name` is `projects/…/locations/…/customJobs/NUMBER`, or that of another kind. Two handles are equal
    when they are of one job.
    """

    resource_name: str
    request_id: str = field(compare=False)
    _job: VertexJob = field(compare=False, repr=False)
    _context: Context = field(compare=False, repr=False)

    def _now(self, job: VertexJob) -> Job:
        return Job(job.name, self.request_id, job, self._context)

    @property
    def name(self) -> str:
        """The name that people use, and `slipway jobs` takes: `dask-digits-7k2p3f9a`."""
        return self._job.display_name

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
        """Tell whether the template was deployed with changes that this commit lacks; None where nothing tells."""
        return self._job.revision.dirty

    @property
    def state(self) -> str:
        """The API's name for it: `JOB_STATE_RUNNING`."""
        return self._job.state

    @property
    def ended(self) -> bool:
        return self._job.ended

    @property
    def output(self) -> str:
        """The output directory, `gs://…`; empty for a job without one."""
        return self._job.output

    @property
    def parameters(self) -> Mapping[str, str | float] | None:
        """The values that the job was submitted with, defaults too; None for a job that does not record it."""
        return self._job.parameters

    @property
    def best_trial(self) -> Trial | None:
        """The best trial of a tuning job that has succeeded so far. None where there is none, or no one best."""
        return self._job.best_trial

    def refresh(self) -> Job:
        """The job as it is now. Raises CloudError."""
        return self._now(self._context.vertex.job(self.resource_name))

    def wait(self, timeout: float | None = None) -> Job:
        """Waits for the end, at most `timeout` seconds, and gives the job as it is then.

        If this job is a duplicate, waits for the one that runs and returns that. Raises ResourceError for one that
        failed or expired, or is a duplicate of one that is gone, Cancelled, Timeout (the job goes on), ConfigError for
        a `timeout` that is not a number, and CloudError when there has been no contact for an hour
        (SLIPWAY_NO_CONTACT).
        """
        from slipway.jobs.claim import original
        from slipway.jobs.follower import follower_of
        from slipway.submission.ending import require_success
        from slipway.submission.experiment_run import end_run

        check_timeout(timeout)
        begun = self._context.clock.monotonic()
        follower = follower_of(self._context, self._job, logs=False, timeout=timeout)
        for event in follower.events(timeout):
            _tell(event)
        if runs := original(self._context.vertex, self._context.connection.storage, follower.job):
            _log.info("%s was a copy of %s, which runs this submission", self.id, runs.id)
            left = None if timeout is None else max(0.0, timeout - (self._context.clock.monotonic() - begun))
            return self._now(runs).wait(left)
        if kept := end_run(self._context, follower.job):
            _log.warning(kept)
        require_success(self._context, follower.job)
        return self._now(follower.job)

    def logs(self, *, follow: bool = False) -> Iterator[str]:
        """The lines of its log so far, each after the role that wrote it: `workers-1  epoch 3`.

        With `follow` they go on until the job has ended, however it ended. Raises CloudError.
        """
        from slipway.jobs.follower import LogLine, follower_of
        from slipway.jobs.log import WHOLE_LOG, job_filter, line

        if follow:
            for event in follower_of(self._context, self._job, logs=True).events():
                if isinstance(event, LogLine):
                    yield from line(event.entry, self._job).split("\n")
                else:
                    _tell(event)
            return
        # A tuning job's trials, and the job behind a pipeline, are known only once they have begun.
        job = self._context.vertex.job(self.resource_name)
        logging = self._context.connection.with_policy(WHOLE_LOG).logging(self._context.catalog.project)
        for entry in logging.entries(job_filter(job.log_ids)) if job.log_ids else ():
            yield from line(entry, job).split("\n")

    def download(self, folder: str | os.PathLike[str] | None = None, *, overwrite: bool = False) -> Path:
        """Fetches what it has written so far below its output directory into `folder`, else into one that is called as
        the job, and gives that. What is there already is kept, so that the same call goes on after an interruption.

        Raises ConfigError where a file of the folder differs, unless `overwrite`; ResourceError for a job without an
        output directory, and, when the others are there, for objects that can't become files; and CloudError.
        """
        from slipway.jobs.download import download

        check(folder=folder)
        into = Path(os.fsdecode(folder)) if folder is not None else Path(self._job.typed)
        done = download(self._context, self.refresh()._job, into, overwrite=overwrite)
        _log.info("%s has %d files of %s", into, len(done.files), self.name)
        done.require_all()
        return into

    def cancel(self) -> None:
        """Asks for its end; `wait` then raises Cancelled. Raises ResourceError for a job that has ended already."""
        from slipway.submission.ending import cancel_job

        cancel_job(self._context.vertex, self.refresh()._job, self._context.now)


def _tell(event: Event) -> None:
    from slipway.jobs.follower import Trouble

    if isinstance(event, Trouble):
        _log.info(event.text)


@dataclass(frozen=True)
class _LogDisplay:
    """A submission told to the logger. `yes`: whatever it costs is confirmed."""

    yes: bool

    def note(self, text: str) -> None:
        _log.info(text)

    def chosen(self, prepared: PreparedSubmission, choice: Choice) -> None:
        _log.info("%s by %s: %s", prepared.template.name, choice.taken.candidate.label, choice.taken.verdict.text)
        if total := run_total(prepared.catalog, choice.taken):
            _log.info(total.words)
        for one in choice.hopeless:
            _log.info(never_runs(one))

    def sent(self, submitted: SubmissionResult) -> None:
        job = submitted.attempt.job
        earlier = about_earlier(submitted.request, submitted.attempt)
        _log.info("job %s %s%s", job.display_name, job.name, f", {earlier}" if earlier else "")
        if copies := about_copies(submitted.request, submitted.attempt):
            _log.warning(copies)

    def confirm(self, costs: Spending) -> None:
        if not self.yes:
            raise costs.refusal

    def falling_back(self, waiting: WaitingAttempt) -> None:
        _log.info("%s did not start by %s in time: moves on", waiting.job.display_name, waiting.candidate.label)

    @contextmanager
    def watching(self, waiting: WaitingAttempt) -> Iterator[Callable[[Event], None]]:
        yield _tell
