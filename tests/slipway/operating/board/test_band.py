"""Bands of machines: generations together, jobs in lanes of their own, and days that add up. # N19 # Z5"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench import month
from slipway.operating.board.band import MOST_BANDS, Band, bands, most_used, places
from slipway.operating.board.days import Days, days
from slipway.operating.board.lanes import Stay, arrange
from slipway.operating.history.model import History, PoolKey
from slipway.operating.history.timeline import PoolSpan, PoolTimeline, timelines
from slipway.operating.history.usage import usage
from tests.builders.clusters import cluster
from tests.builders.pools import pool

HOUR = timedelta(hours=1)


def timeline(id_: str, *spans: tuple[int, int, int | None, int]) -> PoolTimeline:
    listed = tuple(PoolSpan(month.SINCE + b * HOUR, month.SINCE + e * HOUR, live, most) for b, e, live, most in spans)
    workers = pool("workers", month.H100, 1)
    return PoolTimeline(PoolKey(id_, "workers"), cluster("h100", workers), workers, month.REGION, listed)


def spans_of(*timelines: PoolTimeline) -> list[tuple[float, float, int | None, int | None]]:
    (band,) = bands(timelines, ())
    return [((s.begin - month.SINCE) / HOUR, (s.end - month.SINCE) / HOUR, s.live, s.max) for s in band.spans]


def test_generations_that_are_there_at_once_are_added_up() -> None:
    assert spans_of(timeline("a", (0, 4, 2, 3)), timeline("b", (2, 6, 1, 3))) == [
        (0, 2, 2, 3),
        (2, 4, 3, 6),
        (4, 6, 1, 3),
    ]


def test_one_that_nobody_recorded_makes_the_sum_unknown() -> None:
    assert spans_of(timeline("a", (0, 4, None, 3)), timeline("b", (2, 6, 1, 3))) == [
        *((0, 2, None, 3), (2, 4, None, 6), (4, 6, 1, 3)),
    ]


def test_a_dormant_time_is_a_gap_and_neighbours_alike_are_one() -> None:
    assert spans_of(timeline("a", (0, 1, 2, 3), (1, 2, 2, 3)), timeline("b", (5, 6, 2, 3))) == [
        (0, 2, 2, 3),
        (5, 6, 2, 3),
    ]


def test_every_job_of_the_month_is_somewhere_and_waits_without_lanes() -> None:
    history = month.history(300)
    drawn = bands((), history.jobs)
    assert [row.name for row in drawn] == ["flex-start", "on-demand", "spot"]
    where = places(history, drawn)
    for job in history.jobs:
        beside = not job.cluster_id
        assert len(where[job.name]) == beside
        assert all(bool(place.lanes) == (job.started is not None) for place in where[job.name])


def test_of_hundreds_of_pools_those_with_the_most_jobs_are_drawn_in_their_order() -> None:
    history = month.history(300)
    many = [*bands((), history.jobs), *(Band(f"idle{number}/workers") for number in range(100))]
    kept = most_used([*many[3:], *many[:3]], history.jobs)
    assert len(kept) == MOST_BANDS
    assert [band.name for band in kept][-3:] == ["flex-start", "on-demand", "spot"]


BEGIN = datetime(2026, 11, 1, tzinfo=UTC)


def stay(begin: int, hours: int, count: int) -> Stay:
    return Stay(BEGIN + timedelta(hours=begin), BEGIN + timedelta(hours=begin + hours), count)


STAYS = st.lists(st.builds(stay, st.integers(0, 50), st.integers(1, 20), st.integers(1, 5)), max_size=40).map(
    lambda some: sorted(some, key=lambda item: item.begin)
)


@given(STAYS, st.integers(0, 12))
def test_each_has_its_machines_and_nobody_elses(stays: list[Stay], most: int) -> None:
    lanes = arrange(stays, most)
    taken = [{lane for low, high in row for lane in range(low, high)} for row in lanes]
    for place, stay in enumerate(stays):
        assert len(taken[place]) == stay.count
        others = [taken[at] for at, o in enumerate(stays) if at != place and o.begin < stay.end and stay.begin < o.end]
        assert not any(taken[place] & other for other in others)


@given(STAYS)
def test_a_pool_that_suffices_is_not_left(stays: list[Stay]) -> None:
    most = max((sum(o.count for o in stays if o.begin <= stay.begin < o.end) for stay in stays), default=0)
    assert all(high <= most for band in arrange(stays, most) for _, high in band)


def test_machines_lie_together_where_they_can() -> None:
    stays = [stay(0, 1, 1), stay(0, 5, 1), stay(0, 5, 2), stay(2, 1, 2)]
    assert arrange(stays, 6) == [((0, 1),), ((1, 2),), ((2, 4),), ((4, 6),)]


def test_a_job_that_finds_no_room_together_is_drawn_in_parts() -> None:
    stays = [stay(0, 1, 1), stay(0, 9, 1), stay(0, 1, 1), stay(2, 1, 2)]
    assert arrange(stays, 3)[-1] == ((0, 1), (2, 3))


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
        assert sum(row.used for row in of_band.values()) == pytest.approx(used[band.name], rel=1e-6), band.name
        both = sum(row.idle for row in of_band.values()), sum(row.unknown for row in of_band.values())
        assert both == pytest.approx(idle.get(band.name, (0.0, 0.0))), band.name
    money = by_day().money.values()
    assert sum(row.used + row.idle for row in money) == pytest.approx(float(of_pools.total.pool_cost.known))
    assert sum(row.beside for row in money) == pytest.approx(float(of_pools.total.beside_cost.known))


def test_the_most_that_was_waited_for_is_told_of_each_day_that_it_lasted() -> None:
    job = next(job for job in past().jobs if job.cluster == "h100" and job.machines[0].count == 1)
    begin = past().since + timedelta(hours=1)
    waited = [
        replace(job, name=f"{job.name}{number}", created=begin, started=begin + timedelta(days=number))
        for number in (1, 2)
    ]
    history: History = replace(past(), jobs=tuple(waited))
    found = days(history, pools(), the_bands()).bands[0]
    assert [row.waited for row in found.values()][:4] == [2, 2, 1, 0]
