"""The report on a journey: a table and a few lines. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from slipway.model.prices import UNKNOWN_PRICE, Price, spent

from .play import Run


def table(runs: Sequence[Run]) -> list[str]:
    """Return a line for each run under a heading: create → start, run time, cost, and the measured value, if any."""
    rows = [
        ("RUN", "JOB", "CREATE → START", "RUN TIME", "MACHINE COST", "MEASURED" if any(map(measured, runs)) else "")
    ]
    for run in runs:
        rows.append(
            (
                run.label,
                run.job.display_name,
                seconds(started_after(run)),
                seconds(run.account.run),
                cents(run.account.cost),
                measured(run),
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def measured(run: Run) -> str:
    """Return the accuracy, else the first value that the run's code measured; empty where it measured nothing."""
    known = {key: value for key, value in run.metrics.items() if key == "accuracy"} or run.metrics
    return "".join(f"{key} {value:.3f}" for key, value in list(known.items())[:1])


def gain(first: Run, second: Run, where: str) -> str:
    """Return the time that the warm pool saved, as a figure: create → start of the second run against the first's."""
    cold, warm = started_after(first), started_after(second)
    if cold is None or warm is None:
        return "create → start of the two runs can't be compared: the service told no start"
    if warm >= cold:
        return f"the second run did not start sooner ({seconds(warm)} after {seconds(cold)}): {where}"
    times = f" ({cold / warm:.1f} times as fast a start)" if warm > 0 else ""
    return f"the second run started {seconds(cold - warm)} sooner{times}, as the image was cached; {where}"


def started_after(run: Run) -> float | None:
    """Return the seconds from create to start, None for a job that ended before it started."""
    return run.account.wait if run.job.start_time else None


def seconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f} s"


def cents(value: Price | None) -> str:
    return UNKNOWN_PRICE if value is None else spent(value)
