"""What somebody hears while a sweep is sent, where there is no bar: a line now and then, and trouble at once. # N7"""

from datetime import UTC, datetime

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.front.cli.terminal.sweep import _lines, words
from slipway.using.context import Clock
from slipway.using.sweeps.sweep_sender import SendingProgress

NOTHING_ANSWERS = "no contact (gone), still trying; Ctrl-C loses nothing: the same command sends the rest"


def test_the_words_count_and_say_when_nothing_gets_through(snapshot: SnapshotAssertion) -> None:
    assert words(SendingProgress(4)) == ""
    assert words(SendingProgress(4, missed=2, refused=1)) == snapshot
    assert words(SendingProgress(4, limited=7)) == "7 rate-limited and retried"
    assert words(SendingProgress(4, trouble="gone")) == NOTHING_ANSWERS
    held = "7 rate-limited and retried; Ctrl-C loses nothing: the same command sends the rest"
    assert words(SendingProgress(4, limited=7, held=True)) == held, "N4: it said so for ever, and not what to do"


def test_trouble_is_told_at_once_and_once_in_a_while(capsys: pytest.CaptureFixture[str]) -> None:
    times = iter((0.0, 1.0, 3.0, 3.0, 4.0, 19.0, 19.0))
    tell = _lines(Clock(lambda: datetime.now(UTC), lambda: next(times)))
    progress = SendingProgress(4, now=1)
    tell(progress)
    progress.trouble = "gone"
    for _ in range(3):
        tell(progress)
    assert capsys.readouterr().err.splitlines() == [f"1 of 4 submitted; {NOTHING_ANSWERS}"] * 2
