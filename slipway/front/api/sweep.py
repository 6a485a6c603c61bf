"""A sweep from Python: `slipway.sweep(...)` and the `Sweep` it returns. The same code as `slipway submit --sweep`.

Nothing is printed. The command's messages beside its result go to the logger `slipway` as INFO.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from slipway.base.errors import ConfigError, PolicyError
from slipway.front.api.call import check, overrides_of, params_as_typed, timeout_s, types
from slipway.front.api.job import Job, Jobs
from slipway.front.api.notebook import facts
from slipway.google.jobs import AT_LEAST_ONCE, VertexJob
from slipway.using.context import Context, context_of
from slipway.using.submission.candidate import summary
from slipway.using.submission.costs import Spending, leaving
from slipway.using.submission.request import checked_request_id
from slipway.using.submission.submission_request import SubmissionRequest
from slipway.using.submission.submitter import with_code
from slipway.using.sweeps.cancelling import cancel_sweep
from slipway.using.sweeps.forecast import forecast_lines
from slipway.using.sweeps.rate_limit import SUBMISSIONS_PER_MINUTE
from slipway.using.sweeps.run_claims import RunClaims
from slipway.using.sweeps.runs import RunsAgain
from slipway.using.sweeps.sweep_choice import SoonerChoice
from slipway.using.sweeps.sweep_end import Again, problem_of_runs, problem_of_sending, problem_of_taken, until_ended
from slipway.using.sweeps.sweep_file import Runs, points_of
from slipway.using.sweeps.sweep_plan import SweepPlan, plan_sweep
from slipway.using.sweeps.sweep_sender import SendingProgress
from slipway.using.sweeps.sweep_submitter import ChosenSweep, SubmittedSweep, send_sweep

if TYPE_CHECKING:
    from slipway.front.api.result import ResultTable

_log = logging.getLogger("slipway")

_AGAIN = Again(
    same="the same call",
    failed="the same call with retry_failed=True",
    cancelled="the same call with retry_cancelled=True",
)


def sweep(
    template: str,
    runs: Runs,
    *,
    capacity: str | None = None,
    pool: str | None = None,
    then: str | Sequence[str] = (),
    kind: str | None = None,
    team: str | None = None,
    request_id: str | None = None,
    catalog: str | None = None,
    code: str | os.PathLike[str] | None = None,
    retry_failed: bool = False,
    retry_cancelled: bool = False,
    keep_code: bool = False,
    rate: int = SUBMISSIONS_PER_MINUTE,
    yes: bool = False,
    labels: Mapping[str, str] | None = None,
    note: str | None = None,
    notify: str | None = None,
    env: Mapping[str, str | float] | None = None,
    secrets: Mapping[str, str] | None = None,
    max_run: str | float | None = None,
    retries: int | None = None,
    retry_on: Iterable[int] = (),
    replicas: int | None = None,
    job_name: str | None = None,
    **params: str | float | Sequence[str | float],
) -> Sweep:
    """Submit one job for each of many sets of parameters, each exactly once, and return when all are accepted.

    `runs`: `{"trees": [100, 200], "seed": range(10)}` for every combination, `[{"trees": 100}, {"trees": 200}]` for a
    run of each entry, or the path of a sweep's file.
    `capacity`, `pool`, `kind`, `team`, `catalog`, `code`, `labels`, `note`, `notify`, `env`, `secrets`,
    `max_run`, `retries`, `retry_on`, `replicas` and `job_name`: those of `slipway.submit`.
    `then`: the types to take where the runs would wait. Without any, all runs wait for the first capacity type that can
    ever run them.
    `request_id`: the sweep's id, which else follows from its content; another id makes the same runs another sweep.
    `retry_failed`: sends failed runs once more, with the code that the folder has now.
    `retry_cancelled`: sends cancelled runs once more, and those never sent.
    `keep_code`: what is left runs the code that the sweep began with, whatever the folder has now.
    `rate`: submissions a minute, of which the service permits 60; 0 is no limit.
    `yes`: confirms a cost above the stack's limit for confirmation; below that limit it also takes, where the runs
    would wait, the first type that could run now.
    `params`: the parameters that all runs share. One whose name is taken above is written with one more underscore
    behind it (`rate_=…`).

    The same call sends only the remaining runs.

    Raises ConfigError with all mistakes at once, AuthError, ResourceError, PolicyError and AnswerUnknown of
    `slipway.errors`, as the command exits with 2, 3, 4, 5 and 75. Runs accepted by then go on.
    """
    check(template=template, runs=runs, capacity=capacity, pool=pool, then=then, kind=kind, team=team)
    check(request_id=request_id, catalog=catalog, labels=labels, note=note, notify=notify)
    check(env=env, secrets=secrets, max_run=max_run, retries=retries, retry_on=retry_on, replicas=replicas)
    check(job_name=job_name)
    check(code=code, retry_failed=retry_failed, retry_cancelled=retry_cancelled, keep_code=keep_code)
    check(rate=rate, yes=yes)
    if rate < 0:
        raise ConfigError(f"rate is {rate}", why="it is submissions a minute", fix="rate=0, for no limit")
    name = checked_request_id(request_id) if request_id is not None else None
    context = context_of(catalog)
    points = points_of(runs)
    asked = SubmissionRequest(
        template=template,
        params=params_as_typed(params, of_sweep=True),
        capacity_type=capacity,
        pool=pool or "",
        kind=kind,
        team=team or "",
        overrides=overrides_of(labels, note, notify, env, secrets, max_run, retries, retry_on, replicas, job_name),
        arguments=tuple(sweep.__kwdefaults__ or ()),
    )

    def plan_of(asked: SubmissionRequest) -> SweepPlan:
        return plan_sweep(
            context.catalog,
            asked,
            points,
            context.user,
            name,
            shared="an argument",
            team=context.team,
            then=types(then),
        )

    plan = with_code(context, asked, code, plan_of, tell=_log.info, swept=points.values)
    show = _LogDisplay(context, yes=yes)
    again = RunsAgain(failed=retry_failed, cancelled=retry_cancelled, keep_code=keep_code)
    sent = send_sweep(context, plan, rate, show, again)
    if sent.result.interrupted:
        stopped = KeyboardInterrupt()
        stopped.add_note(f"what was sent of sweep {sent.id} goes on; {_AGAIN.same} sends the rest")
        raise stopped
    if problem := problem_of_sending(sent, _AGAIN) or problem_of_taken(sent, sent.jobs.taken(sent.accepted)):
        problem.add_note(f"what was accepted of sweep {sent.id} goes on: slipway jobs list --sweep {sent.id}")
        raise problem
    return Sweep(sent.id, sent.count, sent, context)


@dataclass(frozen=True)
class Sweep:
    """A sweep whose runs were all accepted: `count` of them, by the id that `slipway jobs list --sweep` takes."""

    id: str
    count: int
    _sent: SubmittedSweep = field(compare=False, repr=False)
    _context: Context = field(compare=False, repr=False)

    def jobs(self) -> tuple[Job, ...]:
        """Return the job of each run as it is now, in the order of the runs; the last one for a run that was sent more
        than once.

        Each has its `parameters`. Raises CloudError.
        """
        listed = self._sent.jobs.latest()
        late = {run.index: name for run, name in self._sent.result.accepted.items() if run.index not in listed}
        jobs = {**listed, **{index: self._context.vertex.job(name) for index, name in late.items()}}
        jobs = RunClaims(self._context, self._sent.jobs).resolved(jobs, most=len(jobs))
        return self._handles(jobs[index] for index in sorted(jobs))

    def results(self, sort: str | None = None) -> ResultTable:
        """Return the result of each run: the varying parameters, metrics, run time and cost. `pandas.DataFrame` takes
        it unchanged. `sort` is a metric, with `-` before it where more is better: the best first, and marked.

        Raises ConfigError for a metric that no run has, where they have others, and CloudError.
        """
        return Jobs(self.jobs()).results(sort)

    def _repr_html_(self) -> str:
        return facts((("sweep", self.id), ("runs", f"{self.count:,}"), ("stack", self._context.catalog.stack)))

    def wait(self, timeout: str | float | None = None, *, check: bool = True) -> tuple[Job, ...]:
        """Wait for the end of every run, at most `timeout`, as "2h" or in seconds, and return their jobs, in the order
        of the runs. Without `check` those that failed or were cancelled are among them, and none is for a run whose job
        is gone.

        Raises ResourceError when any failed or expired, or ran and its end is not known, as its job is gone, and
        Cancelled when others were cancelled, both unless `check` is False; WaitTimeout (the runs go on), ConfigError
        for a `timeout` that is no time, and CloudError after an hour without contact (SLIPWAY_NO_CONTACT).
        """
        limit = timeout_s(timeout)
        ended = until_ended(self._context, self._sent, _LogDisplay(self._context), timeout=limit)
        if check and (problem := problem_of_runs(self._context, self._sent, ended, _AGAIN)):
            raise problem
        return self._handles(ended.jobs.values())

    def cancel(self, *, yes: bool = False) -> None:
        """Ask for the end of every unfinished run, of others' only with `yes`; `wait` then raises Cancelled.

        The same call with `retry_cancelled=True` continues it. Raises PolicyError where others have sent some of them,
        ResourceError where all have ended already, and, once the others were asked, where one may be in a region that
        could not be read, and AnswerUnknown where a run is not known to be cancelled.
        """

        def confirm(theirs: PolicyError) -> None:
            if not yes:
                raise theirs

        check(yes=yes)
        if problem := cancel_sweep(self._context, self.id, confirm, _log.info).problem:
            raise problem

    def _handles(self, jobs: Iterable[VertexJob]) -> tuple[Job, ...]:
        return tuple(Job(job.name, job.request_id, job, self._context) for job in jobs)


class _LogDisplay:
    def __init__(self, context: Context, *, yes: bool = False) -> None:
        self._catalog, self._yes = context.catalog, yes

    def note(self, text: str) -> None:
        _log.info(text)

    def state(self, text: Callable[[datetime], str]) -> None:
        """Write nothing: a reader of the jobs sees how many run."""

    def takes_sooner(self, sooner: SoonerChoice) -> bool:
        if self._yes and sooner.spending:
            raise sooner.refusal(sooner.spending, f"the same call with then={list(sooner.types)}")
        return self._yes

    def chosen(self, chosen: ChosenSweep) -> None:
        for group, choice in chosen.choices.items():
            if left := leaving(self._catalog, choice, chosen.counts[group]):
                _log.info(left)
            what = summary(choice.taken.candidate, self._catalog.region, chosen.counts[group])
            _log.info("%s: %s", what, choice.taken.verdict.text)
            if not choice.taken.candidate.request.job.starts_once:
                _log.info(AT_LEAST_ONCE)
        for line in forecast_lines(chosen.forecast) if chosen.forecast else ():
            _log.info(line)
        if sooner := chosen.sooner:
            _log.info("%s: then=%s", sooner.words, list(sooner.types))
        _log.info("%d runs to send, %d were submitted before", len(chosen.left.send), chosen.left.done)

    def confirm(self, costs: Spending) -> None:
        if not self._yes:
            raise costs.refusal

    @contextmanager
    def sending(self, progress: SendingProgress) -> Iterator[Callable[[SendingProgress], None]]:
        yield lambda now: None
