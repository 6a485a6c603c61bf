"""The clock that a test stops and advances."""

import threading
from datetime import UTC, datetime, timedelta, timezone

from local.cloud.clock import ManualClock, RealClock, timestamp

START = datetime(2026, 11, 20, 10, 0, tzinfo=UTC)


def test_a_manual_clock_stands_still_until_it_is_advanced() -> None:
    clock = ManualClock(START)
    assert clock.now() == START
    clock.advance(90)
    assert clock.now() == START + timedelta(seconds=90)


def test_a_waiter_wakes_when_its_time_has_come() -> None:
    clock, woke = ManualClock(START), threading.Event()

    def wait() -> None:
        assert clock.wait(60, threading.Event()) is False
        woke.set()

    thread = threading.Thread(target=wait)
    thread.start()
    clock.advance(59)
    assert not woke.wait(0.1)
    clock.advance(1)
    thread.join(10)
    assert woke.is_set()


def test_a_waiter_wakes_when_its_event_is_set() -> None:
    event = threading.Event()
    event.set()
    assert ManualClock(START).wait(3600, event) is True
    assert RealClock().wait(3600, event) is True


def test_timestamps_are_utc_and_of_one_width() -> None:
    moment = datetime(2026, 11, 20, 12, 0, tzinfo=timezone(timedelta(hours=2)))
    assert timestamp(moment) == "2026-11-20T10:00:00.000000Z"
    assert RealClock().now().tzinfo is UTC
