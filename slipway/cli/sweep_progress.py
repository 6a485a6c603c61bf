"""How a sweep's sending is shown: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from slipway.cli import screen
from slipway.sweep.sweep_sender import SendingProgress
from slipway.timing import Clock

_LINE_EVERY = 15.0


@contextmanager
def shown(clock: Clock, progress: SendingProgress, *, plain: bool) -> Iterator[Callable[[SendingProgress], None]]:
    """Takes the progress after every change. SendingProgress goes to stderr, results alone to stdout."""
    if plain or not screen.coloured(sys.stderr):
        yield _lines(clock)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.fields[words]}"))
    with Bar(*columns, console=Console(file=sys.stderr), transient=True, refresh_per_second=5) as bar:
        task = bar.add_task("", total=progress.total, completed=progress.done, words="")

        def tell(now: SendingProgress) -> None:
            bar.update(task, completed=now.done, words=words(now))

        yield tell


def words(progress: SendingProgress) -> str:
    """What there is beside the number: `2 looked for, 1 refused`."""
    facts = (
        (progress.missed, "looked for, as their answers were lost"),
        (progress.refused, "refused"),
        (progress.limited, "times over the rate, sent again"),
    )
    return ", ".join(f"{count:,} {what}" for count, what in facts if count)


def _lines(clock: Clock) -> Callable[[SendingProgress], None]:
    last = clock.monotonic()

    def tell(now: SendingProgress) -> None:
        nonlocal last
        if clock.monotonic() - last < _LINE_EVERY:
            return
        last = clock.monotonic()
        rest = words(now)
        screen.note(f"{now.done:,} of {now.total:,} submitted{f'; {rest}' if rest else ''}")

    return tell
