"""Patience with a service that is busy, down or out of reach: a deployment asks again, and tells what and why."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

from slipway.base.clock import poll
from slipway.google.failures import CloudError, Exhausted, NoAnswer, Unavailable, Unreachable

PASSING = (Unavailable, Exhausted, NoAnswer, Unreachable)
"""The errors that a later try may not meet."""
FIRST_S, LONGEST_S = 0.5, 10.0
_TOLD_TRIES, _TELL_EVERY_S = 3, 60.0

_T = TypeVar("_T")


def patiently(
    ask: Callable[[], _T],
    tell: Callable[[CloudError, float], object],
    *,
    within: float,
    pause: Callable[[float], object],
    now: Callable[[], float],
) -> _T:
    """Return the answer, asked for again after PASSING errors for `within` seconds; then the last one is raised.

    `tell` gets the error and the seconds left, at the first tries and then once a minute.
    """
    told_at = -math.inf
    for tries, spent in enumerate(poll(pause, FIRST_S, LONGEST_S, now=now), 1):
        try:
            return ask()
        except PASSING as error:
            if spent >= within:
                raise
            if tries <= _TOLD_TRIES or spent >= told_at + _TELL_EVERY_S:
                told_at = spent
                tell(error, within - spent)
    raise AssertionError("unreachable: the polling has no end")
