"""What came of a sweep: the lines and the document of its sending, waiting for its runs, and the exit code's error."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from slipway.cli.terminal import screen
from slipway.cli.terminal.watching import Detached, WatchDisplay, display
from slipway.cloud.jobs import VertexJob
from slipway.context import Context
from slipway.errors import AnswerUnknown, Cancelled, ResourceError, SlipwayError, Timeout
from slipway.formatting import clock
from slipway.jobs.follower import TRANSIENT, Polling
from slipway.jobs.waiting import state_word
from slipway.labels import RUN_LABEL
from slipway.submission.ending import error_of_end
from slipway.submission.experiment_run import end_run
from slipway.sweeps.runs import FAILED, latest
from slipway.sweeps.sweep_sender import SECONDS_PER_CALL
from slipway.sweeps.sweep_submitter import SubmittedSweep, calls_of

_SHOWN_REASONS = 5
_POLLING = Polling()


def closing(sweep: SubmittedSweep, again: str) -> list[str]:
    """`again` is the command that resumes it."""
    result, left = sweep.result, sweep.left
    accepted = len(result.accepted)
    lines = [f"sweep {sweep.id}: {accepted:,} submitted now, {left.done:,} before, of {sweep.count:,}"]
    if repeated := left.repeated + sum(run.resend > 0 for run in result.accepted):
        lines.append(f"  of those {_sent_once_more(repeated)}")
    if left.failed:
        has = "has" if left.failed == 1 else "have"
        lines.append(f"  of those {left.failed:,} {has} failed; once more: {again} --retry-failed")
    return lines


def document(sweep: SubmittedSweep, ended: Mapping[int, VertexJob] | None = None) -> dict[str, Any]:
    """`ended`: each run's job, for who has waited; `states` is null without."""
    result, left = sweep.result, sweep.left
    return {
        "sweep": sweep.id,
        "count": sweep.count,
        "before": left.done,
        "failed": left.failed,
        "repeated": left.repeated,
        "accepted": [
            {"run": run.index, "attempt": run.resend, "requestId": run.request_id(sweep.id), "job": job}
            for run, job in sorted(result.accepted.items())
        ],
        "refused": [{"run": run.index, "why": result.refused[run].message} for run in sorted(result.refused)],
        "unknown": [run.index for run in result.unknown],
        "states": None if ended is None else [{"run": index, "state": job.state} for index, job in ended.items()],
    }


def problem_of_sending(sweep: SubmittedSweep, again: str) -> SlipwayError | None:
    """Why not all runs were accepted; None when they were."""
    result = sweep.result
    if result.interrupted:
        return Detached(
            f"stopped sending sweep {sweep.id}; what was accepted goes on",
            fix=f"the same command goes on: {again}",
        )
    if result.stopped is not None:
        screen.note(f"stopped; what was accepted goes on, and the same command sends the rest: {again}")
        return result.stopped
    if result.unknown:
        return AnswerUnknown(
            f"whether {len(result.unknown):,} runs of sweep {sweep.id} were accepted is unknown",
            why="their answers were lost, and no list shows their jobs",
            fix=f"to see:         slipway jobs list --sweep {sweep.id}\nto look again:  {again}\n"
            f"to send them:   {again} --retry-failed   (a job that shows up late would run as well)",
        )
    if result.refused:
        return ResourceError(
            f"{len(result.refused):,} runs of sweep {sweep.id} were refused",
            why=_reasons(problem.message for problem in result.refused.values()),
            fix=f"once that is corrected, the same command sends them: {again}",
        )
    return None


def until_ended(context: Context, sweep: SubmittedSweep, *, timeout: float | None, quiet: bool) -> dict[int, VertexJob]:
    """Each run's job by run, once all have ended: those that are listed, and those just sent that will be.

    Ends the experiment runs of those that end in the meantime. Raises Timeout after `timeout` seconds, Detached on
    Ctrl-C (the runs go on in both cases), and CloudError when there has been no contact for long.
    """
    unseen, going = {run.index for run in sweep.result.accepted}, set[int]()
    begun = context.clock.monotonic()
    try:
        with display(context, quiet) as show:
            while True:
                jobs = _look(context, sweep, show)
                for index in sorted((going | unseen) & jobs.keys()):
                    if jobs[index].ended and (kept := end_run(context, jobs[index])):
                        show.note(kept)
                going = {index for index, job in jobs.items() if not job.ended}
                unseen -= jobs.keys()
                if not going and not unseen:
                    break
                age = context.clock.monotonic() - begun
                show.state(_state(sweep, jobs, context.clock.now() - timedelta(seconds=age)))
                if timeout is not None and age >= timeout:
                    raise _late(sweep, len(going | unseen), timeout)
                pause = max(_POLLING.state(age), SECONDS_PER_CALL * calls_of(len(jobs)))
                context.clock.sleep(pause if timeout is None else min(pause, timeout - age))
    except KeyboardInterrupt:
        raise Detached(
            f"stopped waiting; the runs of sweep {sweep.id} go on",
            fix=f"come back with: slipway jobs list --sweep {sweep.id}",
        ) from None
    screen.note(tally(list(jobs.values())))
    return dict(sorted(jobs.items()))


def problem_of_runs(sweep: SubmittedSweep, ended: Mapping[int, VertexJob], again: str) -> SlipwayError | None:
    """The error that is to be told when not all runs succeeded: of those that failed, else of those cancelled."""
    problems = [problem for job in ended.values() if (problem := error_of_end(job))]
    failed = [problem for problem in problems if not isinstance(problem, Cancelled)]
    listing = f"slipway jobs list --sweep {sweep.id}"
    if failed:
        return ResourceError(
            f"{len(failed):,} of {len(ended):,} runs of sweep {sweep.id} did not succeed",
            why=_reasons(problem.why for problem in failed),
            fix=f"which:      {listing}\nonce more:  {again} --retry-failed",
        )
    if problems:
        return Cancelled(f"{len(problems):,} of {len(ended):,} runs of sweep {sweep.id} were cancelled", fix=listing)
    return None


def _look(context: Context, sweep: SubmittedSweep, show: WatchDisplay) -> dict[int, VertexJob]:
    """The runs as they are listed now. Tries on for a while when the service is away."""
    began, told = context.clock.monotonic(), False
    while True:
        try:
            return latest(sweep.listed())
        except TRANSIENT as problem:
            if context.clock.monotonic() - began > _POLLING.gives_up:
                raise
            if not told:
                show.note(f"{sweep.id}  no contact ({problem.message}); still trying")
            told = True
            context.clock.sleep(_POLLING.state_steady)


def _state(sweep: SubmittedSweep, jobs: Mapping[int, VertexJob], begun: datetime) -> Callable[[datetime], str]:
    words = _counted(job.state for job in jobs.values())
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


def tally(runs: Sequence[VertexJob]) -> str:
    """`6 runs listed: 4 succeeded, 1 running, 1 failed`, and what to do about those that failed.

    `runs` are in order: of one that was sent more than once the last job counts.
    """
    last = {label.partition("-")[0] or run.name: run for run in runs for label in [run.labels.get(RUN_LABEL, "")]}
    states = [run.state for run in last.values()]
    repeated = f"; {_sent_once_more(len(runs) - len(last))}" if len(runs) > len(last) else ""
    again = "" if FAILED.isdisjoint(states) else "\n  what failed, once more: the sweep's command with --retry-failed"
    return f"{len(last):,} run{'' if len(last) == 1 else 's'} listed: {_counted(states)}{repeated}{again}"


def _counted(states: Iterable[str]) -> str:
    """`4 succeeded, 1 running`, the most frequent first."""
    counts = Counter(map(state_word, states))
    return ", ".join(f"{count:,} {state}" for state, count in counts.most_common())


def _sent_once_more(count: int) -> str:
    return f"{count:,} had failed and {'was' if count == 1 else 'were'} sent once more"
