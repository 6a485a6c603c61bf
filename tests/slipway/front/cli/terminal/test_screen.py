"""What goes to the terminal acts on it nowhere."""

import contextlib
import io
import json
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from slipway.base.errors import ResourceError, SlipwayError
from slipway.base.standard_output import OutputError
from slipway.front.cli.terminal import frames, screen
from slipway.using.context import Clock

TITLE = "\x1b]0;evil\a"


def test_what_would_act_on_a_terminal_is_shown_as_its_number(capsys: pytest.CaptureFixture[str]) -> None:
    hostile = f"a{TITLE}\r\x9b2J\x7f\u202eb\tc\nd"
    said = "a\\x1b]0;evil\\x07\\r\\x9b2J\\x7f\\u202eb\tc\nd"
    screen.out(hostile)
    screen.note(hostile)
    screen.out_log(hostile)
    assert capsys.readouterr() == (f"{said}\n{said}\n", f"{said}\n")
    screen.table(("HEAD",), [(TITLE,)])
    assert "\x1b" not in capsys.readouterr().out


def test_our_own_colours_and_those_of_a_log_stay(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    import sys

    ours = "".join(screen.styled("no", sys.stdout, **style) for style in ({"fg": "red"}, {"bold": True}, {"dim": True}))
    screen.out(ours)
    screen.out_log("\x1b[38;5;1mred\x1b[0m\x1b[2J")
    screen.out("\x1b[8mhidden")
    styles = "\x1b[31mno\x1b[0m\x1b[1mno\x1b[0m\x1b[2mno\x1b[0m"
    assert capsys.readouterr().out == f"{styles}\n\x1b[38;5;1mred\x1b[0m\\x1b[2J\n\\x1b[8mhidden\n"


@pytest.mark.parametrize("style", ["\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m"])
def test_no_text_from_elsewhere_has_a_style_of_ours(
    style: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    import sys

    shown = style.replace("\x1b", "\\x1b")
    screen.out(f"{screen.styled(f'a{style}', sys.stdout, bold=True)} {style}b")
    screen.note(f"{style}error")
    assert capsys.readouterr() == (f"\x1b[1ma{shown}\x1b[0m {shown}b\n", f"{shown}error\n")
    screen.table((style,), [(style,)])
    assert style not in capsys.readouterr().out.replace("\x1b[1m", "", 1).replace("\x1b[0m", "", 1)


def test_a_text_is_cut_on_a_terminal_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"python  train.py\n{'x' * 100}"
    assert screen.brief(text) == f"python train.py {'x' * 100}"
    monkeypatch.setattr(screen, "columns", lambda: 80)
    assert screen.brief(text) == f"python train.py {'x' * 44}…"


def test_json_is_the_same_value_and_acts_on_no_terminal() -> None:
    body = {"a": f"{TITLE}\x7f\x9b\u202e\u2028", "é": "läuft 🚀\n"}
    text = screen.json_text(body, indent=2)
    assert json.loads(text) == body and "läuft 🚀" in text
    assert not set(text) & set("\x1b\a\x7f\x9b\u202e\u2028")


def test_what_is_done_is_said_where_the_rest_can_not_be_written() -> None:
    with pytest.raises(OutputError), screen.after("job a was sent", "look"):
        raise OutputError(BrokenPipeError(32, "Broken pipe"))  # `| head -1` ended with 1, as if that had failed.
    with pytest.raises(SlipwayError, match="job a was sent") as error, screen.after("job a was sent", "look"):
        raise OSError(28, "No space left on device")
    assert error.value.why.endswith("no space left on device") and error.value.fix == "look"


# Output shown anew: what is drawn, what stays behind. # Z5


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
