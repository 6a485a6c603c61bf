"""Bands: generations together, what nobody recorded, and who is where. # N19"""

from dataclasses import replace
from datetime import timedelta

from bench import month
from slipway.board.band import MOST_BANDS, Band, Span, bands, most_used, places
from slipway.history.model import PoolKey
from slipway.history.timeline import PoolSpan, PoolTimeline
from slipway.prices import Price

HOUR = timedelta(hours=1)


def timeline(id_: str, *spans: tuple[int, int, int | None, int]) -> PoolTimeline:
    listed = tuple(
        PoolSpan(month.SINCE + b * HOUR, month.SINCE + e * HOUR, live, 0, most) for b, e, live, most in spans
    )
    return PoolTimeline(PoolKey(id_, "workers"), "h100", month.H100, month.REGION, Price(), listed)


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
    assert [one.name for one in drawn] == ["flex-start", "on-demand", "spot"]
    where = places(history, drawn)
    for job in history.jobs:
        beside = not job.cluster_id
        assert len(where[job.name]) == beside
        assert all(bool(place.lanes) == (job.started is not None) for place in where[job.name])


def test_a_band_has_its_newest_generations_machine_and_each_ones_beginning() -> None:
    older, newer = timeline("a", (0, 4, 2, 3)), replace(timeline("b", (2, 6, 1, 3)), machine=month.CPU)
    (band,) = bands((newer, older), ())
    came, went = month.SINCE + 2 * HOUR, month.SINCE + 4 * HOUR
    assert band.machine == month.CPU
    assert band.clusters == {"b": (came, None), "a": (month.SINCE, went)}
    assert (band.usual_max, band.most_live) == (3, 3)
    assert band.spans[0] == Span(month.SINCE, month.SINCE + 2 * HOUR, 2, 3)


def test_of_hundreds_of_pools_those_with_the_most_jobs_are_drawn_in_their_order() -> None:
    history = month.history(300)
    many = [*bands((), history.jobs), *(Band(f"idle{number}/workers") for number in range(100))]
    kept = most_used([*many[3:], *many[:3]], history.jobs)
    assert len(kept) == MOST_BANDS
    assert [one.name for one in kept][-3:] == ["flex-start", "on-demand", "spot"]
