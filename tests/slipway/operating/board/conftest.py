"""A month with its board, drawn once in a browser, which is closed after each module: while one runs, no other event
loop can."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from slipway.operating.board.page import page
from tests import chromium
from tests.slipway.operating.board.moment import board

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Page

JOBS = 240
Looking = Callable[[dict[str, Any]], "Looked"]
_DRAWN = "() => [...document.querySelectorAll('[data-chart]:not([data-late])')].every((one) => one.dataset.drawn)"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    found = chromium.find()
    if isinstance(found, str):
        pytest.skip(found)
    with sync_playwright() as playwright:
        environ: dict[str, str | float | bool] = {**os.environ, **found.environ}
        launched = playwright.chromium.launch(executable_path=found.program, args=chromium.FLAGS, env=environ)
        yield launched
        launched.close()


@dataclass
class Looked:
    """A page with all of its charts drawn, and its requests, messages and errors meanwhile."""

    page: Page
    asked: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    width: int = 1200
    dark: bool = False

    @classmethod
    def at(cls, page: Page, file: Path) -> Looked:
        looked = cls(page)
        page.on("request", lambda request: looked.asked.append(request.url))
        page.on("console", lambda message: looked.said.append(message.text))
        page.on("pageerror", lambda error: looked.said.append(str(error)))
        page.on("dialog", looked.dialog)
        page.goto(file.as_uri())
        page.wait_for_function(_DRAWN)
        return looked

    def turn(self, *, width: int = 1200, dark: bool = False) -> None:
        """Show the page at a width, light or dark: each change draws all charts anew."""
        if width != self.width:
            self._drawn_anew(lambda: self.page.set_viewport_size({"width": width, "height": 900}))
        if dark != self.dark:
            self._drawn_anew(lambda: self.page.emulate_media(color_scheme="dark" if dark else "light"))
        self.width, self.dark = width, dark

    def _drawn_anew(self, change: Callable[[], None]) -> None:
        self.page.evaluate(
            "() => { for (const one of document.querySelectorAll('[data-drawn]')) delete one.dataset.drawn; }"
        )
        change()
        self.page.wait_for_function(_DRAWN)

    def rest(self) -> None:
        """Show no job, find nothing and close what was opened."""
        self.page.evaluate(
            """() => {
                location.hash = '';
                for (const one of document.querySelectorAll('details')) one.open = false;
                const find = document.getElementById('find');
                find.value = '';
                find.dispatchEvent(new Event('input'));
            }"""
        )
        self.page.wait_for_function("() => document.getElementById('one').hidden")

    def show(self, job: str) -> None:
        self.page.evaluate("(id) => { location.hash = `job=${id}`; }", job)

    def dialog(self, dialog: Dialog) -> None:
        self.said.append(dialog.message)
        dialog.dismiss()

    def rows(self, figure: str, mark: str) -> list[dict[str, object]]:
        """Return the rows behind the marks of a kind (`rect`) of the charts that a selector finds."""
        script = """([figure, mark]) => [...document.querySelectorAll(`${figure} .mark-${mark} path`)]
            .map((one) => one.__data__?.datum).filter(Boolean).map((one) => JSON.parse(JSON.stringify(one)))"""
        found: list[dict[str, object]] = self.page.evaluate(script, [figure, mark])
        return found

    def texts(self, selector: str) -> list[str]:
        """Return the words in a chart's groups of marks."""
        script = "(groups) => [...document.querySelectorAll(`${groups} text`)].map((one) => one.textContent)"
        found: list[str] = self.page.evaluate(script, selector)
        return found

    def choose(self, param: str, value: str) -> None:
        """Choose a range or a colour, and wait until the charts show it."""
        self.page.locator(f"#time input[data-param={param}][value='{value}']").check()
        self.chosen(param, value)

    def chosen(self, param: str, value: str) -> None:
        self.page.wait_for_function("([k, v]) => document.documentElement.dataset[k] === v", arg=[param, value])

    def table(self, selector: str) -> list[list[str]]:
        """Return the cells of a table's body."""
        script = """(table) => [...document.querySelectorAll(`${table} tbody tr`)]
            .map((row) => [...row.cells].map((cell) => cell.textContent.trim()))"""
        found: list[list[str]] = self.page.evaluate(script, selector)
        return found


@pytest.fixture(scope="module")
def opened(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Looked]:
    file = tmp_path_factory.mktemp("board") / "board.html"
    file.write_text(page(board(JOBS)), encoding="utf-8")
    context = browser.new_context(viewport={"width": 1200, "height": 900}, color_scheme="light")
    yield Looked.at(context.new_page(), file)
    context.close()


@pytest.fixture
def looked(opened: Looked) -> Iterator[Looked]:
    """The month's page, of which no test leaves a message or an error."""
    yield from _rested(opened, dark=False)


@pytest.fixture
def looked_at_night(opened: Looked) -> Iterator[Looked]:
    """The same page, dark."""
    yield from _rested(opened, dark=True)


def _rested(opened: Looked, *, dark: bool) -> Iterator[Looked]:
    opened.rest()
    opened.turn(dark=dark)
    yield opened
    assert opened.said == []


@pytest.fixture
def look(browser: Browser, tmp_path: Path) -> Iterator[Looking]:
    """Open a page of other data."""
    contexts = []

    def open_(document: dict[str, Any]) -> Looked:
        (tmp_path / "other.html").write_text(page(document), encoding="utf-8")
        contexts.append(browser.new_context(viewport={"width": 1200, "height": 900}, color_scheme="light"))
        return Looked.at(contexts[-1].new_page(), tmp_path / "other.html")

    yield open_
    for context in contexts:
        context.close()
