"""Seasons in which a cluster is wanted, and the one loop that waits. # B6 # N9"""

from datetime import UTC, datetime, timedelta
from math import inf

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.base.clock import poll
from slipway.model.season import MACHINES, Season, moment, moment_in_words, moment_text, why_dormant

JANUARY = datetime(2027, 1, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        ("2027-01-10", "2027-01-10T00:00:00Z"),
        ("2027-01-10T08:30:00Z", "2027-01-10T08:30:00Z"),
        ("2027-01-10 08:30+01:00", "2027-01-10T07:30:00Z"),
        ("2027-01-10T00:00:00-08:00", "2027-01-10T08:00:00Z"),
        ("2027-01-10 00:00:00 +0000 UTC", "2027-01-10T00:00:00Z"),
        ("2027-01-10 08:30:00 +0100 +0100", "2027-01-10T07:30:00Z"),
        ("2027-01-10 08:30:00.5 +0100 CET", "2027-01-10T07:30:00Z"),
    ],
)
def test_a_date_is_midnight_utc_and_a_time_has_its_zone(text: str, utc: str) -> None:
    assert moment_text(moment(text)) == utc
    assert moment(utc) == moment(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "2027-13-01",
        "10.01.2027",
        "2027-01-10T08:30:00",
        "20270110",
        "2027-01-10T25:00Z",
        "0001-01-01T00:00:00+14:00",  # before the first moment
    ],
)
def test_what_is_no_moment(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        moment(text)


@pytest.mark.parametrize(
    ("begins", "ends", "wanted"),
    [
        (None, None, True),
        (0, None, True),
        (1, None, False),
        (None, 0, False),
        (None, 1, True),
        (-1, 1, True),
    ],
)
def test_it_begins_with_its_first_moment_and_ends_before_its_last(
    begins: int | None, ends: int | None, wanted: bool
) -> None:
    first, last = (None if days is None else JANUARY + timedelta(days=days) for days in (begins, ends))
    assert Season(first, last).includes(JANUARY) is wanted


def test_words(snapshot: SnapshotAssertion) -> None:
    assert moment_in_words(JANUARY) == "2027-01-10"
    assert moment_in_words(moment("2027-01-10T08:30:00+01:00")) == "2027-01-10 07:30 UTC"
    season = Season(begins=JANUARY, ends=JANUARY + timedelta(days=50), idle_limit=timedelta(hours=4))
    told = (
        why_dormant(season, "season", None),
        why_dormant(season, "season", None, now=JANUARY),
        why_dormant(season, "season", season.ends),
        why_dormant(season, "season", None, ("gpus", "cpus")),
        why_dormant(season, "season", None, (MACHINES,)),
        why_dormant(season, "idle", JANUARY),
        why_dormant(season, "in-place", JANUARY),
        why_dormant(Season(), "season", None),
    )
    assert "\n".join(days.of("cluster h100") for days in told) == snapshot


class Time:
    """A clock that pauses and looks alone move."""

    def __init__(self) -> None:
        self.seconds, self.pauses = 100.0, list[float]()

    def pause(self, seconds: float) -> None:
        self.seconds += seconds
        self.pauses.append(seconds)

    def now(self) -> float:
        return self.seconds


@pytest.mark.parametrize(
    ("first", "longest", "within", "pauses"),
    [(1.0, 4.0, 12.0, [1.0, 2.0, 4.0, 4.0, 1.0]), (5.0, 0.0, 12.0, [5.0, 5.0, 2.0]), (1.0, 4.0, 0.0, [])],
)
@pytest.mark.parametrize("clock", [True, False])
def test_pauses_double_and_never_exceed_what_is_left(
    first: float, longest: float, within: float, pauses: list[float], clock: bool
) -> None:
    time = Time()
    spent = list(poll(time.pause, first, longest, within=within, now=time.now if clock else None))
    assert time.pauses == pauses and spent == [0.0, *(sum(pauses[:n]) for n in range(1, len(pauses) + 1))]


def test_what_a_look_takes_counts_by_a_clock_alone() -> None:
    time, looks = Time(), 0
    for _ in poll(time.pause, 1.0, within=10.0, now=time.now):
        looks, time.seconds = looks + 1, time.seconds + 6.0
    assert looks == 2
    turns = poll(time.pause, 1.0, 2.0, within=inf)
    assert [next(turns) for _ in range(4)] == [0.0, 1.0, 3.0, 5.0]
