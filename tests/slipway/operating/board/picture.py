"""`python -m tests.slipway.operating.board.picture`: the board of a month that never was, into docs/board.png."""

import os
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from slipway.operating.board.page import page
from tests import chromium
from tests.slipway.operating.board.moment import board

DOCS = Path(__file__).resolve().parents[4] / "docs"
_WIDTH, _HEIGHT = 1180, 1430


def main() -> int:
    found = chromium.find()
    if isinstance(found, str):
        sys.stderr.write(f"{found}\n")
        return 1
    environ: dict[str, str | float | bool] = {**os.environ, **found.environ}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder) / "board.html"
        file.write_text(page(board(3000, hostile=False)), encoding="utf-8")
        launched = playwright.chromium.launch(executable_path=found.program, args=chromium.FLAGS, env=environ)
        shown = launched.new_page(viewport={"width": _WIDTH, "height": _HEIGHT})
        shown.goto(file.as_uri())
        shown.wait_for_function("() => document.querySelectorAll('[data-chart=band][data-drawn]').length > 1")
        shown.screenshot(path=DOCS / "board.png")
        launched.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
