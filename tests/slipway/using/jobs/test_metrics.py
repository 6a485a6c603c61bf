"""Outputs of a job that may have written anything: `metrics.json`, and the files that its objects become."""

import json
import math
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from slipway.google.storage import Location, StoredObject
from slipway.using.jobs.metrics import (
    LONGEST_NAME,
    MOST_BYTES,
    MOST_NAMES,
    MOST_STEPS,
    Metrics,
    MetricStep,
    newest_run,
    parse_metrics,
)
from slipway.using.jobs.outputs import PARTS, output_files

ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.just("step"), inner),
)


def parsed(value: object) -> Metrics:
    return parse_metrics(json.dumps(value).encode())


def test_numbers_by_name_are_the_metrics_and_the_rest_is_passed_over() -> None:  # N19
    result = parsed({"accuracy": 0.98, "trees": 50, "best": {"depth": 3}, "base": "gs://b", "done": True, "": 1})
    assert dict(result) == {"accuracy": 0.98, "trees": 50} and result.steps == () and result.source == "metrics.json"


def test_of_steps_the_last_number_of_each_name_counts() -> None:  # N19
    result = parsed([{"step": 2, "loss": 0.4}, {"step": 1, "loss": 0.9, "rate": 0.1}, {"step": 2, "accuracy": 0.98}])
    assert dict(result) == {"loss": 0.4, "rate": 0.1, "accuracy": 0.98}
    assert result.steps == (MetricStep(1, {"loss": 0.9, "rate": 0.1}), MetricStep(2, {"loss": 0.4, "accuracy": 0.98}))


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
    parsed = parse_metrics(content)
    assert not parsed and parsed.steps == () and parsed.why.startswith("metrics.json ")


def test_nan_and_infinity_are_told_by_name_also_where_an_earlier_step_had_a_number() -> None:
    found = parse_metrics(b'{"loss": NaN, "lr": 0.1}')
    assert dict(found) == {"lr": 0.1} and found.not_finite == {"loss": "NaN"}
    diverged = parse_metrics(b'[{"step": 1, "loss": 0.5}, {"step": 2, "loss": NaN}, {"step": 3, "a": Infinity}]')
    assert dict(diverged) == {} and diverged.not_finite == {"loss": "NaN", "a": "Infinity"}
    assert diverged.why == "metrics.json has no finite number: loss is NaN and a is Infinity"


def test_names_and_steps_are_bounded() -> None:
    assert len(parsed({str(name): name for name in range(1000)})) == MOST_NAMES
    many = parsed([{"step": step, "loss": -step} for step in range(5000)])
    assert len(many.steps) == MOST_STEPS and dict(many) == {"loss": -4999}
    assert (many.steps[0].step, many.steps[-1].step) == (0, 4999)
    wide = parsed([{"step": step, str(step): 1} for step in range(1000)])
    assert len(wide) == MOST_NAMES


@given(ANY_JSON)
def test_whatever_a_job_writes_only_finite_numbers_come_out(value: object) -> None:
    result = parsed(value)
    numbers = [*result.values(), *(number for step in result.steps for number in step.values.values())]
    assert all(type(number) in (int, float) and math.isfinite(number) for number in numbers)
    assert bool(result) != bool(result.why)


UNDER = "jobs/tune/"


def test_a_session_s_are_those_of_its_newest_run_that_has_some() -> None:  # N25
    names = ["o/run-10/metrics.json", "o/run-9/metrics.json", "o/run-11/log", "o/run-12/a/metrics.json"]
    assert newest_run(names, "o/metrics.json") == "o/run-10/metrics.json"
    assert newest_run(["o/run-1/log"], "o/metrics.json") == "o/metrics.json"


def stored(name: str, size: int = 3) -> StoredObject:
    return StoredObject(Location("work", f"{UNDER}{name}"), size, "1", "", None)


def test_names_below_the_output_directory_become_paths() -> None:
    folders = stored("", 0), stored("logs/", 0)
    files, left = output_files([*folders, stored("metrics.json"), stored("logs/a b/events.1")], UNDER)
    assert [str(file.path) for file in files] == ["metrics.json", "logs/a b/events.1"] and left == []


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("../tune2/model", "its name leads to another folder"),
        ("logs/../../../.bashrc", "its name leads to another folder"),
        ("logs/.", "its name leads to another folder"),
        ("/etc/passwd", "a part of its name is empty"),
        ("logs//events", "a part of its name is empty"),
        ("logs/", "a part of its name is empty"),
        ("a\0b", "its name has a null character"),
        ("\udce9", "its name is not valid UTF-8"),
        ("é" * 128, "a part of its name is longer than 255 bytes"),
        (f"{PARTS}/0", f"{PARTS} is for what has not arrived wholly"),
    ],
)
def test_what_can_be_no_path_below_a_folder_is_left_out_and_said(name: str, why: str) -> None:
    files, (left,) = output_files([stored(name), stored("kept")], UNDER)
    assert [str(file.path) for file in files] == ["kept"]
    assert (left.name, left.why) == (f"{UNDER}{name}", why)


def test_a_name_that_others_have_as_their_folder_is_left_out(snapshot: SnapshotAssertion) -> None:
    files, left = output_files([stored("model"), stored("model/weights")], UNDER)
    assert [str(file.path) for file in files] == ["model/weights"]
    assert [(part.name, part.why) for part in left] == snapshot


@given(st.lists(st.text("./a\\\0é", max_size=8), unique=True))
def test_whatever_they_are_called_every_object_is_a_file_in_the_folder_or_left_out(names: list[str]) -> None:
    files, left = output_files([stored(name) for name in names], UNDER)
    assert len(files) + len(left) == len(names)
    folder = Path("/folder")
    for file in files:
        assert (folder / file.path).resolve(strict=False).is_relative_to(folder) and file.path != PurePosixPath(".")
    assert len({file.path for file in files}) == len(files)
