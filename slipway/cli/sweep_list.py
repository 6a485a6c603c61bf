"""The runs of a sweep in a list: with which values each one runs, and how many are where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from slipway.catalog.model import Scalar
from slipway.cli import screen
from slipway.cli.context import Context
from slipway.cli.ending import typed
from slipway.cloud.resources import CustomJob
from slipway.jobs.waiting import state_word
from slipway.labels import RUN_LABEL
from slipway.submission.parameters import render

MOST = 100
"""Runs whose requests are read for their values, one call each; of a longer list none are."""

Values = dict[str, Scalar]


def values_of(context: Context, runs: Sequence[CustomJob]) -> list[Values] | None:
    """The parameters of each run, as far as its request tells them; None where there are too many runs to ask for."""
    if len(runs) > MOST:
        screen.note(f"the values of each run are shown with --limit {MOST}, or less")
        return None
    with ThreadPoolExecutor(8, thread_name_prefix="sweep") as threads:
        found = list(threads.map(lambda run: typed(context, run), runs))
    return [{} if one is None else dict(one.values) for one in found]


def apart(values: Sequence[Values]) -> list[str]:
    """What tells each run from the others: `trees=100, seed=3`; all of its values where the runs are alike."""
    seen: dict[str, set[str]] = {}
    for one in values:
        for name, value in one.items():
            seen.setdefault(name, set()).add(render(value))
    differing = [name for name, texts in seen.items() if len(texts) > 1] or list(seen)
    return [
        ", ".join(f"{name}={screen.short(render(one[name]))}" for name in differing if name in one) or "–"
        for one in values
    ]


def tally(runs: Sequence[CustomJob]) -> str:
    """`6 runs listed: 4 succeeded, 1 running, 1 failed`, and what to do about those that failed.

    `runs` are in order: of one that was sent more than once the last job counts.
    """
    last = {label.partition("-")[0] or run.name: run for run in runs for label in [run.labels.get(RUN_LABEL, "")]}
    counts = Counter(state_word(run.state) for run in last.values())
    words = ", ".join(f"{count:,} {state}" for state, count in counts.most_common())
    repeated = f"; {sent_once_more(len(runs) - len(last))}" if len(runs) > len(last) else ""
    lost = counts["failed"] + counts["expired"]
    again = "\n  what failed, once more: the sweep's command with --retry-failed" if lost else ""
    return f"{len(last):,} run{'' if len(last) == 1 else 's'} listed: {words}{repeated}{again}"


def sent_once_more(count: int) -> str:
    return f"{count:,} had failed and {'was' if count == 1 else 'were'} sent once more"
