"""The outcome of a sweep on the terminal: lines and document of its sending, and waiting for its runs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from slipway.base.errors import SlipwayError
from slipway.base.formatting import counted
from slipway.front.cli.terminal import screen
from slipway.front.cli.terminal.watching import Detached, display
from slipway.google.jobs import FAILED, VertexJob
from slipway.model.prices import price_text
from slipway.using.context import Context
from slipway.using.sweeps.forecast import Forecast
from slipway.using.sweeps.runs import Run, latest
from slipway.using.sweeps.sweep_end import Again, EndedRuns, counted_states, problem_of_sending, until_ended
from slipway.using.sweeps.sweep_submitter import SubmittedSweep


def closing(sweep: SubmittedSweep, again: Again) -> list[str]:
    result, left = sweep.result, sweep.left
    accepted = len(result.accepted)
    lines = [f"sweep {sweep.id}: {accepted:,} submitted now, {left.done:,} before, of {sweep.count:,}"]
    if repeated := left.repeated + sum(run.resend > 0 for run in result.accepted):
        lines.append(f"  sent once more: {repeated:,}")
    if left.failed:
        lines.append(f"  failed: {left.failed:,}; once more: {again.failed}")
    if left.cancelled:
        lines.append(f"  cancelled: {left.cancelled:,}; to go on with them: {again.cancelled}")
    return lines


def document(sweep: SubmittedSweep, taken: Collection[Run] = (), ended: EndedRuns | None = None) -> dict[str, Any]:
    """Return the JSON document. `taken`: the runs in whose place those of another sweep run; `ended`: the runs after a
    wait, without which `states` is null."""
    result, left = sweep.result, sweep.left
    return {
        "sweep": sweep.id,
        "count": sweep.count,
        "before": left.done,
        "failed": left.failed,
        "cancelled": left.cancelled,
        "repeated": left.repeated,
        "accepted": [
            {"run": run.index, "attempt": run.resend, "requestId": run.request_id(sweep.id), "job": job}
            for run, job in sorted(result.accepted.items())
        ],
        "refused": [{"run": run.index, "why": result.refused[run].message} for run in sorted(result.refused)],
        "unknown": [run.index for run in result.unknown],
        "gone": list(ended.gone if ended else left.gone),
        "taken": [run.index for run in taken],
        "forecast": forecast_document(sweep.forecast),
        "states": ended and [{"run": index, "state": job.job_state} for index, job in ended.jobs.items()],
    }


def forecast_document(forecast: Forecast | None) -> dict[str, Any] | None:
    """Return seconds and USD, null for unknown ones; None where nothing is sent."""
    if forecast is None:
        return None
    most = forecast.most_cost
    return {
        "runs": forecast.runs,
        "earlierRuns": forecast.earlier,
        "seconds": {"least": forecast.least_seconds, "most": forecast.most_seconds},
        "usd": {
            "least": price_text(forecast.least_cost),
            "most": price_text(most),
            "bound": price_text(forecast.bound),
        },
        "usdComplete": bool(most and most.complete),
        "paidAnyway": all(share.on_pool for share in forecast.shares),
    }


def trouble_in_sending(sweep: SubmittedSweep, again: Again) -> SlipwayError | None:
    """Return why not all runs were accepted; None when they were."""
    if sweep.result.interrupted:
        fix = f"the same command goes on: {again.same}"
        return Detached(f"stopped sending sweep {sweep.id}; what was accepted goes on", fix=fix)
    if sweep.result.stopped is not None:
        screen.note(f"stopped; what was accepted goes on, and the same command sends the rest: {again.same}")
    return problem_of_sending(sweep, again)


def watched(context: Context, sweep: SubmittedSweep, *, timeout: float | None, quiet: bool) -> EndedRuns:
    """Return the runs once all have ended. Raises the errors of `until_ended`, and Detached on Ctrl-C."""
    try:
        with display(context, quiet) as show:
            ended = until_ended(context, sweep, show, timeout=timeout)
    except KeyboardInterrupt:
        fix = f"come back with: slipway jobs list --sweep {sweep.id}"
        raise Detached(f"stopped waiting; the runs of sweep {sweep.id} go on", fix=fix) from None
    screen.note(tally(list(ended.jobs.values())))
    return ended


def tally(jobs: Sequence[VertexJob], aside: Collection[str] = ()) -> str:
    """Return the counts of runs by state, and what to do about failed and cancelled ones. The last job of a run counts,
    and none of those `aside`: copies of others, by their names."""
    alone = [job for job in jobs if job.name not in aside]
    last = latest(alone)
    earlier = sum(last[run.index] is not job for job in alone if (run := Run.of(job)))
    states = [*(job.end_state for job in last.values()), *(job.end_state for job in alone if Run.of(job) is None)]
    notes = [counted_states(states)]
    if earlier:
        notes.append(f"sent once more: {earlier:,}")
    if aside:
        notes.append(f"stood aside as copies: {len(aside):,}")
    lines = [f"{counted(f'{len(states):,}', 'run')} listed: {'; '.join(notes)}"]
    if not FAILED.isdisjoint(states):
        lines.append("  what failed, once more: the sweep's command with --retry-failed")
    if "JOB_STATE_CANCELLED" in states:
        lines.append("  to go on with what was cancelled: the sweep's command with --retry-cancelled")
    return "\n".join(lines)
