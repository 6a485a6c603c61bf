"""The trials of a tuning job as a table, the best one marked."""

from __future__ import annotations

from slipway.cli import screen
from slipway.cloud.resources import CustomJob
from slipway.cloud.trials import best


def show_trials(job: CustomJob) -> None:
    """A line a trial: its state, what it tried, what came of it. Conditional parameters stand where they are set."""
    names = list(dict.fromkeys(name for trial in job.tried for name in trial.values))
    chosen = best(job.tried, job.goals)
    rows = [
        (
            f"{trial.id}{' ★' if trial is chosen else ''}",
            trial.state.lower(),
            *(trial.values.get(name, "–") for name in names),
            *(f"{trial.metrics[goal]:.4g}" if goal in trial.metrics else "–" for goal in job.goals),
        )
        for trial in job.tried
    ]
    screen.table(("TRIAL", "STATE", *names, *job.goals), rows, right=tuple(job.goals))
