"""The state line, of a job or of a sweep that is sent: beside a terminal only what changes is a new line."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from slipway.front.cli.terminal.submission import TerminalDisplay
from slipway.front.cli.terminal.sweep import _lines, words
from slipway.front.cli.terminal.watching import state_at
from slipway.google.jobs import VertexJob
from slipway.model.catalog.template import Offer
from slipway.model.kinds import CUSTOM_JOB
from slipway.model.prices import UNKNOWN
from slipway.using.context import Clock, Context
from slipway.using.jobs.follower import Progress
from slipway.using.submission.candidate import Candidate
from slipway.using.submission.request import Request
from slipway.using.submission.waiting_attempt import WaitingAttempt
from slipway.using.sweeps.sweep_sender import SendingProgress

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
QUEUED = replace(
    VertexJob.read(
        {"name": "projects/1/locations/r/customJobs/1", "displayName": "tune", "state": "JOB_STATE_PENDING"}
    ),
    strategy="FLEX_START",
    max_wait=55.0,
    create_time=NOW,
)


def at(second: int) -> datetime:
    return NOW + timedelta(seconds=second)


def test_a_wait_that_goes_on_is_no_news(capsys: pytest.CaptureFixture[str]) -> None:  # N3
    """Each minute of a job whose wait is over is watched anew."""
    offers = (Offer(name, True, "", "", (), UNKNOWN, {}) for name in ("on-demand", "spot"))
    first, then = (Candidate(offer, CUSTOM_JOB, lambda: Request("r1", "dev", "t", {})) for offer in offers)
    show = TerminalDisplay(Context(environ={}, clock=Clock(now=lambda: at(5))), json=True, again="", yes=False)
    for _ in range(3):
        with show.watching(WaitingAttempt(QUEUED, first, 60.0, (then,), overdue=True)) as tell:
            tell(Progress(QUEUED, lambda now: "quota is full"))
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("tune  waiting 0:05  quota is") and "(looks at spot again" in line
    running = replace(QUEUED, state="JOB_STATE_RUNNING", start_time=at(4))
    with show.watching(WaitingAttempt(QUEUED, first, 60.0, (then,))) as tell:
        tell(Progress(running))
    assert capsys.readouterr().err == "tune  running 0:01\n", "it has started, so nothing comes next"


def test_a_job_over_its_limit_has_timed_out_from_its_first_line_on() -> None:
    over = replace(QUEUED, state="JOB_STATE_CANCELLED", start_time=at(0), end_time=at(15), timeout=15.0)
    assert over.outcome == "timed out"
    assert state_at(Progress(over), "tune", "")(at(15)) == "tune  timed out 0:15"


NOTHING_ANSWERS = "no contact (gone), still trying; Ctrl-C loses nothing: the same command sends the rest"


def test_the_words_count_and_say_when_nothing_gets_through() -> None:  # N7
    assert words(SendingProgress(4)) == ""
    assert words(SendingProgress(4, missed=2, refused=1)) == "2 looked for, as their answers were lost, 1 refused"
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
