"""What goes to the terminal acts on it nowhere."""

import json

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.base.errors import SlipwayError
from slipway.front.cli.terminal import screen

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


def test_json_is_the_same_value_and_acts_on_no_terminal() -> None:
    body = {"a": f"{TITLE}\x7f\x9b\u202e\u2028", "é": "läuft 🚀\n"}
    text = screen.json_text(body, indent=2)
    assert json.loads(text) == body and "läuft 🚀" in text
    assert not set(text) & set("\x1b\a\x7f\x9b\u202e\u2028")


def test_what_is_done_is_said_where_the_rest_can_not_be_written() -> None:
    with pytest.raises(SlipwayError, match="job a was sent") as error, screen.after("job a was sent", "look"):
        raise OSError(28, "No space left on device")
    assert error.value.why.endswith("no space left on device") and error.value.fix == "look"


def test_lines_are_as_long_as_they_are_where_there_is_no_terminal(
    snapshot: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import sys

    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    screen.table(("TEMPLATE", "SUMMARY"), [("dask-digits", "Trains a forest")], wraps=("SUMMARY",))
    screen.fields([("output", "gs://work/jobs/dask")])
    assert capsys.readouterr().out == (snapshot)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "dumb")
    screen.table(("TEMPLATE", "SUMMARY"), [("dask-digits", "Trains a forest")], wraps=("SUMMARY",))
    screen.prose("a forest, a tree and a leaf")
    assert capsys.readouterr().out == (snapshot)
