"""What the README shows is compared with what a reader sees. (D8)

The two commands and all that it tells to type after the demo are typed by tests/end_to_end/test_demo.py.
"""

from __future__ import annotations

from pathlib import Path

from .console import Typed, commands, missing, normal

README = Path(__file__).resolve().parents[2] / "README.md"


def test_the_two_commands_are_told_first() -> None:
    told = [typed.command for typed in commands(README)]
    assert [command for command in told if command.startswith("make")] == ["make demo", "make test"]


def test_numbers_and_names_may_differ_and_words_may_not() -> None:
    shown = Typed("slipway pools", ("cpu  head  0 / 1 / 1   2 s", "…", "done"))
    assert missing(shown.shown, "cpu head 1 / 1 / 3 14 min\nmore\ndone\n") == []
    assert missing(shown.shown, "cpu tail 1 / 1 / 3 14 min\ndone\n") != []
    assert missing(shown.shown, "done\ncpu head 1 / 1 / 3 14 min\n") == ["done"]
    assert normal("dask-digits-lxyht5gh  waited 9.4 s") == "dask-digits-JOB waited N"
