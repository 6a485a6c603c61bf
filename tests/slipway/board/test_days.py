"""Days add up to what jobs had, and to what was up. # N19"""

from datetime import timedelta

import pytest

from bench import month
from slipway.board.band import bands, machines_on
from slipway.board.days import days
from slipway.history.model import History
from slipway.history.timeline import timelines

HISTORY = month.history(600)


def machine_hours(history: History, band: str) -> float:
    found = 0.0
    for job in history.jobs:
        if job.started:
            end = min(job.ended or history.until, history.until)
            hours = (end - max(job.started, history.since)) / timedelta(hours=1)
            found += max(0.0, hours) * machines_on(job).get(band, 0)
    return found


def test_used_hours_are_those_of_jobs() -> None:
    drawn = bands(timelines(HISTORY), HISTORY.jobs)
    daily = days(HISTORY, drawn)
    for band, of_band in zip(drawn, daily.bands, strict=True):
        assert sum(one.used for one in of_band.values()) == pytest.approx(machine_hours(HISTORY, band.name))


def test_used_and_idle_are_what_was_up_where_that_is_known() -> None:
    drawn = bands(timelines(HISTORY), HISTORY.jobs)
    fixed = [(band, of_band) for band, of_band in zip(drawn, days(HISTORY, drawn).bands, strict=True) if band.pooled]
    for band, of_band in fixed:
        known = sum((one.end - one.begin) / timedelta(hours=1) * one.live for one in band.spans if one.live is not None)
        unknown = sum((one.end - one.begin) / timedelta(hours=1) for one in band.spans if one.live is None)
        assert sum(one.unknown for one in of_band.values()) == pytest.approx(unknown)
        assert sum(one.idle for one in of_band.values()) <= known + 1e-6
    cpu = next(of_band for band, of_band in fixed if band.name == "cpu/workers")
    assert sum(one.used + one.idle for one in cpu.values()) == pytest.approx(30 * 24 * 10)


def test_money_is_machine_hours_at_their_price_and_the_jobs_beside() -> None:
    drawn = bands(timelines(HISTORY), HISTORY.jobs)
    daily = days(HISTORY, drawn)
    pools = [(band, of_band) for band, of_band in zip(drawn, daily.bands, strict=True) if band.pooled]
    used = sum(float(band.per_hour.known) * one.used for band, of_band in pools for one in of_band.values())
    assert sum(day.used for day in daily.money.values()) == pytest.approx(used)
    beside = sum(float(job.cost.known) for job in HISTORY.jobs if job.cost and not job.cluster_id)
    assert sum(day.beside for day in daily.money.values()) == pytest.approx(beside)
