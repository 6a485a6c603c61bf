"""Progress: one living line on a terminal, few lines in a log."""

import io

from local.engine.progress import Printer


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_one_line_per_step_rewritten_in_place() -> None:
    screen = Terminal()
    printer = Printer(screen)
    for line in ("fetching · 1 s", "fetching · 2 s", "building · 1 s"):
        printer(line)
    printer.close()
    assert screen.getvalue() == "\r\x1b[Kfetching · 1 s\r\x1b[Kfetching · 2 s\n\r\x1b[Kbuilding · 1 s\n"


def test_a_log_shows_each_step_at_once_and_then_every_ten_seconds() -> None:
    log, now = io.StringIO(), 0.0
    printer = Printer(log, clock=lambda: now)
    for second in range(25):
        now = float(second)
        printer(f"building · {second} s")
    printer("unpacking")
    printer.close()
    assert log.getvalue().splitlines() == ["building · 0 s", "building · 10 s", "building · 20 s", "unpacking"]
