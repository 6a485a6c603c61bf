"""`metrics.json`: one shape, read from a job that may have written anything."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.using.jobs.metrics import (
    LONGEST_NAME,
    MOST_BYTES,
    MOST_NAMES,
    MOST_STEPS,
    Metrics,
    MetricStep,
    parse_metrics,
)

ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.just("step"), inner),
)


def parsed(value: object) -> Metrics:
    return parse_metrics(json.dumps(value).encode())


def test_numbers_by_name_are_the_metrics_and_the_rest_is_passed_over() -> None:  # N19
    found = parsed({"accuracy": 0.98, "trees": 50, "best": {"depth": 3}, "base": "gs://b", "done": True, "": 1})
    assert dict(found) == {"accuracy": 0.98, "trees": 50} and found.steps == () and found.source == "metrics.json"


def test_of_steps_the_last_number_of_each_name_counts() -> None:  # N19
    found = parsed([{"step": 2, "loss": 0.4}, {"step": 1, "loss": 0.9, "rate": 0.1}, {"step": 2, "accuracy": 0.98}])
    assert dict(found) == {"loss": 0.4, "rate": 0.1, "accuracy": 0.98}
    assert found.steps == (MetricStep(1, {"loss": 0.9, "rate": 0.1}), MetricStep(2, {"loss": 0.4, "accuracy": 0.98}))


@pytest.mark.parametrize(
    "entry",
    [{"loss": 1}, {"step": "1", "loss": 1}, {"step": 1.5, "loss": 1}, {"step": 1}, {"step": 1e300, "loss": 1}, [], 7],
)
def test_an_entry_without_a_step_or_a_number_is_passed_over(entry: object) -> None:
    assert dict(parsed([entry, {"step": 3, "loss": 0.5}])) == {"loss": 0.5}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff\xfe\x00",
        b"null",
        b"[]",
        b'"accuracy"',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"accuracy": NaN, "loss": -Infinity}',
        b'{"accuracy": ' + b"9" * 5000 + b"}",
        b'{"accuracy": 1e999}',
        b'{"\\ud800": 1}',
        json.dumps({"a" * (LONGEST_NAME + 1): 1}).encode(),
        b" " * (MOST_BYTES + 1),
    ],
)
def test_a_file_without_a_usable_number_says_why(content: bytes, no_garbage: None) -> None:
    found = parse_metrics(content)
    assert not found and found.steps == () and found.why.startswith("metrics.json ")


def test_names_and_steps_are_bounded() -> None:
    assert len(parsed({str(name): name for name in range(1000)})) == MOST_NAMES
    many = parsed([{"step": step, "loss": -step} for step in range(5000)])
    assert len(many.steps) == MOST_STEPS and dict(many) == {"loss": -4999}
    assert (many.steps[0].step, many.steps[-1].step) == (0, 4999)
    wide = parsed([{"step": step, str(step): 1} for step in range(1000)])
    assert len(wide) == MOST_NAMES


@given(ANY_JSON)
def test_whatever_a_job_writes_only_finite_numbers_come_out(value: object) -> None:
    found = parsed(value)
    numbers = [*found.values(), *(number for step in found.steps for number in step.values.values())]
    assert all(type(number) in (int, float) and math.isfinite(number) for number in numbers)
    assert bool(found) != bool(found.why)
