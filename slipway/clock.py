"""The time that a deployment decides by: this machine's, or the cloud's where this machine's is wrong.

Seasons, idle limits and `retireWithin` are compared with times that the cloud has noted. A clock that is hours ahead
would end a season that has not ended, and delete a cluster that has not idled.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from slipway.formatting import span

TOLERANCE = timedelta(minutes=5)
"""Reading takes its time, and the answer's is that of its end."""


def right_time(now: datetime, cloud: datetime | None) -> datetime:
    """`now` is this machine's, `cloud` the cloud's own where an answer told it."""
    return now if cloud is None or abs(cloud - now) <= TOLERANCE else cloud


def wrong_clock(now: datetime, cloud: datetime | None) -> str:
    """The warning about it; empty where the clock is right."""
    if cloud is None or right_time(now, cloud) == now:
        return ""
    off = f"{span(abs((now - cloud).total_seconds()))} {'ahead of' if now > cloud else 'behind'}"
    told = f"this machine's clock is {off} the cloud's ({cloud:%Y-%m-%d %H:%M} UTC), which seasons and limits go by"
    return f"{told}\n  fix: set the clock; tokens and certificates depend on it as well"
