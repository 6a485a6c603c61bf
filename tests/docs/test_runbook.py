"""The runbook shows the words that the code says, and leads where it says."""

import ast
import re
import shlex
from functools import cache

import click
import pytest

from slipway.front.cli import slipway as cli
from tests.python_files import ROOT, tree

PAGE = (ROOT / "docs" / "runbook.md").read_text(encoding="utf-8")
TABLES = re.findall(r"^\| it says \|.*\n\|---.*\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
SHOWN = [
    *(
        line.strip()
        for block in re.findall(r"^ *```text\n(.*?)^ *```$", PAGE, re.MULTILINE | re.DOTALL)
        for line in block.splitlines()
    ),
    *(line.strip("`") for table in TABLES for line in re.findall(r"^\| (`.+?`+) \|", table, re.MULTILINE)),
]
"""Lines of blocks, and the first cells of tables of what is said."""
LOCKED = "the stack is currently locked by 1 lock(s)"
HOOKS = (
    "Resource has delete hooks registered, but the program is not running. Hooks: slipway-guard-v1",
    "You must run with the `--run-program` flag to use delete hooks during destroy.",
)
"""The engine's words, which tests/ci/test_scripts.py and tests/end_to_end/test_unknown_clusters.py have it say."""


@cache
def said() -> frozenset[str]:
    """All texts of the product, with `…` in the place of what is filled in."""
    texts: set[str] = set()
    for file in [*(ROOT / "slipway").rglob("*.py"), *(ROOT / "components").glob("*.py")]:
        for node in ast.walk(tree(file.relative_to(ROOT))):
            if isinstance(node, ast.JoinedStr):
                texts.add(
                    "".join(str(value.value) if isinstance(value, ast.Constant) else "…" for value in node.values)
                )
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.add(node.value)
    return frozenset(texts)


@pytest.mark.parametrize("line", [line for line in SHOWN if line not in (LOCKED, *HOOKS)])
def test_the_words_are_those_of_the_code(line: str) -> None:
    assert {LOCKED, *HOOKS} <= set(SHOWN) and len(SHOWN) > 20
    pattern = re.compile(re.escape(line).replace("…", ".*"), re.DOTALL)
    assert any(pattern.match(text) for text in said()), f"nothing says: {line}"


@pytest.mark.parametrize("line", PAGE.partition("```sh\n")[2].partition("```")[0].splitlines())
def test_what_is_typed_first_is_taken(line: str) -> None:
    program, *words = shlex.split(line, comments=True)
    command: click.Command = cli
    while isinstance(command, click.Group) and words:
        target = command.get_command(click.Context(command), words.pop(0))
        assert target is not None, line
        command = target
    assert program == "slipway" and command.make_context(line, words)
