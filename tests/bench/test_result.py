"""The reporting arithmetic of the benchmarks. No measurement is asserted here: the bars are `make bench`'s."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.result import Result, absolute

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
