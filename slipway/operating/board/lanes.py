"""Lanes of a band: the machines of a pool that a job is drawn on, without overlaps. Pure.

The service tells how many machines a job has, never which: a lane is only a place in a picture.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from heapq import heappop, heappush

Lanes = tuple[tuple[int, int], ...]
"""Ranges of lanes, each from its first up to, and not including, the second."""


@dataclass(frozen=True)
class Stay:
    """Machines that a job had from one moment to another, the end not included."""

    begin: datetime
    end: datetime
    count: int


def arrange(stays: Iterable[Stay], most: int) -> list[Lanes]:
    """Give each stay the lowest adjacent lanes, else the lowest of all; beyond `most` only where those below are taken.
    `stays` are in the order of their beginnings."""
    free, top = [(0, most)] if most else [], most
    ends: list[tuple[datetime, Lanes]] = []
    lanes_of = []
    for stay in stays:
        while ends and ends[0][0] <= stay.begin:
            for lane in heappop(ends)[1]:
                insort(free, lane)
        free = _joined(free)
        taken, free = _take(free, stay.count)
        lacking = stay.count - sum(high - low for low, high in taken)
        if lacking:
            taken.append((top, top + lacking))
            top += lacking
        lanes = tuple(_joined(taken))
        heappush(ends, (stay.end, lanes))
        lanes_of.append(lanes)
    return lanes_of


def _take(free: list[tuple[int, int]], count: int) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    whole = next((lane_range for lane_range in free if lane_range[1] - lane_range[0] >= count), None)
    taken: list[tuple[int, int]] = []
    left: list[tuple[int, int]] = []
    for low, high in free:
        here = 0 if whole and (low, high) != whole else min(count, high - low)
        count -= here
        if here:
            taken.append((low, low + here))
        if low + here < high:
            left.append((low + here, high))
    return taken, left


def _joined(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for low, high in ranges:
        if joined and joined[-1][1] == low:
            joined[-1] = (joined[-1][0], high)
        else:
            joined.append((low, high))
    return joined
