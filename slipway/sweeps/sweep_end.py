"""A sweep's end: waiting for its runs, and the error that it is when not all of them were accepted, or succeeded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from slipway.cloud.jobs import VertexJob
from slipway.context import Context
from slipway.errors import AnswerUnknown, Cancelled, ResourceError, SlipwayError, Timeout
from slipway.formatting import clock
from slipway.jobs.contact import Contact
from slipway.jobs.follower import TRANSIENT, Polling
from slipway.jobs.waiting import state_word
from slipway.submission.ending import error_of_end
from slipway.submission.experiment_run import end_run
from slipway.sweeps.runs import runs_in_words
from slipway.sweeps.sweep_jobs import calls_of
from slipway.sweeps.sweep_sender import SECONDS_PER_CALL
from slipway.sweeps.sweep_submitter import SubmittedSweep
from slipway.sweeps.unlisted_runs import UnlistedRuns

_SHOWN_REASONS = 5
_LATE = "job that shows up late would run as well"
_POLLING = Polling()


@dataclass(frozen=True)
class Again:
    """How to go on with a sweep, in the words of whoever sent it: a command, or a call of Python.

    `same` sends what was never sent; the others also, or only, what failed and what was cancelled.
    """

    same: str
    failed: str
    cancelled: str


class EndDisplay(Protocol):
    """Where waiting tells what it sees."""

    def state(self, text: Callable[[datetime], str]) -> None: ...

    def note(self, text: str) -> None: ...


def problem_of_sending(sweep: SubmittedSweep, again: Again) -> SlipwayError | None:
    """Why not all runs were accepted, other than that somebody stopped the sending; None when they were."""
    result = sweep.result
    if result.stopped is not None:
        return result.stopped
    if result.unknown:
        trials = sweep.jobs.kind.has_trials
        late = "tuning job that shows up late could take trials from the new one" if trials else _LATE
        return AnswerUnknown(
            f"whether {len(result.unknown):,} runs of sweep {sweep.id} were accepted is unknown",
            why="their answers were lost, and no list shows their jobs",
            fix=f"to see:         slipway jobs list --sweep {sweep.id}\nto look again:  {again.same}\n"
            f"to send them:   {again.failed}   (a {late})",
        )
    if result.refused:
        return ResourceError(
            f"{len(result.refused):,} runs of sweep {sweep.id} were refused",
            why=_reasons(problem.message for problem in result.refused.values()),
            fix=f"once that is corrected, this sends them: {again.same}",
        )
    return None


@dataclass(frozen=True)
class EndedRuns:
    """Each run's job, by the runs' numbers, and the numbers of those that nobody can tell the end of."""

    jobs: Mapping[int, VertexJob]
    gone: Sequence[int] = ()


def problem_of_gone(sweep: SubmittedSweep, gone: Sequence[int], again: Again) -> SlipwayError | None:
    """The error that it is when nobody can tell how some runs ended, which others need not stop for."""
    if not gone:
        return None
    return ResourceError(
        f"{len(gone):,} of {sweep.count:,} runs of sweep {sweep.id} were sent, and their jobs are gone",
        why=_about_gone(gone),
        fix=f"once more: {again.failed}",
    )


def until_ended(context: Context, sweep: SubmittedSweep, show: EndDisplay, *, timeout: float | None) -> EndedRuns:
    """The runs once all have ended: those that are listed, and all that were accepted, now or before.

    Ends the experiment runs of those that end in the meantime. Raises Timeout after `timeout` seconds (the runs go on),
    and CloudError when there has been no contact for long.
    """
    going = {run.index for run in sweep.result.accepted}
    unlisted = UnlistedRuns(context, sweep.accepted, sweep.left.gone)
    begun = context.clock.monotonic()
    while True:
        jobs = _look(context, sweep, unlisted, show)
        for index in sorted(going & jobs.keys()):
            if jobs[index].ended and (kept := end_run(context, jobs[index])):
                show.note(kept)
        going = {index for index, job in jobs.items() if not job.ended} | unlisted.unseen(jobs)
        if not going:
            return EndedRuns(dict(sorted(jobs.items())), sorted(unlisted.gone))
        age = context.clock.monotonic() - begun
        show.state(_state(sweep, jobs, context.clock.now() - timedelta(seconds=age)))
        if timeout is not None and age >= timeout:
            raise _late(sweep, len(going), timeout)
        pause = max(_POLLING.state(age), SECONDS_PER_CALL * (calls_of(len(jobs)) + unlisted.calls))
        context.clock.sleep(pause if timeout is None else min(pause, timeout - age))


def problem_of_runs(sweep: SubmittedSweep, ended: EndedRuns, again: Again) -> SlipwayError | None:
    """The error that is to be told when not all runs succeeded: of those that failed, else of those that are gone, else
    of those cancelled."""
    problems = [problem for job in ended.jobs.values() if (problem := error_of_end(job))]
    failed = [problem for problem in problems if not isinstance(problem, Cancelled)]
    listing = f"slipway jobs list --sweep {sweep.id}"
    lost = problem_of_gone(sweep, ended.gone, again)
    if failed:
        reasons = [_reasons(problem.why for problem in failed), *([_about_gone(ended.gone)] if lost else [])]
        return ResourceError(
            f"{len(failed):,} of {len(ended.jobs):,} runs of sweep {sweep.id} did not succeed",
            why="\n".join(reasons),
            fix=f"which:      {listing}\nonce more:  {again.failed}",
        )
    if lost:
        return lost
    if problems:
        return Cancelled(
            f"{len(problems):,} of {len(ended.jobs):,} runs of sweep {sweep.id} were cancelled",
            fix=f"which:     {listing}\nto go on:  {again.cancelled}",
        )
    return None


def counted_states(states: Iterable[str]) -> str:
    """`4 succeeded, 1 running`, the most frequent first."""
    counts = Counter(map(state_word, states))
    return ", ".join(f"{count:,} {state}" for state, count in counts.most_common())


def _about_gone(gone: Sequence[int]) -> str:
    what = "its job was" if len(gone) == 1 else "their jobs were"
    return f"{runs_in_words(gone)}: {what} deleted, so how that ended is unknown"


def _look(context: Context, sweep: SubmittedSweep, unlisted: UnlistedRuns, show: EndDisplay) -> dict[int, VertexJob]:
    """The runs as they are now. Tries on for a while when the service is away."""
    contact = Contact(context.clock, context.no_contact, goes_on="the runs go on")
    while True:
        try:
            return unlisted.look(sweep.jobs.latest())
        except TRANSIENT as problem:
            if said := contact.lost(problem):
                show.note(f"{sweep.id}  {said}")
            context.clock.sleep(_POLLING.state_steady)


def _state(sweep: SubmittedSweep, jobs: Mapping[int, VertexJob], begun: datetime) -> Callable[[datetime], str]:
    words = counted_states(job.state for job in jobs.values())
    return lambda now: f"{sweep.id}  waiting {clock((now - begun).total_seconds())}  {words}".rstrip()


def _late(sweep: SubmittedSweep, going: int, timeout: float) -> Timeout:
    return Timeout(
        f"{going:,} of {sweep.count:,} runs of sweep {sweep.id} have not ended after {timeout:.0f} s",
        why="they go on",
        fix=f"slipway jobs list --sweep {sweep.id}     or end them: slipway jobs cancel --sweep {sweep.id}",
    )


def _reasons(reasons: Iterable[str]) -> str:
    """The most frequent ones, each with its count."""
    counts = Counter(reasons).most_common(_SHOWN_REASONS)
    return "\n".join(f"{count:,} × {reason}" for reason, count in counts)
