"""What the README shows is compared with what a reader sees. (D8)

The two commands and all that it tells to type after the demo are typed by tests/end_to_end/test_demo.py.
"""

from __future__ import annotations

import re
from pathlib import Path

from .console import Typed, commands, missing, normal
from .test_runbook import anchors

README = Path(__file__).resolve().parents[2] / "README.md"


def test_the_two_commands_are_told_first() -> None:
    told = [typed.command for typed in commands(README)]
    assert [command for command in told if command.startswith("make")] == ["make demo", "make test"]


def test_a_newcomer_finds_their_page_first_and_reads_on_to_the_end() -> None:
    """The table that says which guide is whose stands before the first heading below the title."""
    lines = README.read_text("utf-8").splitlines()
    first = next(index for index, line in enumerate(lines) if line.startswith("## "))
    table = [line for line in lines[:first] if line.startswith("| ")]
    led_to = set(re.findall(r"\]\(((?:docs/|local/cloud/|CONTRIBUTING)[^)#]*)", "\n".join(table)))
    guides = {path.relative_to(README.parent).as_posix() for path in (README.parent / "docs").glob("*.md")}
    assert led_to == guides | {"local/cloud/README.md", "CONTRIBUTING.md"}
    assert len(lines) <= 110


def test_every_link_leads_somewhere() -> None:
    for page in README.parent.glob("*.md"):
        for file, anchor in re.findall(r"\]\((?!https:)([^)#]*)#?([^)]*)\)", page.read_text("utf-8")):
            assert (README.parent / file).exists(), file
            assert not anchor or anchor in anchors(README.parent / file), f"{file}#{anchor}"


def test_numbers_and_names_may_differ_and_words_may_not() -> None:
    shown = Typed("slipway pools", ("cpu  head  0 / 1 / 1   2 s", "…", "done"))
    assert missing(shown.shown, "cpu head 1 / 1 / 3 14 min\nmore\ndone\n") == []
    assert missing(shown.shown, "cpu tail 1 / 1 / 3 14 min\ndone\n") != []
    assert missing(shown.shown, "done\ncpu head 1 / 1 / 3 14 min\n") == ["done"]
    assert normal("dask-digits-lxyht5gh  waited 9.4 s") == "dask-digits-JOB waited N"
