"""Sessions from Python: `with slipway.session(machine="n1-standard-8") as session: session.run("python train.py")`.

A run prints what the command writes. The command's other messages go to the logger `slipway` as INFO.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from slipway.base.clock import poll
from slipway.base.errors import ResourceError
from slipway.front.api.call import check as check_arguments
from slipway.front.api.call import command_words, overrides_of, params_as_typed, types, waits_as_typed
from slipway.front.api.job import Job
from slipway.front.api.submit import sent
from slipway.using.context import Context, context_of
from slipway.using.jobs.metrics import Metrics
from slipway.using.sessions import session as sessions
from slipway.using.sessions.interrupting import interrupt_run
from slipway.using.sessions.run_output import followed
from slipway.using.sessions.runs import RunRecord, read_runs
from slipway.using.sessions.sending import begin_run
from slipway.using.sessions.starting import IDLE, plan_session
from slipway.using.sessions.stopping import stop_session
from slipway.using.submission.own_command import command_line, script_template
from slipway.using.submission.parameters import waits
from slipway.using.submission.request import checked_request_id, new_request_id
from slipway.using.submission.submission_request import SubmissionRequest

_log = logging.getLogger("slipway")
_FILES_LATE_S = 5.0
"""The seconds after a run's end within which the session has kept its files."""


@dataclass(frozen=True)
class SessionRun:
    """A run that has ended. `submit(like=run.name)` makes a job of it."""

    name: str
    number: int
    exit_code: int
    _session: Session = field(compare=False, repr=False)

    @property
    def metrics(self) -> Metrics:
        """The metrics by name, as `Job.metrics` has them. They are read at each use, and are awaited for a few seconds,
        as the session keeps a run's files after its end. Raises CloudError, and ResourceError for a deleted run."""
        return self._session._metrics(self.number)


@dataclass(frozen=True, repr=False)
class Session:
    """A session that was started here; as a context manager it stops at the end of the block."""

    job: Job
    _context: Context = field(compare=False)

    def __repr__(self) -> str:
        return f"Session(job={self.job.name!r})"

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.stop()

    def run(
        self,
        command: str | Sequence[str | float],
        *,
        code: str | os.PathLike[str] = ".",
        resume: bool = False,
        check: bool = True,
    ) -> SessionRun:
        """Run a command, a line or a list of words, among the files of a folder as they are now, print what it writes,
        and wait for its end. An interrupt is handed on to the command. `resume`: its $SLIPWAY_OUTPUT is what the run
        before has left, not empty. With `check=False` a command that failed is returned.

        Raises ResourceError for a command that failed, for a run that is lost, and where the session runs another
        command or has ended; ConfigError for a folder that lacks what the command starts; and CloudError.
        """
        check_arguments(code=code, resume=resume, check=check)
        words = command_words(command)
        typed = os.fsdecode(code)
        line = command_line(words, Path(typed))
        session, run = begin_run(self._context, self._session, line, typed, _log.info, resume=resume)
        name = f"{session.job.typed}/{run.number}"
        exit_code = followed(self._context, session, run, _log.info)
        if exit_code and check:
            raise ResourceError(
                f"run {run.number} ended with {exit_code}",
                why=f"the command was {run.request.command}",
                fix=f"mend it, and run it again; its output: slipway jobs logs {session.job.typed}",
            )
        return SessionRun(name, run.number, exit_code, self)

    def runs(self) -> tuple[RunRecord, ...]:
        """Return its newest runs, the oldest first, each with `state`, `exit_code`, `metrics`, `ran` and others. Raises
        CloudError."""
        return tuple(read_runs(self._context, self._session()))

    def _metrics(self, number: int) -> Metrics:
        session, metrics = self._session(), Metrics()
        for _ in poll(self._context.clock.sleep, 0.25, 1.0, within=_FILES_LATE_S):
            (record,) = read_runs(self._context, session, [number])
            metrics = record.metrics
            if metrics or metrics.not_finite:
                break
        return metrics

    def interrupt(self, *, kill: bool = False) -> None:
        """Interrupt what it runs, as Ctrl-C does, from another process or thread; with `kill`, without a chance to
        save. The session goes on. Raises ResourceError if it runs nothing, and CloudError."""
        interrupt_run(self._context, self._session(), kill=kill)

    def stop(self) -> None:
        """End it, and what it runs; one that has ended stays so. Raises CloudError."""
        session = self._session()
        if not session.job.ended:
            stop_session(self._context, session, _log.info)

    def _session(self) -> sessions.Session:
        found = sessions.Session.of(self.job.refresh()._job)
        assert found
        return found


def session(
    *,
    machine: str | None = None,
    idle: str | float = IDLE,
    max_run: str | float | None = None,
    replicas: int | None = None,
    preload: str | Sequence[str] = (),
    code: str | os.PathLike[str] = ".",
    template: str | None = None,
    capacity: str | None = None,
    pool: str | None = None,
    team: str | None = None,
    wait_for: Mapping[str, str | float] | None = None,
    then: str | Sequence[str] = (),
    request_id: str | None = None,
    catalog: str | None = None,
    yes: bool = False,
    notify: str | None = None,
    labels: Mapping[str, str] | None = None,
    note: str | None = None,
    env: Mapping[str, str | float] | None = None,
    secrets: Mapping[str, str] | None = None,
    retries: int | None = None,
    retry_on: Iterable[int] = (),
    job_name: str | None = None,
    **params: str | float | Sequence[str | float],
) -> Session:
    """Start a session and return a handle to it: a job that holds its machine, and runs what it is sent.

    `machine`: one of those that the template has.
    `idle` and `max_run`: it ends after so long without a run, and so long after its start, as "20m" or in seconds.
    `replicas`: the machines, each of which runs what is sent.
    `preload`: modules that Python has imported before a run starts.
    `code`: the folder whose requirements.txt is installed.
    `template`: None takes `script`, or the only one for any folder.
    The other arguments are those of `slipway.submit`.

    Raises the errors of `slipway.submit`, and ConfigError where a session of that name goes on.
    """
    check_arguments(machine=machine, idle=idle, max_run=max_run, preload=preload, code=code)
    if template is not None:
        check_arguments(template=template)
    check_arguments(capacity=capacity, pool=pool, team=team, catalog=catalog, yes=yes, notify=notify)
    check_arguments(labels=labels, note=note, env=env, secrets=secrets, retries=retries, retry_on=retry_on)
    check_arguments(replicas=replicas, job_name=job_name)
    check_arguments(wait_for=wait_for, then=then, request_id=request_id)
    id_ = checked_request_id(request_id) if request_id is not None else new_request_id()
    context = context_of(catalog)
    found = script_template(context.catalog, template, machine)
    limit = None if max_run is None else str(max_run)
    plan = plan_session(
        context, found, id_, idle=str(idle), max_run=limit, preload=",".join(types(preload)), name=job_name, code=code
    )
    chosen = {"machine": machine} if machine else {}
    asked = SubmissionRequest(
        template=found.name,
        params=params_as_typed({**chosen, **params}),
        capacity_type=capacity,
        pool=pool or "",
        team=team or "",
        waits=waits(waits_as_typed(wait_for)),
        then=types(then),
        overrides=overrides_of(labels, note, notify, env, secrets, None, retries, retry_on, replicas, job_name),
        arguments=tuple(session.__kwdefaults__ or ()),
    )
    return Session(sent(context, plan.asked(asked), code, id_, yes=yes, repeated=request_id is not None), context)
