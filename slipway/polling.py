"""Waiting for a state of the cloud: look, pause, look again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf


def poll(
    pause: Callable[[float], object],
    first: float,
    longest: float = 0.0,
    *,
    within: float = inf,
    now: Callable[[], float] | None = None,
) -> Iterator[float]:
    """Yield the seconds spent before each look, 0 before the first; end when `within` is over.

    A pause takes `first` seconds, then twice as long each time, up to `longest`. `now` is a clock in seconds; without
    it the pauses alone count.
    """
    began, spent, wait = now() if now else 0.0, 0.0, first
    while True:
        yield spent
        spent = now() - began if now else spent
        if spent >= within:
            return
        wait = min(wait, within - spent)
        pause(wait)
        spent = now() - began if now else spent + wait
        wait = min(2 * wait, max(first, longest))
