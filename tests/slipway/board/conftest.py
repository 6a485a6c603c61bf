"""A month with its board, and a browser to read it with, which is closed after each module: while one runs, no other
event loop can."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from slipway.board.page import page
from tests import chromium
from tests.slipway.board.moment import board

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Page

JOBS = 400
Looking = Callable[..., "Looked"]


@pytest.fixture(scope="session")
def board_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("board") / "board.html"
    file.write_text(page(board(JOBS)), encoding="utf-8")
    return file


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


@pytest.fixture
def look(browser: Browser, board_file: Path) -> Iterator[Looking]:
    contexts = []

    def open_(width: int = 1200, dark: bool = False, file: Path = board_file, hash: str = "") -> Looked:
        scheme = "dark" if dark else "light"
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
        contexts.append(context)
        looked = Looked(context.new_page())
        looked.page.on("request", lambda request: looked.asked.append(request.url))
        looked.page.on("console", lambda message: looked.said.append(message.text))
        looked.page.on("pageerror", lambda error: looked.said.append(str(error)))
        looked.page.on("dialog", looked.dialog)
        looked.page.goto(file.as_uri() + hash)
        looked.page.wait_for_function(
            "() => [...document.querySelectorAll('[data-chart]:not([data-late])')].every((one) => one.dataset.drawn)"
        )
        return looked

    yield open_
    for context in contexts:
        context.close()
