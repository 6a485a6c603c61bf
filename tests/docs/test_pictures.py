"""Pictures of the terminal show what their descriptions say, which journeys compare with what is printed. # D8"""

import re
from html import unescape

import pytest

from tests.docs.console import commands
from tests.docs.pictures import FOLDER, PICTURES, described

DOCS = FOLDER.parent


def solid(text: str) -> str:
    return "".join(text.split())


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_shows_its_description_and_fetches_nothing(name: str) -> None:
    svg = (FOLDER / f"{name}.svg").read_text("utf-8")
    drawing = re.sub(r"<[^>]+>", "", svg.partition("</defs>")[2])
    assert solid(unescape(drawing)) == solid("".join(described(FOLDER / f"{name}.svg")))
    assert re.findall(r"https?://[^\s\"]+", svg) == ["http://www.w3.org/2000/svg", "https://www.textualize.io"]


def test_each_stands_below_its_command_on_a_page() -> None:
    shown = {
        (command.command, (FOLDER / f"{name}.svg"))
        for page in DOCS.glob("*.md")
        for name in re.findall(r"\(pictures/(\w+)\.svg\)", page.read_text("utf-8"))
        for command in commands(page)
        if command.command == PICTURES[name].command
    }
    assert {svg.stem for _, svg in shown} == set(PICTURES) == {file.stem for file in FOLDER.iterdir()}
