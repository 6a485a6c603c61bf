"""The board's page of a month with 3,000 jobs: the time to write it, and its size."""

from __future__ import annotations

import time

from bench import measure, month
from bench.ground import Ground, Tell
from bench.result import Result, absolute
from slipway.operating.board.document import as_json, board_of
from slipway.operating.board.page import page as page_of

_BAR_S, _BAR_MB = 3.0, 2.0


def page(ground: Ground, runs: int, tell: Tell) -> list[Result]:
    history, file = month.history(3000), ground.folder / "board.html"

    def once() -> float:
        began = time.perf_counter()
        file.write_text(page_of(as_json(board_of(history), 2)), encoding="utf-8")
        return time.perf_counter() - began

    seconds = measure.median(runs, once, tell)
    return [absolute("board", seconds, _BAR_S), absolute("board-size", file.stat().st_size / 1e6, _BAR_MB)]
