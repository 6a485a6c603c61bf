"""The limit on how fast a sweep sends: the service's submissions a minute and region, which all submitters there share.

The service counts over the last minute. It counts a request at some moment between its sending and its answer, so a
minute after the answer the request surely counts no more. A refusal means that others send too: the limiter leaves them
as much as they have evidently taken, and takes it back step by step. Pure.
"""

from __future__ import annotations

from collections import deque

SUBMISSIONS_PER_MINUTE = 60
"""The documented quota of a project in a region."""

WINDOW = 60.0
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 15.0
_GROWTH_EVERY = 5.0
_MARGIN = 0.05


def seconds_to_send(count: int, per_minute: int) -> float:
    """Return the seconds to send so many runs where nobody else submits; `per_minute` 0 means no limit."""
    return 0.0 if per_minute <= 0 or count <= 0 else (count - 1) // per_minute * WINDOW


class RateLimiter:
    """The limiter of one region. Times are seconds of a monotonic clock. Not to be shared by threads."""

    def __init__(self, per_minute: int = SUBMISSIONS_PER_MINUTE) -> None:
        self._limit, self._allowed = per_minute, float(per_minute)
        self._flying = 0
        self._counted: deque[float] = deque()
        self._paused_until, self._pause, self._grown_at = 0.0, _FIRST_PAUSE, 0.0

    def wait(self, now: float) -> float:
        """Return the seconds until the next request may be sent; infinite while only an answer can tell."""
        if now < self._paused_until:
            return self._paused_until - now
        if self._limit <= 0:
            return 0.0
        self._forget(now)
        if self._allowed < self._limit and now - self._grown_at >= _GROWTH_EVERY:
            self._allowed, self._grown_at = min(self._limit, self._allowed * 1.1 + 1), now
        if self._flying + len(self._counted) < int(self._allowed):
            return 0.0
        if self._allowed < self._limit:
            return _GROWTH_EVERY - (now - self._grown_at)
        return self._counted[0] + WINDOW + _MARGIN - now if self._counted else float("inf")

    def sent(self) -> None:
        self._flying += 1

    def answered(self, now: float) -> None:
        """Count a request that the service counted, or may have counted: also when its answer was lost."""
        self._flying -= 1
        self._counted.append(now)
        self._pause = _FIRST_PAUSE

    def refused(self, now: float, retry_after: float | None) -> None:
        """Slow down after a request over the rate, which the service did not count."""
        self._forget(now)
        news = now >= self._paused_until  # Refusals of concurrent requests tell nothing new.
        self.held(now, retry_after)
        if news and self._limit > 0:
            self._allowed, self._grown_at = float(max(1, min(self._allowed, len(self._counted)))), now

    def held(self, now: float, retry_after: float | None) -> None:
        """Pause after a failure to reach the service: nothing was counted, and the rate stays."""
        self._flying -= 1
        if now >= self._paused_until:
            self._paused_until = now + max(retry_after or 0.0, self._pause)
            self._pause = min(_LONGEST_PAUSE, self._pause * 2)

    def _forget(self, now: float) -> None:
        while self._counted and self._counted[0] + WINDOW + _MARGIN <= now:
            self._counted.popleft()
