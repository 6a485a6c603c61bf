"""Measuring and reporting of benchmarks: pairs, medians, honest memory, failures that are never numbers, and no
measurement asserted here. # B2 # B4"""

import json
import math
import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.errors import BenchError
from bench.measure import median, medians, run
from bench.pool import Sample, load
from bench.result import Result, absolute

POSITIVE = st.floats(1e-6, 1e6)


def silent(_: str) -> None:
    pass


def python(code: str) -> list[str]:
    return [sys.executable, "-S", "-E", "-c", code]


def test_pairs_alternate_and_the_first_is_not_counted() -> None:
    order: list[str] = []
    ours, theirs = iter([100.0, 1.0, 3.0, 2.0]), iter([100.0, 10.0, 30.0, 20.0])

    def side(name: str, values: object) -> float:
        order.append(name)
        return next(values)  # type: ignore[call-overload, no-any-return]

    assert medians(3, lambda: side("a", ours), lambda: side("b", theirs), silent) == (2.0, 20.0)
    assert order == ["a", "b"] * 4
    values = iter([100.0, 5.0, 1.0, 3.0])
    assert median(3, lambda: next(values), silent) == 3.0


def test_a_process_is_measured_alone(tmp_path: Path) -> None:
    held = bytearray(200_000_000)  # in this process: it must not be counted for the other
    sample = run(python("print('hello')"), os.environ, tmp_path)
    assert len(held) and sample.peak_mb < 60
    assert sample.output == "hello\n"
    assert sample.seconds > 0
    assert run(python("bytearray(150_000_000)"), os.environ, tmp_path).peak_mb > 140


def test_a_failed_command_is_an_error_with_its_words(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match="ended with 3:\nno such pool"):
        run(python("import sys; print('no such pool', file=sys.stderr); sys.exit(3)"), os.environ, tmp_path)
    with pytest.raises(BenchError, match="can't be started"):
        run([str(tmp_path / "missing")], os.environ, tmp_path)


@given(ours=POSITIVE, theirs=POSITIVE, bar=POSITIVE)
def test_a_speedup_is_the_mirror_of_a_ratio_and_the_bar_itself_is_met(ours: float, theirs: float, bar: float) -> None:
    ratio, speedup = Result("x", ours, theirs, bar), Result("x", theirs, ours, bar, speedup=True)
    assert ratio.ratio == speedup.ratio == pytest.approx(ours / theirs)
    assert ratio.ok is (ratio.ratio <= bar) and speedup.ok is (ratio.ratio >= bar)
    assert absolute("x", bar, bar).ok and not absolute("x", bar * 1.0001, bar).ok


@pytest.mark.parametrize("nothing", [0.0, -1.0, math.nan, math.inf])
def test_what_was_not_measured_is_no_result(nothing: float) -> None:
    for measured in ((nothing, 1.0, 1.0), (1.0, nothing, 1.0), (1.0, 1.0, nothing)):
        with pytest.raises(ValueError, match="not a measurement"):
            Result("x", *measured)


def test_a_result_is_one_line_of_json_whose_rounding_never_decides() -> None:
    line = absolute("x", 1.00001, 1.0).line()
    assert line == '{"name": "x", "ours": 1.0, "theirs": 1.0, "ratio": 1.0, "bar": 1.0, "ok": false}'
    assert json.loads(Result("submit", ours=0.123456, theirs=2.0, bar=1 / 6).line())["ratio"] == 0.06173


def test_machines_are_drawn_look_by_look() -> None:
    assert load([Sample(2, 2, 7), Sample(4, 4, 1), Sample(2, 0, 0)]) == [
        "machines      242",
        "busy          240",
        "jobs waiting  710",
    ]
