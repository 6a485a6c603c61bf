"""The time of a deployment's decisions: this machine's, or the cloud's where this machine's is wrong; and waiting.

Seasons, idle limits and `retireWithin` are compared with times that the cloud has noted. A clock that is hours ahead
would end a season that has not ended, and delete a cluster that has not idled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from math import inf

from slipway.base.errors import Fault
from slipway.base.formatting import span

TOLERANCE = timedelta(minutes=5)
"""The tolerated difference: reading takes time, and the answer's time is that of its end."""


def right_time(now: datetime, cloud: datetime | None) -> datetime:
    """Return `now`, this machine's time, or the `cloud`'s where they differ by more than TOLERANCE; None is unknown."""
    return now if cloud is None or abs(cloud - now) <= TOLERANCE else cloud


def wrong_clock(now: datetime, cloud: datetime | None) -> Fault | None:
    """Return the warning about a wrong clock; None for a right one."""
    if cloud is None or right_time(now, cloud) == now:
        return None
    off = f"{span(abs((now - cloud).total_seconds()))} {'ahead of' if now > cloud else 'behind'}"
    return Fault(
        f"this machine's clock is {off} the cloud's ({cloud:%Y-%m-%d %H:%M} UTC), which seasons and limits go by",
        fix="set the clock; tokens and certificates depend on it as well",
    )


def poll(
    pause: Callable[[float], object],
    first: float,
    longest: float = 0.0,
    *,
    within: float = inf,
    now: Callable[[], float] | None = None,
) -> Iterator[float]:
    """Wait for a state of the cloud: yield the seconds spent before each look, 0 before the first.

    Ends after `within` seconds. A pause takes `first` seconds, then twice as long each time, up to `longest`. `now` is
    a clock in seconds; without it the pauses alone count.
    """
    began, spent, wait = now() if now else 0.0, 0.0, first
    while True:
        yield spent
        if now:  # The look took time as well.
            spent = now() - began
        if spent >= within:
            return
        wait = min(wait, within - spent)
        pause(wait)
        spent = now() - began if now else spent + wait
        wait = min(2 * wait, max(first, longest))
