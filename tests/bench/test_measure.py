"""Measuring and reporting of benchmarks: pairs, medians, honest memory, failures that are never numbers, and no
measurement asserted here. # B2 # B4"""

from __future__ import annotations

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
from bench.pool import MACHINE_S, Sample, load, started
from bench.result import Result, absolute


def silent(_: str) -> None:
    pass


def test_pairs_alternate_and_the_first_pair_is_not_counted() -> None:
    order: list[str] = []
    ours, theirs = iter([100.0, 1.0, 3.0, 2.0]), iter([100.0, 10.0, 30.0, 20.0])

    def side(name: str, values: object) -> float:
        order.append(name)
        return next(values)  # type: ignore[call-overload, no-any-return]

    assert medians(3, lambda: side("a", ours), lambda: side("b", theirs), silent) == (2.0, 20.0)
    assert order == ["a", "b"] * 4


def test_a_single_side_skips_its_first_run_too() -> None:
    values = iter([100.0, 5.0, 1.0, 3.0])
    assert median(3, lambda: next(values), silent) == 3.0


def python(code: str) -> list[str]:
    return [sys.executable, "-S", "-E", "-c", code]


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


POSITIVE = st.floats(1e-6, 1e6)


class TestRatio:
    def test_ours_over_theirs_against_a_maximum(self) -> None:
        result = Result("submit", ours=0.2, theirs=2.0, bar=1 / 6)
        assert result.ratio == pytest.approx(0.1)
        assert result.ok
        assert not Result("submit", ours=0.5, theirs=2.0, bar=1 / 6).ok

    def test_an_absolute_bar_stands_as_theirs(self) -> None:
        result = absolute("memory", 48.0, 64.0)
        assert (result.theirs, result.bar, result.ratio) == (64.0, 1.0, 0.75)
        assert result.ok
        assert not absolute("memory", 65.0, 64.0).ok

    def test_a_speedup_is_theirs_over_ours_against_a_minimum(self) -> None:
        result = Result("sweep", ours=1.0, theirs=25.0, bar=20.0, speedup=True)
        assert result.ratio == 25.0
        assert result.ok
        assert not Result("sweep", ours=2.0, theirs=25.0, bar=20.0, speedup=True).ok

    @given(limit=POSITIVE)
    def test_the_bar_itself_is_met(self, limit: float) -> None:
        assert absolute("x", limit, limit).ok
        assert not absolute("x", limit * 1.0001, limit).ok

    @given(ours=POSITIVE, theirs=POSITIVE, bar=POSITIVE)
    def test_a_speedup_is_the_mirror_of_a_ratio(self, ours: float, theirs: float, bar: float) -> None:
        ratio, speedup = Result("x", ours, theirs, bar), Result("x", theirs, ours, bar, speedup=True)
        assert ratio.ratio == speedup.ratio
        if ratio.ratio != bar:
            assert ratio.ok is not speedup.ok

    @pytest.mark.parametrize("nothing", [0.0, -1.0, math.nan, math.inf])
    def test_what_was_not_measured_is_no_result(self, nothing: float) -> None:
        for measured in ((nothing, 1.0, 1.0), (1.0, nothing, 1.0), (1.0, 1.0, nothing)):
            with pytest.raises(ValueError, match="not a measurement"):
                Result("x", *measured)


class TestLine:
    def test_is_one_json_object_with_these_keys(self) -> None:
        line = Result("submit", ours=0.123456, theirs=2.0, bar=1 / 6).line()
        assert "\n" not in line
        assert json.loads(line) == {
            "name": "submit",
            "ours": 0.1235,
            "theirs": 2.0,
            "ratio": 0.06173,
            "bar": 0.1667,
            "ok": True,
        }
        assert list(json.loads(line)) == ["name", "ours", "theirs", "ratio", "bar", "ok"]

    def test_rounding_never_decides(self) -> None:
        shown = json.loads(absolute("x", 1.00001, 1.0).line())
        assert shown["ratio"] == 1.0
        assert shown["ok"] is False


def test_each_start_shows_what_it_waits_for() -> None:
    own, first, warm = started(own=MACHINE_S + 4.5, first=4.0, warm=0.5)[1:]
    assert own.split()[-8:] == ["5", "s", "4.0", "s", "0.5", "s", "9.5", "s"]
    assert first.split()[-7:] == ["–", "3.5", "s", "0.5", "s", "4.0", "s"]
    assert warm.split()[-6:] == ["–", "–", "0.5", "s", "0.5", "s"]


def test_machines_are_drawn_look_by_look() -> None:
    assert load([Sample(2, 2, 7), Sample(4, 4, 1), Sample(2, 0, 0)]) == [
        "machines      242",
        "busy          240",
        "jobs waiting  710",
    ]
