"""Spaces and the search in them (vertex-rules 5.1): every point is inside, and the same for the same study."""

import math
from itertools import islice
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.cloud.vertex.tuning import search, space
from local.cloud.vertex.tuning.space import Assignment
from local.cloud.vertex.tuning.study import Study, study_of
from local.cloud.vertex.tuning.trial import Measurement, Trial, body, trial_of
from tests.local.cloud.vertex.tuning.conftest import LAYERS, LR, MODEL, UNITS, study

ALGORITHMS = ["ALGORITHM_UNSPECIFIED", "RANDOM_SEARCH", "GRID_SEARCH"]


def made(*parameters: Any, algorithm: str = "ALGORITHM_UNSPECIFIED") -> Study:
    return study_of(study(*parameters, algorithm=algorithm))


def searched(found: Study, count: int, seed: str = "s") -> list[Assignment]:
    points = (search.suggested(found, seed, earlier) for earlier in range(count))
    return [point for point in points if point is not None]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_point_has_each_parameter_once_and_is_inside_its_space(algorithm: str) -> None:
    parameters = [UNITS, LAYERS, MODEL]
    if algorithm != "GRID_SEARCH":
        parameters += [LR, {**LR, "parameterId": "back", "scaleType": "UNIT_REVERSE_LOG_SCALE"}]
    found = made(*parameters, algorithm=algorithm)
    for point in searched(found, 25):
        assert [name for name, _ in point] == [parameter.id for parameter in found.space]
        for parameter, (_, value) in zip(found.space, point, strict=True):
            if parameter.kind in ("categorical", "discrete"):
                assert value in parameter.values
            else:
                assert parameter.low <= float(value) <= parameter.high
                assert isinstance(value, int) == (parameter.kind == "integer")


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_same_study_gives_the_same_points_and_another_study_others(algorithm: str) -> None:
    parameters = [UNITS, LAYERS] if algorithm == "GRID_SEARCH" else [UNITS, LR]
    found = made(*parameters, algorithm=algorithm)
    first = searched(found, 9)
    assert searched(found, 9) == first
    assert (searched(found, 9, seed="other") == first) == (algorithm == "GRID_SEARCH")


def test_a_grid_is_walked_once() -> None:
    found = made(UNITS, MODEL, algorithm="GRID_SEARCH")
    points = searched(found, 100)
    assert len(points) == len(set(points)) == 3 * 2
    assert points[:2] == [(("units", 16.0), ("model", "svm")), (("units", 16.0), ("model", "tree"))]


def test_a_grid_of_many_points_costs_those_that_are_taken() -> None:
    wide = {"parameterId": "n", "integerValueSpec": {"minValue": "0", "maxValue": str(10**12)}}
    found = made(wide, {**wide, "parameterId": "m"}, algorithm="GRID_SEARCH")
    assert [dict(point)["m"] for point in islice(search.grid(found.space), 3)] == [0, 1, 2]


@given(
    low=st.floats(1e-6, 1e6),
    width=st.floats(0, 1e6),
    unit=st.floats(0, 1),
    scale=st.sampled_from(["UNIT_LINEAR_SCALE", "UNIT_LOG_SCALE", "UNIT_REVERSE_LOG_SCALE"]),
    kind=st.sampled_from(["double", "integer"]),
)
def test_a_place_in_a_scaled_range_is_in_the_range(
    low: float, width: float, unit: float, scale: str, kind: str
) -> None:
    bounds: dict[str, Any] = {"minValue": low, "maxValue": low + width}
    if kind == "integer":
        bounds = {"minValue": str(math.ceil(low)), "maxValue": str(math.ceil(low + width))}
    (parameter,) = space.space_of([{"parameterId": "x", f"{kind}ValueSpec": bounds, "scaleType": scale}])
    assert parameter.low <= float(space.at(parameter, unit)) <= parameter.high


def test_scales_spread_one_end_of_the_range() -> None:
    def middle(scale: str) -> float:
        spec = {"parameterId": "x", "doubleValueSpec": {"minValue": 1, "maxValue": 100}, "scaleType": scale}
        return float(space.at(space.space_of([spec])[0], 0.5))

    assert middle("UNIT_LINEAR_SCALE") == pytest.approx(50.5)
    assert middle("UNIT_LOG_SCALE") == pytest.approx(10)
    assert middle("UNIT_REVERSE_LOG_SCALE") == pytest.approx(91)


def test_integers_of_a_range_are_equally_likely_at_its_ends() -> None:
    (parameter,) = space.space_of([LAYERS])
    found = [space.at(parameter, (place + 0.5) / 300) for place in range(300)]
    assert {value: found.count(value) for value in (1, 2, 3)} == {1: 100, 2: 100, 3: 100}


@pytest.mark.parametrize(
    ("value", "text"), [(3, "3"), (32.0, "32"), (0.5, "0.5"), (1e-05, "1e-05"), ("svm", "svm"), (1e300, "1e+300")]
)
def test_arguments_are_written_as_people_parse_them(value: Any, text: str) -> None:
    assert space.argument(value) == text


VALUES = st.one_of(st.integers(-5, 5), st.floats(-1e3, 1e3), st.text(max_size=3))
MEASURED = st.builds(
    Measurement,
    st.integers(0, 9),
    st.integers(0, 10**6).map(lambda microseconds: microseconds / 1e6),
    st.lists(st.tuples(st.sampled_from(["acc", "loss"]), st.floats(-1e3, 1e3)), max_size=2).map(tuple),
)


@given(st.lists(st.tuples(st.text(min_size=1, max_size=3), VALUES), max_size=3), st.lists(MEASURED, max_size=3))
def test_a_trial_is_the_same_after_a_restart(parameters: Any, measurements: Any) -> None:
    trial = Trial("7", "ACTIVE", tuple(parameters), "jobs/1", tuple(measurements), start_time="2026-11-20T10:00:00Z")
    assert trial_of(body(trial)) == trial
