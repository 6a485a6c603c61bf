"""How benchmarks measure: pairs, medians, honest memory, and failures that are never numbers."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from bench.errors import BenchError
from bench.measure import median, medians, run


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
