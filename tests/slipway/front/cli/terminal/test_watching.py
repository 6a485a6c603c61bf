"""The state line: it counts on a terminal, and elsewhere adds nothing until something else changes."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.front.cli.terminal.submission import TerminalDisplay
from slipway.front.cli.terminal.watching import PlainDisplay, state_at
from slipway.google.jobs import VertexJob
from slipway.model.catalog.model import Offer
from slipway.model.kinds import CUSTOM_JOB
from slipway.model.prices import UNKNOWN
from slipway.using.context import Clock, Context
from slipway.using.jobs.follower import Progress
from slipway.using.jobs.waiting import wait_reason
from slipway.using.submission.candidates import Candidate
from slipway.using.submission.fallback import WaitingAttempt
from slipway.using.submission.request import Request

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
QUEUED = replace(
    VertexJob.read(
        {"name": "projects/1/locations/r/customJobs/1", "displayName": "tune", "state": "JOB_STATE_PENDING"}
    ),
    strategy="FLEX_START",
    max_wait=55.0,
    create_time=NOW,
)
STATE = state_at(Progress(QUEUED, lambda now: wait_reason(QUEUED, None, "", (), now)), "tune", "")


def at(second: int) -> datetime:
    return NOW + timedelta(seconds=second)


def test_what_is_left_of_a_wait_counts_down_between_two_looks_at_the_service(
    snapshot: SnapshotAssertion,
) -> None:  # W2, N9
    assert STATE(at(5)) == snapshot
    assert STATE(at(6)) == snapshot


def test_a_wait_that_goes_on_is_no_news(capsys: pytest.CaptureFixture[str]) -> None:  # N3
    """Each minute of a job whose wait is over is watched anew."""
    offers = (Offer(name, True, "", "", (), UNKNOWN, {}) for name in ("on-demand", "spot"))
    first, then = (Candidate(one, CUSTOM_JOB, lambda: Request("r1", "dev", "t", {})) for one in offers)
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


def test_resumed_it_is_not_said_to_move_on_to_what_was_out_of_reach_at_the_last_deployment(  # N3
    capsys: pytest.CaptureFixture[str],
) -> None:
    """`(then pool day in 1:00)` of a cluster that is out of season."""
    day = Offer("pool", False, "out of season", "", (), UNKNOWN, {}, dormant="day")
    offers = (Offer("pool", True, "", "cpu", (), UNKNOWN, {}), day, Offer("spot", True, "", "", (), UNKNOWN, {}))
    first, *later = (Candidate(one, CUSTOM_JOB, lambda: Request("r1", "dev", "t", {})) for one in offers)
    show = TerminalDisplay(Context(environ={}, clock=Clock(now=lambda: at(5))), json=True, again="", yes=False)
    with show.watching(WaitingAttempt(QUEUED, first, 60.0, tuple(later))) as tell:
        tell(Progress(QUEUED, lambda now: "pool full"))
    assert "(then spot in " in capsys.readouterr().err


def test_where_each_state_is_a_line_counting_adds_none(
    snapshot: SnapshotAssertion, capsys: pytest.CaptureFixture[str]
) -> None:  # N9
    seconds = iter(range(60))
    show = PlainDisplay(Clock(now=lambda: at(next(seconds))), quiet=False)
    for _ in range(60):
        show.state(STATE)
    assert capsys.readouterr().err.splitlines() == snapshot
