"""The state line: it counts on a terminal, and elsewhere adds nothing until something else changes."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from slipway.cli.terminal.watching import PlainDisplay, state_at
from slipway.cloud.jobs import VertexJob
from slipway.context import Clock
from slipway.jobs.follower import Progress
from slipway.jobs.waiting import wait_reason

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


def test_what_is_left_of_a_wait_counts_down_between_two_looks_at_the_service() -> None:  # W2, N9
    assert STATE(at(5)) == "tune  waiting 0:05  in the queue of flex-start: 50 s are left"
    assert STATE(at(6)) == "tune  waiting 0:06  in the queue of flex-start: 49 s are left"


def test_where_each_state_is_a_line_counting_adds_none(capsys: pytest.CaptureFixture[str]) -> None:  # N9
    seconds = iter(range(60))
    show = PlainDisplay(Clock(now=lambda: at(next(seconds))), quiet=False)
    for _ in range(60):
        show.state(STATE)
    assert capsys.readouterr().err.splitlines() == [
        "tune  waiting 0:00  in the queue of flex-start: 55 s are left",
        "tune  waiting 0:55  in the queue of flex-start: its time is over",
    ]
