"""A command's output, repeated every few seconds on one screen of the terminal, until Ctrl-C.

The screen is the terminal's second one, as a pager has it: at the end the former screen comes back, with the last
output below it.
"""

from __future__ import annotations

import contextlib
import io
import shutil
import sys
from collections.abc import Callable
from typing import TextIO

import click

from slipway.base.errors import ConfigError, SlipwayError
from slipway.front.cli.terminal import screen
from slipway.using.context import Clock

EVERY_S = 5.0
_ENTER, _LEAVE = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
_HOME, _END_OF_LINE, _BELOW = "\x1b[H", "\x1b[K\n", "\x1b[J"

watch_option = click.option("--watch", is_flag=True, help=f"Show it anew every {EVERY_S:.0f} seconds, until Ctrl-C.")


def watched(look: Callable[[], None], clock: Clock, output: str = "table") -> None:
    """Call `look`, which reads and prints, again and again. A failure is shown beside the last output. Raises
    ConfigError where there is no terminal, and any error of the first look."""
    if output != "table" or not sys.stdout.isatty() or not screen.coloured(sys.stdout):
        why = "stdout is no terminal" if output == "table" else f"--output {output} is one document"
        raise ConfigError("--watch can't redraw here", why=why, fix="leave out --watch")
    terminal = sys.stdout
    shown = _printed(look)
    terminal.write(_ENTER)
    try:
        trouble = ""
        while True:
            end = f"{trouble}{clock.now():%H:%M:%S} UTC, every {EVERY_S:.0f} s; Ctrl-C ends it"
            _draw(shown, end, terminal)
            clock.sleep(EVERY_S)
            try:
                shown, trouble = _printed(look), ""
            except SlipwayError as problem:
                trouble = f"not read anew: {problem.what}; "
    except KeyboardInterrupt:
        pass
    finally:
        terminal.write(_LEAVE)
        terminal.write(shown)
        terminal.flush()


class _Frame(io.StringIO):
    """A text that takes the output for a terminal."""

    def isatty(self) -> bool:
        return True


def _printed(look: Callable[[], None]) -> str:
    frame = _Frame()
    with contextlib.redirect_stdout(frame), contextlib.redirect_stderr(frame):
        look()
    return frame.getvalue()


def _draw(text: str, end: str, terminal: TextIO) -> None:
    """Draw as many lines as there is room for, each over the former one."""
    size = shutil.get_terminal_size()
    lines = text.splitlines()
    # Three lines stay free: for the count of lines that are left out, an empty line, and the footer.
    room = size.lines - 3
    shown: list[str] = []
    for line in lines:
        # A long line takes several lines of the terminal: its length divided by the width, rounded up.
        room -= max(1, -(-len(click.unstyle(line)) // size.columns))
        if room < 0:
            shown.append(f"… {len(lines) - len(shown)} more lines")
            break
        shown.append(line)
    footer = _printed(lambda: screen.hint(end[: size.columns])).rstrip("\n")
    terminal.write(f"{_HOME}{_END_OF_LINE.join([*shown, '', footer])}{_BELOW}")
    terminal.flush()
