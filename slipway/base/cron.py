"""The longest time between two runs of a cron schedule. Pure.

Standard: `minute hour day-of-month month day-of-week`, each a list of `*`, numbers, ranges and steps, as GitHub reads
them: if both days are restricted, either one is enough.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from itertools import pairwise

_PART = re.compile(r"(?:\*|(\d+)(?:-(\d+))?)(?:/(\d+))?")
_BOUNDS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))
# Any year serves; two show the gap of a schedule that runs once a year.
_FIRST_DAY = datetime(2027, 1, 1)
_DAYS = 2 * 365 + 1
_NEVER = timedelta(0)


def longest_gap(schedule: str) -> timedelta:
    """Return the longest time between two runs within two years; 0 if the schedule can't be read or never runs."""
    fields = schedule.split()
    if len(fields) != len(_BOUNDS):
        return _NEVER
    allowed = []
    for field, (low, high) in zip(fields, _BOUNDS, strict=True):
        values = _values(field, low, high)
        if not values:
            return _NEVER
        allowed.append(values)
    runs = _runs(allowed, is_either=not (fields[2].startswith("*") or fields[4].startswith("*")))
    return max((after - before for before, after in pairwise(runs)), default=_NEVER)


def _values(field: str, low: int, high: int) -> set[int]:
    """Return the values of a field; none if it can't be read."""
    found: set[int] = set()
    for part in field.split(","):
        match = _PART.fullmatch(part)
        if match is None:
            return set()
        start = int(match[1] or low)
        # `5/15` begins at 5 and goes on.
        is_open = match[1] is None or (match[2] is None and match[3] is not None)
        end = high if is_open else int(match[2] or start)
        step = int(match[3] or 1)
        if step == 0 or end > high:
            return set()
        found.update(range(start, end + 1, step))
    return found


def _runs(allowed: list[set[int]], *, is_either: bool) -> list[datetime]:
    minutes, hours, days, months, weekdays = allowed
    times = [timedelta(hours=hour, minutes=minute) for hour in sorted(hours) for minute in sorted(minutes)]
    runs = []
    for number in range(_DAYS):
        day = _FIRST_DAY + timedelta(days=number)
        is_day = day.day in days
        # Sunday is 0 and 7.
        is_weekday = not weekdays.isdisjoint({day.isoweekday(), day.isoweekday() % 7})
        runs_today = (is_day or is_weekday) if is_either else (is_day and is_weekday)
        if day.month in months and runs_today:
            runs += [day + time for time in times]
    return runs
