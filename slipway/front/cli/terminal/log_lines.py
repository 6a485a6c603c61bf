"""Lines of a log on their way to the terminal: a progress bar is one line, which moves until it is whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from slipway.google.jobs import VertexJob
from slipway.google.logging import LogEntry
from slipway.using.jobs.severity import is_bar


class LogLines:
    """Writes each line; of a bar the last state, once its writer writes something else."""

    def __init__(
        self,
        write: Callable[[str], None],
        text: Callable[[LogEntry, VertexJob], str],
        move: Callable[[Sequence[str]], None] = lambda _: None,
        *,
        every: bool = False,
    ) -> None:
        """`text` makes the line of an entry, `move` shows the present states of bars. `every`: each state is a line, as
        for a program that reads them."""
        self._write, self._text, self._move, self._every = write, text, move, every
        self._bars: dict[str, str] = {}

    def add(self, entry: LogEntry, job: VertexJob) -> None:
        text, writer = self._text(entry, job), f"{entry.job}/{entry.task}"
        if is_bar(entry) and not self._every:
            self._bars[writer] = text
            self._move([*self._bars.values()])
            return
        if writer in self._bars:
            self._write(self._bars.pop(writer))
            self._move([*self._bars.values()])
        self._write(text)

    def close(self) -> None:
        for text in self._bars.values():
            self._write(text)
        self._bars = {}
        self._move([])
