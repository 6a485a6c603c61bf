"""Errors as a call of Python and as the command tell them."""

from slipway.cli import _flags
from slipway.errors import AnswerUnknown, ConfigError


def test_arguments_are_spelled_as_they_were_given() -> None:
    error = ConfigError("no", fix=("take ", {"template": "hello", "kind": "custom-job", "wait_for": {"spot": "1 h"}}))
    assert error.fix == "take template='hello', kind='custom-job', wait_for={'spot': '1 h'}"
    error.spell(_flags)
    assert error.fix.endswith("hello --as custom-job --wait-for 'spot=1 h'")


def test_a_fix_without_arguments_stays_as_it_is() -> None:
    for error in (ConfigError("no", fix="slipway templates"), AnswerUnknown("lost", risk="it may run twice")):
        if isinstance(error, AnswerUnknown):
            error.to_go_on("again")
        fix = error.fix
        error.spell(_flags)
        assert error.fix == fix != ""


def test_no_line_is_without_end_but_a_fix_to_copy() -> None:
    lines = str(ConfigError("a" * 9000, why=f"{'b' * 9000}\nand more", fix="c" * 9000)).splitlines()
    assert [len(line) for line in lines[:2]] == [2001, len("  why: ") + 2001]
    assert lines[2:] == ["       and more", f"  fix: {'c' * 9000}"]


def test_what_would_act_on_a_terminal_is_told_as_its_number() -> None:
    """Also by `pulumi up`, which shows the text as it is."""
    told = str(ConfigError("\x1b[2Jno", why="a\u202eb\r\n\tc", fix="d\x9b"))
    assert told.splitlines() == ["\\x1b[2Jno", "  why: a\\u202eb\\r", "       \tc", "  fix: d\\x9b"]
