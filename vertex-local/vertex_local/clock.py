"""The clock for timestamps, waits and timeouts: real, or moved by hand in a test."""

import threading
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    def now(self) -> datetime:
        """Return the time, aware and in UTC."""

    def wait(self, seconds: float, event: threading.Event) -> bool:
        """Wait until `event` is set or `seconds` have passed, and return whether it was set."""

    def advance(self, seconds: float) -> None:
        """Move the clock ahead at once."""

    def here(self, moment: datetime) -> datetime:
        """Return a moment of the machine's own clock, which some process took, as this clock has it."""


class RealClock:
    """The machine's clock, ahead of it by as much as it was moved."""

    def __init__(self) -> None:
        self._ahead = timedelta()

    def now(self) -> datetime:
        return datetime.now(UTC) + self._ahead

    def advance(self, seconds: float) -> None:
        self._ahead += timedelta(seconds=seconds)

    def here(self, moment: datetime) -> datetime:
        return moment + self._ahead

    def wait(self, seconds: float, event: threading.Event) -> bool:
        return event.wait(seconds)


class ManualClock:
    """A clock that stands still until `advance`. A waiter wakes when its time is reached or its event is set."""

    def __init__(self, start: datetime) -> None:
        self._now = start
        self._moved = threading.Condition()

    def now(self) -> datetime:
        with self._moved:
            return self._now

    def advance(self, seconds: float) -> None:
        with self._moved:
            self._now += timedelta(seconds=seconds)
            self._moved.notify_all()

    def here(self, moment: datetime) -> datetime:
        return moment

    def wait(self, seconds: float, event: threading.Event) -> bool:
        with self._moved:
            until = self._now + timedelta(seconds=seconds)
            while not event.is_set() and self._now < until:
                self._moved.wait(0.05)
        return event.is_set()


def timestamp(moment: datetime) -> str:
    """Return a moment as the APIs write it: RFC 3339 in UTC with microseconds, `2026-11-20T10:00:00.123456Z`."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def bound_of(text: str) -> datetime:
    """Return the moment that a filter's text names, by default in UTC and at midnight. Raises ValueError."""
    moment = moment_of(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def moment_of(text: str) -> datetime:
    """Return the moment that a text names, in UTC; one without a time zone stays so. Raises ValueError."""
    moment = datetime.fromisoformat(text)
    try:
        return moment.astimezone(UTC) if moment.tzinfo else moment
    except OverflowError as error:
        raise ValueError(f"'{text}' is before the first year or after the last") from error
