"""Time as an argument: what waits and what is stamped with a time takes one of these, so that a test can set it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime


def _utc() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True)
class Clock:
    """`now` is aware and UTC; `monotonic` and `sleep` are in seconds."""

    now: Callable[[], datetime] = _utc
    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
