"""Rows of small columns: one axis of time, a scale of 0 to 100 %, and nothing where nothing was measured."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from slipway.front.cli.terminal.chart import in_short, sparks
from slipway.google.monitoring import ACCELERATOR, CPU, Point, Series
from slipway.using.jobs.utilization import UtilizationRow

BEGIN = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def points(values: Mapping[float, float]) -> tuple[Point, ...]:
    return tuple(Point(BEGIN + timedelta(seconds=at), value) for at, value in values.items())


def every(step: float, *values: float) -> tuple[Point, ...]:
    return points({n * step: value for n, value in enumerate(values)})


def test_a_column_a_sample_where_there_is_room() -> None:  # Z5
    assert sparks([every(5, 0, 0.2, 0.5, 0.8, 1)], 60) == ["▁▂▅▇█"]


def test_a_time_without_samples_stays_empty_and_rows_share_their_axis() -> None:
    both = sparks([points({0: 1, 5: 1, 20: 1, 25: 1}), points({20: 0, 25: 0})], 60)
    assert both == ["██  ██", "    ▁▁"]


@given(st.lists(st.tuples(st.floats(0, 1e6), st.floats(-1, 2)), min_size=1, max_size=50), st.integers(2, 60))
def test_it_is_never_wider_than_the_room(samples: list[tuple[float, float]], width: int) -> None:
    (text,) = sparks([tuple(sorted(points(dict(samples)), key=lambda point: point.at))], width)
    assert 1 <= len(text) <= width + 1


def test_a_glance_is_the_mean_of_all_replicas(snapshot: SnapshotAssertion) -> None:
    rows = [
        UtilizationRow.of(task, "", Series(metric, "7", task, "", every(5, *values)))
        for metric, task, values in (
            (CPU, "workerpool0-0", (0.0, 0.2)),
            (CPU, "workerpool0-1", (1.0, 1.0)),
            (ACCELERATOR, "workerpool0-0", (0.9,)),
        )
    ]
    assert in_short(rows) == snapshot
    assert in_short([]) == ""
