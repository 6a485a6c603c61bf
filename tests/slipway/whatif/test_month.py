"""The made month has the shapes that it says: a long tail, days and nights, few large jobs. # N16"""

from __future__ import annotations

from collections import Counter
from functools import cache
from statistics import mean, median

from slipway.machines.spec import MachineSpec
from slipway.whatif.model import ReplayedJob
from tests.slipway.whatif.month import DAY, month


@cache
def jobs() -> list[ReplayedJob]:
    return month(5000, MachineSpec("n1-standard-8"))


def test_run_times_have_a_long_tail() -> None:
    runs = [one.run for one in jobs()]
    assert 9 * 60 < median(runs) < 15 * 60 and mean(runs) > 3 * median(runs) and max(runs) > DAY / 2


def test_days_are_busier_than_nights_and_weekends() -> None:
    hours = Counter(int(one.created % DAY // 3600) for one in jobs())
    assert sum(hours[hour] for hour in range(10, 18)) > 2 * sum(hours[hour] for hour in range(8))
    weekend = sum(int(one.created // DAY) % 7 >= 5 for one in jobs())
    assert weekend / len(jobs()) < 0.2


def test_most_jobs_take_one_machine() -> None:
    sizes = Counter(one.machines[0].count for one in jobs())
    assert sizes[1] > 0.65 * len(jobs()) and sizes[1] > sizes[2] > sizes[4] > sizes[8] > 0


def test_a_seed_gives_the_same_month() -> None:
    assert jobs() == month(5000, MachineSpec("n1-standard-8")) != month(5000, MachineSpec("n1-standard-8"), seed=2)
