"""A sweep's end: waiting for its runs, and the error where not all of them were accepted, or succeeded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from operator import itemgetter
from typing import Protocol

from slipway.base.errors import AnswerUnknown, Cancelled, ConfigError, ResourceError, SlipwayError, WaitTimeout
from slipway.base.formatting import clock, few, join
from slipway.google.jobs import VertexJob, state_word
from slipway.using.context import Context
from slipway.using.jobs.failure import read_briefs
from slipway.using.jobs.follower import TRANSIENT, Contact, look_pause
from slipway.using.jobs.notification import Notifier
from slipway.using.submission.ending import error_of_end
from slipway.using.submission.experiment_run import end_run
from slipway.using.sweeps.run_claims import RunClaims
from slipway.using.sweeps.runs import GONE, Run, runs_in_words
from slipway.using.sweeps.sweep_jobs import calls_of
from slipway.using.sweeps.sweep_sender import SECONDS_PER_CALL
from slipway.using.sweeps.sweep_submitter import SubmittedSweep

_SHOWN_REASONS = 5
_AT_A_LOOK, _AGAIN_S = 8, 2.0


@dataclass(frozen=True)
class Again:
    """The ways to go on with a sweep, as a command or a call of Python: to send the runs never sent; also, or only, the
    failed ones; and the cancelled ones."""

    same: str
    failed: str
    cancelled: str


class EndDisplay(Protocol):
    def state(self, text: Callable[[datetime], str]) -> None: ...

    def note(self, text: str) -> None: ...


def problem_of_sending(sweep: SubmittedSweep, again: Again) -> SlipwayError | None:
    """Return the error where not all runs were accepted for another reason than an interruption; None when all were."""
    result = sweep.result
    if result.stopped is not None:
        return result.stopped
    if result.unknown:
        return AnswerUnknown(
            f"whether {len(result.unknown):,} runs of sweep {sweep.id} were accepted is unknown",
            why="their answers were lost, and no list shows their jobs",
            fix=f"to see:         {_listing(sweep)}\nto look again:  {again.same}\n"
            f"to send them:   {again.failed}   (should one show up late, {sweep.jobs.any_request.when_twice})",
        )
    if result.refused:
        counts = Counter(problem.message for problem in result.refused.values()).most_common(_SHOWN_REASONS)
        return ResourceError(
            f"{len(result.refused):,} runs of sweep {sweep.id} were refused",
            why="\n".join(f"{count:,} × {reason}" for reason, count in counts),
            fix=f"once that is corrected, this sends them: {again.same}",
        )
    return None


@dataclass(frozen=True)
class EndedRuns:
    #: The job of each run, by the runs' numbers.
    jobs: Mapping[int, VertexJob]
    gone: Sequence[int] = ()
    #: Runs that have not run, with the jobs of another sweep of this name that ran in their place.
    taken: Mapping[Run, VertexJob] = field(default_factory=dict)


def problem_of_taken(sweep: SubmittedSweep, taken: Mapping[Run, VertexJob]) -> SlipwayError | None:
    """Return the error for runs in whose place another sweep's ran, None where there are none."""
    if not taken:
        return None
    lost = [run.index for run in taken]
    by = Counter(job.user or "somebody" for job in taken.values())
    jobs = few((job.id for job in taken.values()), _SHOWN_REASONS)
    ran = [run.index for run in sorted(sweep.accepted) if run not in taken]
    why = f"in place of {runs_in_words(lost)} ran {'job' if len(lost) == 1 else 'jobs'} {jobs}, sent by {join(by)}"
    left_out = ""
    if ran:
        why += f"\nof this one {runs_in_words(ran)} ran, or will"
        left_out = f"\nand leave out what ran of it: {runs_in_words(ran)}"
    return ConfigError(
        f"{len(lost):,} of {sweep.count:,} runs of sweep {sweep.id} do not run: another sweep of that name was sent "
        "at the same time",
        why=why,
        fix=("name this one differently: ", {"request_id": "NAME"}, left_out),
    )


def problem_of_gone(sweep: SubmittedSweep, gone: Sequence[int], again: Again) -> SlipwayError | None:
    """Return the error for runs whose end is not known, None where there are none."""
    if not gone:
        return None
    return ResourceError(
        f"{len(gone):,} of {sweep.count:,} runs of sweep {sweep.id} were sent, and their jobs are gone",
        why=f"{runs_in_words(gone)}: deleted, so how that ended is unknown",
        fix=f"once more: {again.failed}",
    )


def until_ended(context: Context, sweep: SubmittedSweep, show: EndDisplay, *, timeout: float | None) -> EndedRuns:
    """Wait until all runs have ended: those that are listed, and all that were accepted, now or before.

    Also ends the experiment runs of jobs that end in the meantime, and tells whom SLIPWAY_NOTIFY names.
    Raises WaitTimeout after `timeout` seconds (the runs go on), and CloudError after a long time without contact.
    """
    going = {run.index for run in sweep.result.accepted}
    unlisted, notifier = UnlistedRuns(context, sweep.accepted, sweep.left.gone), Notifier(context)
    claims, begun = RunClaims(context, sweep.jobs), context.clock.monotonic()
    while True:
        jobs = _look(context, sweep, unlisted, claims, show)
        for index in sorted(going & jobs.keys()):
            if jobs[index].ended and (kept := end_run(context, jobs[index])):
                show.note(kept)
        going = {index for index, job in jobs.items() if not job.ended} | unlisted.unseen(jobs) - claims.gone
        if not going:
            ended = _ended_runs(sweep, jobs, sorted(unlisted.gone | claims.gone))
            if problem := _notify(notifier, sweep, ended):
                show.note(problem)
            return ended
        age = context.clock.monotonic() - begun
        show.state(_state(sweep, jobs, context.now - timedelta(seconds=age)))
        if timeout is not None and age >= timeout:
            raise WaitTimeout(
                f"{len(going):,} of {sweep.count:,} runs of sweep {sweep.id} have not ended after {timeout:.0f} s",
                why="they go on",
                fix=f"{_listing(sweep)}     or end them: slipway jobs cancel --sweep {sweep.id}",
            )
        pause = max(look_pause(age), SECONDS_PER_CALL * (calls_of(len(jobs)) + unlisted.calls + claims.calls))
        context.clock.sleep(pause if timeout is None else min(pause, timeout - age))


def _ended_runs(sweep: SubmittedSweep, jobs: Mapping[int, VertexJob], gone: Sequence[int]) -> EndedRuns:
    taken = sweep.jobs.taken(sweep.accepted)
    left_out = {run.index for run in taken}
    ran = {index: job for index, job in sorted(jobs.items()) if index not in left_out}
    return EndedRuns(jobs=ran, gone=gone, taken=taken)


def _notify(notifier: Notifier, sweep: SubmittedSweep, ended: EndedRuns) -> str:
    """Notify of the end; return the reason when that failed, mostly nothing."""
    if not ended.jobs:
        return ""
    states = [*(job.end_state for job in ended.jobs.values()), *(GONE for _ in ended.gone)]
    again = sum(run.resend for run in sweep.accepted)
    return notifier.sweep_ended(ended.jobs[min(ended.jobs)], sweep.count, states, again)


def problem_of_runs(context: Context, sweep: SubmittedSweep, ended: EndedRuns, again: Again) -> SlipwayError | None:
    """Return the error where not all runs succeeded: for runs of another sweep in their place, else for the failed
    runs, with what their logs tell, else the gone ones, else the cancelled ones."""
    if taken := problem_of_taken(sweep, ended.taken):
        return taken
    problems = {index: problem for index, job in ended.jobs.items() if (problem := error_of_end(job))}
    failed = {index: problem.why for index, problem in problems.items() if not isinstance(problem, Cancelled)}
    lost = problem_of_gone(sweep, ended.gone, again)
    if failed:
        by_name = read_briefs(context, [ended.jobs[index] for index in failed])
        briefs = {index: brief for index in failed if (brief := by_name.get(ended.jobs[index].name))}
        lines = []
        for reason, count in Counter(failed.values()).most_common(_SHOWN_REASONS):
            first = {brief: index for index, brief in reversed(briefs.items()) if failed[index] == reason}
            lines.append(f"{count:,} × {reason}")
            lines += [
                f"  run {index}: {brief}" for brief, index in sorted(first.items(), key=itemgetter(1))[:_SHOWN_REASONS]
            ]
        reasons = "\n".join(lines)
        return ResourceError(
            f"{len(failed):,} of {len(ended.jobs):,} runs of sweep {sweep.id} did not succeed",
            why=f"{reasons}\n{lost.why}" if lost else reasons,
            fix=f"which:      {_listing(sweep)}\nonce more:  {again.failed}",
        )
    if lost or not problems:
        return lost
    return Cancelled(
        f"{len(problems):,} of {len(ended.jobs):,} runs of sweep {sweep.id} were cancelled",
        fix=f"which:     {_listing(sweep)}\nto go on:  {again.cancelled}",
    )


def counted_states(states: Iterable[str]) -> str:
    """Return `4 succeeded, 1 running`, the most frequent state first."""
    counts = Counter(map(state_word, states))
    return ", ".join(f"{count:,} {state}" for state, count in counts.most_common())


def _look(
    context: Context, sweep: SubmittedSweep, unlisted: UnlistedRuns, claims: RunClaims, show: EndDisplay
) -> dict[int, VertexJob]:
    """Return the runs as they are now; once all seem to have ended, by their claims. Retries for a while when the
    service is away."""
    contact = Contact(context.clock, context.no_contact, goes_on="the runs go on")
    while True:
        try:
            jobs = unlisted.look(sweep.jobs.latest())
            if unlisted.unseen(jobs) or any(not job.ended for job in jobs.values()):
                return jobs
            return claims.resolved(jobs)
        except TRANSIENT as problem:
            if message := contact.lost(problem):
                show.note(f"{sweep.id}  {message}")
            context.clock.sleep(_AGAIN_S)


def _state(sweep: SubmittedSweep, jobs: Mapping[int, VertexJob], begun: datetime) -> Callable[[datetime], str]:
    words = counted_states(job.end_state for job in jobs.values())
    return lambda now: f"{sweep.id}  waiting {clock((now - begun).total_seconds())}  {words}".rstrip()


def _listing(sweep: SubmittedSweep) -> str:
    return f"slipway jobs list --sweep {sweep.id}"


class UnlistedRuns:
    """Awaited runs that no list shows, yet or any more: their jobs are asked for, a few at each look."""

    def __init__(self, context: Context, accepted: Mapping[Run, str], gone: Iterable[int]) -> None:
        """Begin with the `accepted` runs: the name of the job of each run's last attempt."""
        self._context, self._accepted = context, accepted
        self._ended: dict[int, VertexJob] = {}
        #: The numbers of runs whose jobs were deleted.
        self.gone = set(gone)
        #: The number of calls of the last look.
        self.calls = 0

    def look(self, listed: Mapping[int, VertexJob]) -> dict[int, VertexJob]:
        """Return jobs by the runs' numbers: those `listed`, and those that were asked for.

        No job is asked for while a listed one goes on: all may be listed by its end. Raises CloudError.
        """
        jobs = dict(listed)
        missing = sorted(run for run in self._accepted if run.index not in self.gone and not _shown(run, listed))
        self.calls = 0
        for run in missing:
            jobs.pop(run.index, None)  # The job of an earlier attempt.
            if run.index in self._ended:
                jobs[run.index] = self._ended[run.index]
        if all(job.ended for job in jobs.values()):
            for run in [run for run in missing if run.index not in jobs][:_AT_A_LOOK]:
                self.calls += 1
                job = self._context.vertex.found(self._accepted[run])
                if job is None:
                    self.gone.add(run.index)
                    continue
                jobs[run.index] = job
                if job.ended:
                    self._ended[run.index] = job
        return {index: job for index, job in jobs.items() if index not in self.gone}

    def unseen(self, jobs: Mapping[int, VertexJob]) -> set[int]:
        return {run.index for run in self._accepted} - jobs.keys() - self.gone


def _shown(run: Run, listed: Mapping[int, VertexJob]) -> bool:
    """Tell whether a run's job, or that of a later attempt, is listed; a list may have an earlier attempt's alone."""
    job = listed.get(run.index)
    seen = Run.of(job) if job else None
    return seen is not None and seen >= run
