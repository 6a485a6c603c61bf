"""Days add up to what `slipway usage` says of all of them. # N19"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from functools import cache
from typing import Any

import pytest

from bench import month
from slipway.board.band import bands
from slipway.board.days import Days, days
from slipway.history.model import History
from slipway.history.timeline import timelines
from slipway.history.usage import usage


@cache
def past() -> History:
    return month.history(600)


@cache
def pools() -> Any:
    return timelines(past())


@cache
def the_bands() -> Any:
    return bands(pools(), past().jobs)


@cache
def by_day() -> Days:
    return days(past(), pools(), the_bands())


def test_hours_and_dollars_of_all_days_are_those_of_usage() -> None:
    of_pools = usage(past(), "pool")
    used = {row.name: row.machine_hours for row in of_pools.rows}
    idle = {row.pool: (row.machine_hours, row.unknown_hours) for row in of_pools.idle}
    for band, of_band in zip(the_bands(), by_day().bands, strict=True):
        assert sum(one.used for one in of_band.values()) == pytest.approx(used[band.name], rel=1e-6), band.name
        both = sum(one.idle for one in of_band.values()), sum(one.unknown for one in of_band.values())
        assert both == pytest.approx(idle.get(band.name, (0.0, 0.0))), band.name
    money = by_day().money.values()
    assert sum(one.used + one.idle for one in money) == pytest.approx(float(of_pools.total.pool_cost.known))
    assert sum(one.beside for one in money) == pytest.approx(float(of_pools.total.beside_cost.known))


def test_what_still_runs_is_counted_once() -> None:
    """Each of its days had the whole run up to then."""
    until = past().until
    running = (
        replace(job, ended=None, busy=(until - job.started).total_seconds()) for job in past().jobs[-40:] if job.started
    )
    now = replace(past(), jobs=(*past().jobs[:-40], *running))
    money, total = days(now, pools(), the_bands()).money.values(), usage(now).total
    assert sum(one.used + one.idle for one in money) == pytest.approx(float(total.pool_cost.known))
    assert sum(one.beside for one in money) == pytest.approx(float(total.beside_cost.known))


def test_a_pool_of_a_fixed_size_is_used_or_idle_all_the_time() -> None:
    cpu = next(of_band for band, of_band in zip(the_bands(), by_day().bands, strict=True) if band.name == "cpu/workers")
    assert sum(one.used + one.idle for one in cpu.values()) == pytest.approx(30 * 24 * 10)
    assert all(one.unknown == 0 for one in cpu.values())


def test_the_most_that_was_waited_for_is_told_of_each_day_that_it_lasted() -> None:
    job = next(job for job in past().jobs if job.cluster == "h100" and job.machines[0].count == 1)
    begin = past().since + timedelta(hours=1)
    waited = [
        replace(job, name=f"{job.name}{number}", created=begin, started=begin + timedelta(days=number))
        for number in (1, 2)
    ]
    history: History = replace(past(), jobs=tuple(waited))
    found = days(history, pools(), the_bands()).bands[0]
    assert [one.waited for one in found.values()][:4] == [2, 2, 1, 0]
