"""The command: what it prints where, and how it ends."""

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


def broken(why: Exception, *names: str) -> command.Benchmark:
    def measure(ground: Ground, runs: int, tell: Tell) -> list[Result]:
        raise why

    return command.Benchmark(names, measure)


GOOD, BAD = absolute("good", 1, 2), absolute("bad", 3, 2)


def test_json_is_alone_on_stdout_and_a_missed_bar_is_exit_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "BENCHMARKS", (benchmark(GOOD, BAD),))
    assert command.main(["--runs", "3"]) == 1
    printed = capsys.readouterr()
    assert [json.loads(line)["ok"] for line in printed.out.splitlines()] == [True, False]
    assert "measured with 3 runs" in printed.err
    assert command.main(["--only", "good"]) == 0
    assert [json.loads(line)["name"] for line in capsys.readouterr().out.splitlines()] == ["good"]


def test_what_can_not_be_measured_is_no_number_and_ends_one_benchmark_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    failing = broken(BenchError("no engine"), "ugly"), broken(KeyError("customJobs"), "one", "two")
    monkeypatch.setattr(command, "BENCHMARKS", (*failing, benchmark(GOOD)))
    assert command.main(["--only", "ugly", "--only", "two", "--only", "good"]) == 1
    printed = capsys.readouterr()
    ugly, lost, good = (json.loads(line) for line in printed.out.splitlines())
    assert ugly == {"name": "ugly", "ok": False, "why": "no engine"}
    assert (lost["name"], lost["ok"], good["name"], good["ok"]) == ("two", False, "good", True)
    assert "measured\n  why: no engine" in printed.err and "Traceback" in printed.err


@pytest.mark.parametrize("wrong", [["--runs", "0"], ["--runs", "many"], ["--only", "nothing"]])
def test_bad_flags_are_exit_2(wrong: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main(wrong)
    assert ended.value.code == 2


def test_the_guide_has_a_row_for_each_of_them() -> None:
    guide = (Path(command.__file__).parents[1] / "docs" / "testing.md").read_text()
    rows = re.findall(r"^\| `([a-z0-9-]+)` \|", guide.partition("## The bars")[2], re.MULTILINE)
    assert sorted(rows) == sorted(name for each in command.BENCHMARKS for name in each.names)
