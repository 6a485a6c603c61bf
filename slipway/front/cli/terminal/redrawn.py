"""Lines redrawn on a terminal: the state below a log that scrolls, and the bars of a sweep and of a download."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial

from rich.console import Console
from rich.live import Live
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.text import Text

from slipway.front.cli.terminal import screen
from slipway.using.context import Clock

_MOST_BARS = 4


class LiveDisplay:
    """A line as a function of the time: its clock runs between two looks at the service."""

    def __init__(self, console: Console, clock: Clock) -> None:
        self._console, self._clock = console, clock
        self._text: Callable[[datetime], str] = lambda now: ""
        self._bars: Sequence[str] = ()

    def __rich__(self) -> Text:
        state = Text(screen.visible(self._text(self._clock.now())), style="bold", no_wrap=True, overflow="ellipsis")
        bars = [Text.from_ansi(screen.visible_log(bar)) for bar in self._bars]
        return Text("\n", no_wrap=True, overflow="ellipsis").join([*bars, state])

    def move(self, bars: Sequence[str]) -> None:
        """Show the states of progress bars above the line, the newest of them."""
        self._bars = bars[-_MOST_BARS:]

    def state(self, text: Callable[[datetime], str]) -> None:
        self._text = text

    def line(self, text: str) -> None:
        self._console.print(Text.from_ansi(screen.visible_log(text)))

    def note(self, text: str) -> None:
        self._console.print(Text(screen.visible(text), style="dim"))


@contextmanager
def live(clock: Clock) -> Iterator[LiveDisplay]:
    console = Console(file=sys.stdout)
    show = LiveDisplay(console, clock)
    with Live(show, console=console, refresh_per_second=4, transient=True):
        yield show


@contextmanager
def _bar(total: int | None, *columns: ProgressColumn, done: int = 0) -> Iterator[Callable[..., None]]:
    """Yield a callback for `completed`, `total` and the bar's `words`. On stderr: stdout is for results."""
    every = (BarColumn(), *columns, TimeRemainingColumn(), TextColumn("{task.fields[words]}"))
    with Progress(*every, console=Console(file=sys.stderr), transient=True, refresh_per_second=5) as shown:
        yield partial(shown.update, shown.add_task("", total=total, completed=done, words=""))


@contextmanager
def transfer() -> Iterator[Callable[[int, int, int], None]]:
    """Yield a callback for the number of files, the bytes that have come, and the bytes in all."""
    with _bar(None, DownloadColumn(), TransferSpeedColumn()) as show:
        yield lambda files, now, total: show(completed=now, total=total, words=f"{files:,} files there")


@contextmanager
def bar(total: int, done: int) -> Iterator[Callable[[int, str], None]]:
    """Yield a callback for the number of completed ones, and the words beside it."""
    with _bar(total, MofNCompleteColumn(), done=done) as show:
        yield lambda now, words: show(completed=now, words=words)
