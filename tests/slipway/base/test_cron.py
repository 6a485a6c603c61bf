"""The longest time between two runs of a schedule."""

from datetime import timedelta

import pytest

from slipway.base.cron import longest_gap

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


@pytest.mark.parametrize(
    ("schedule", "gap"),
    [
        ("17 * * * *", HOUR),
        ("*/15 * * * *", timedelta(minutes=15)),
        ("0 8,20 * * *", 12 * HOUR),
        ("17 6 * * 1", 7 * DAY),
        ("0 0 * * 1-5", 3 * DAY),
        ("0 0 * * 0", 7 * DAY),
        ("0 0 * * 7", 7 * DAY),
        ("17 6 4 1 *", 365 * DAY),
        ("0 0 1 * *", 31 * DAY),
        ("0 0 1 * 1", 7 * DAY),
        ("0 5/6 * * *", 6 * HOUR),
    ],
)
def test_a_schedule(schedule: str, gap: timedelta) -> None:
    assert longest_gap(schedule) == gap


@pytest.mark.parametrize(
    "schedule", ["", "* * * *", "61 * * * *", "0 0 * * MON", "0 0 31 2 *", "*/0 * * * *", "@daily"]
)
def test_a_schedule_that_is_not_read(schedule: str) -> None:
    assert longest_gap(schedule) == timedelta(0)
