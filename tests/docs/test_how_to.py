"""What pages tell a reader to type is taken by the command, and a sweep has as many points as its page says. # D8

Console blocks that need a stack are typed by tests/end_to_end/test_demo.py.
"""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from slipway.front.cli import slipway
from slipway.using.sweeps.sweep_file import read

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = sorted(page for page in DOCS.glob("*.md") if page.name not in ("commands.md", "architecture.md"))
_BLOCK = re.compile(r"^ *```(?:console|sh|bash)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_LINE = re.compile(r"^ *(?:\$ )?(?:\w+=\S+ )*(slipway .*)$", re.MULTILINE)
_IN_PROSE = re.compile(r"(?<!`)`(slipway [^`]+)`(?!`)")


def typed(page: Path) -> Iterator[str]:
    """Commands of a page's blocks, and those in its sentences."""
    text = page.read_text("utf-8")
    for block in _BLOCK.findall(text):
        yield from _LINE.findall(block)
    yield from _IN_PROSE.findall(re.sub(r"^ *```.*?^ *```$", "", text, flags=re.MULTILINE | re.DOTALL))


@pytest.mark.parametrize(("page", "line"), [(page.name, line) for page in PAGES for line in dict.fromkeys(typed(page))])
def test_the_command_has_what_a_page_tells_to_type(
    page: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = shlex.split(line.replace("\\|", "|"), comments=True)[1:]
    for sign in (">", "|"):
        words = words[: words.index(sign)] if sign in words else words
    words = [word for word in words if word != "…"]
    command: click.Command = slipway
    context = click.Context(slipway)
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        word = words.pop(0)
        if word == "VERB":
            return
        target = command.get_command(context, word)
        assert target is not None, line
        command = target
    try:
        command.make_context(line, words)
    except (click.MissingParameter, click.BadOptionUsage):
        pass  # a sentence may name a verb or a flag alone
    except click.exceptions.Exit as shown:
        assert shown.exit_code == 0


def test_what_is_typed_holds_in_a_team_s_repository_and_leaves_the_reviewed_stack_file_as_it_is() -> None:
    """Two pages have the engine's commands: the one that tells why, and that of programs without a reviewed file."""
    lines = [
        (page.name, line)
        for page in sorted(DOCS.glob("*.md"))
        for block in _BLOCK.findall(page.read_text("utf-8"))
        for line in block.splitlines()
    ]
    rewrites = re.compile(r"pulumi (preview|up|refresh|destroy)\b(?!.*--config-file)|python -m local")
    assert {page for page, line in lines if rewrites.search(line)} == {"by-hand.md", "your-program.md"}


def test_a_sweep_has_as_many_points_as_its_page_says(tmp_path: Path) -> None:
    page = (DOCS / "sweeps.md").read_text("utf-8")
    (grid,) = re.findall(r"^```yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (tmp_path / "grid.yaml").write_text(grid)
    target = read(tmp_path / "grid.yaml")
    assert not target.mistakes
    assert set(re.findall(r"\b(\d+) runs", page)) == {str(len(target.each))}
