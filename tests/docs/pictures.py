"""Pictures of the terminal: what a command printed, with its colours, as the SVG that a page shows. # D8

    FORCE_COLOR=1 slipway submit dask-digits --follow 2>&1 | python -m tests.docs.pictures follow

writes docs/pictures/follow.svg. Its description has the text, which the tests that type the page's commands compare.
"""

import io
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape, unescape
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "pictures"
WIDTH = 104
_FONTS = re.compile(r"@font-face \{\{.*?\}\}\s*", re.DOTALL)
"""Fonts that a reader's browser would fetch from elsewhere."""


@dataclass(frozen=True)
class Picture:
    """A command, and a pattern of the lines that are worth showing; the lines between them are `…`."""

    command: str
    worth: str


PICTURES = {
    "follow": Picture(
        "slipway submit dask-digits --follow",
        r"^dask-digits  @|^starts now|^job |^  slipway jobs logs|of \d workers|accuracy|its machines cost|^  output",
    ),
    "refused": Picture("slipway submit dask-digits --capacity spot", ""),
    "review": Picture("make review BASE=main", r"^(?!review )"),
}


def drawn(name: str, printed: str) -> str:
    """Return the picture of a command's output, with ANSI's colours."""
    picture = PICTURES[name]
    prompt = Text.assemble(("$ ", "green"), (picture.command, "bold"))
    lines = [prompt, *_worth(picture, [Text.from_ansi(line) for line in printed.rstrip().splitlines()])]
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, legacy_windows=False)
    for line in lines:
        indent = len(line.plain) - len(line.plain.lstrip())
        first, *rest = line.wrap(console, WIDTH - indent - 2)
        console.print(first, highlight=False, no_wrap=True)
        for case in rest:
            console.print(Text(" " * (indent + 2)) + case, highlight=False, no_wrap=True)
    console.print()
    text = escape("\n".join(line.plain.rstrip() for line in lines))
    svg = console.export_svg(title="", code_format=_FONTS.sub("", CONSOLE_SVG_FORMAT), unique_id=name)
    whole = re.sub(r"<svg [^>]*>", lambda head: f"{head[0]}\n<desc>{text}</desc>", svg, count=1)
    return re.sub(r"[ \t]+$", "", whole, flags=re.MULTILINE)


def _worth(picture: Picture, lines: list[Text]) -> Iterator[Text]:
    shown = True
    for line in lines:
        if re.search(picture.worth, line.plain):
            yield line
            shown = True
        elif shown:
            yield Text("…", style="dim")
            shown = False


def described(svg: Path) -> list[str]:
    """Return the lines of a picture, as they were printed: the command after `$ ` first."""
    (found,) = re.findall(r"<desc>(.*?)</desc>", svg.read_text("utf-8"), re.DOTALL)
    return unescape(found).split("\n")


if __name__ == "__main__":
    (name,) = sys.argv[1:]
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{name}.svg").write_text(drawn(name, sys.stdin.read()), "utf-8")
