"""Output shown anew: what is drawn, what stays behind, and where there is no screen. # Z5"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from slipway.base.errors import ConfigError, ResourceError
from slipway.front.cli.terminal import frames, screen
from slipway.using.context import Clock

NOW = datetime(2026, 11, 24, 15, 20, tzinfo=UTC)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("LINES", "10")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return Terminal()


def clock(looks: int) -> Clock:
    """Ends as Ctrl-C does, after so many looks."""
    left = iter(range(looks - 1))

    def sleep(seconds: float) -> None:
        if next(left, None) is None:
            raise KeyboardInterrupt

    return Clock(lambda: NOW, lambda: 0.0, sleep)


def watched(look: Callable[[], None], looks: int, terminal: Terminal) -> None:
    with contextlib.redirect_stdout(terminal):
        frames.watched(look, clock(looks))


def test_each_look_is_drawn_and_the_last_one_stays(terminal: Terminal) -> None:
    numbers = iter(range(10))

    def look() -> None:
        screen.out(f"look {next(numbers)}")
        screen.note("beside it")

    watched(look, 3, terminal)
    drawn = terminal.getvalue().split("\x1b[H")[1:]
    assert [text.split("\x1b[K")[0] for text in drawn] == ["look 0", "look 1", "look 2"]
    assert all("beside it" in text and "15:20:00 UTC, every 5 s" in text for text in drawn)
    assert terminal.getvalue().endswith("\x1b[?1049llook 2\nbeside it\n")


def test_a_look_that_fails_is_said_beside_what_was_seen_before(terminal: Terminal) -> None:
    seen = iter([None, ResourceError("no answer from aiplatform", fix="try again"), None])

    def look() -> None:
        if problem := next(seen):
            raise problem
        screen.out("3 pools")

    watched(look, 3, terminal)
    second = terminal.getvalue().split("\x1b[H")[2]
    assert "3 pools" in second and "not read anew: no answer from aiplatform" in second
    assert "not read anew" not in terminal.getvalue().split("\x1b[H")[3]


def test_a_first_look_that_fails_is_an_error_and_no_screen_is_taken(terminal: Terminal) -> None:
    def look() -> None:
        raise ResourceError("denied", fix="log in")

    with pytest.raises(ResourceError):
        watched(look, 1, terminal)
    assert terminal.getvalue() == ""


def test_what_has_no_room_is_counted(terminal: Terminal) -> None:
    watched(lambda: screen.out("\n".join(f"row {number}" for number in range(30))), 1, terminal)
    drawn = terminal.getvalue().split("\x1b[?1049l")[0]
    assert "row 6" in drawn and "row 7" not in drawn and "… 23 more lines" in drawn
    assert "row 29" in terminal.getvalue().split("\x1b[?1049l")[1]


def test_nothing_of_what_is_read_acts_on_the_terminal(terminal: Terminal) -> None:
    watched(lambda: screen.out("job \x1b[2Jevil"), 1, terminal)
    assert "\x1b[2J" not in terminal.getvalue() and "\\x1b[2Jevil" in terminal.getvalue()


@pytest.mark.parametrize("output", ["table", "json"])
def test_without_a_screen_it_is_refused(output: str) -> None:
    stdout = io.StringIO() if output == "table" else Terminal()
    with contextlib.redirect_stdout(stdout), pytest.raises(ConfigError) as refused:
        frames.watched(lambda: None, clock(1), output)
    assert refused.value.fix == "leave out --watch"
