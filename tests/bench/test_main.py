"""The command: what it prints where, and how it ends."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import bench.__main__ as command
from bench.errors import BenchError
from bench.ground import Ground, Tell
from bench.result import Result, absolute


def benchmark(*results: Result) -> command.Benchmark:
    def measure(ground: Ground, runs: int, tell: Tell) -> list[Result]:
        tell(f"measured with {runs} runs")
        return list(results)

    return command.Benchmark(tuple(result.name for result in results), measure)


def broken(ground: Ground, runs: int, tell: Tell) -> list[Result]:
    raise BenchError("no engine")


GOOD, BAD = absolute("good", 1, 2), absolute("bad", 3, 2)


def test_json_alone_on_stdout_progress_on_stderr(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "BENCHMARKS", (benchmark(GOOD),))
    assert command.main(["--runs", "3"]) == 0
    printed = capsys.readouterr()
    assert [json.loads(line)["name"] for line in printed.out.splitlines()] == ["good"]
    assert "measured with 3 runs" in printed.err


def test_a_missed_bar_is_exit_1(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(command, "BENCHMARKS", (benchmark(GOOD, BAD),))
    assert command.main([]) == 1
    assert [json.loads(line)["ok"] for line in capsys.readouterr().out.splitlines()] == [True, False]


def test_only_one_of_them(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(command, "BENCHMARKS", (benchmark(GOOD, BAD), command.Benchmark(("ugly",), broken)))
    assert command.main(["--only", "good"]) == 0
    assert [json.loads(line)["name"] for line in capsys.readouterr().out.splitlines()] == ["good"]


def test_what_can_not_be_measured_is_no_number(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "BENCHMARKS", (command.Benchmark(("ugly",), broken), benchmark(GOOD)))
    assert command.main([]) == 1
    printed = capsys.readouterr()
    ugly, good = (json.loads(line) for line in printed.out.splitlines())
    assert ugly == {"name": "ugly", "ok": False, "why": "no engine"}
    assert good["name"] == "good" and good["ok"], "the others are still measured"
    assert "measured\n  why: no engine" in printed.err


def test_whatever_goes_wrong_ends_one_benchmark_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An answer that nobody expected, or a benchmark's own mistake, ended all that came after it."""

    def lost(ground: Ground, runs: int, tell: Tell) -> list[Result]:
        raise KeyError("customJobs")

    monkeypatch.setattr(command, "BENCHMARKS", (command.Benchmark(("one", "two"), lost), benchmark(GOOD)))
    assert command.main(["--only", "two", "--only", "good"]) == 1
    printed = capsys.readouterr()
    assert [(one["name"], one["ok"]) for one in map(json.loads, printed.out.splitlines())] == [
        ("two", False),
        ("good", True),
    ]
    assert "Traceback" in printed.err


@pytest.mark.parametrize("wrong", [["--runs", "0"], ["--runs", "many"], ["--only", "nothing"]])
def test_bad_flags_are_exit_2(wrong: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main(wrong)
    assert ended.value.code == 2


def test_the_bars_of_the_design_are_measured() -> None:
    names = [name for each in command.BENCHMARKS for name in each.names]
    assert len(names) == len(set(names))
    assert set(names) == {
        "help",
        "local-cloud-start",
        "submit",
        "submit-vs-sdk",
        "submit-memory",
        "submit-round-trips",
        "submit-vs-by-hand",
        "sweep-vs-sdk-loop",
        "sweep-vs-sdk-threads",
        "sweep-rate",
        "sweep-rate-calls",
        "start-warm-vs-first",
        "start-pool-vs-own",
        "pool-elastic",
        "preview-vs-bare",
        "stack-scale",
        "list-10000",
        "review",
        "review-many-events",
        "what-if-10000",
        "what-if-error",
        "board",
        "board-size",
    }


def test_the_guide_has_a_row_for_each_of_them() -> None:
    guide = (Path(command.__file__).parents[1] / "docs" / "testing.md").read_text()
    rows = re.findall(r"^\| `([a-z0-9-]+)` \|", guide.partition("## The bars")[2], re.MULTILINE)
    assert sorted(rows) == sorted(name for each in command.BENCHMARKS for name in each.names)
