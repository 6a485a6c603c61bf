"""A report is of its commit, is taken up again, and counts what was played. # N2"""

from pathlib import Path

import pytest

from bench.faults import __main__ as bench
from bench.faults.report import Entry, Report

GET, POST = "create · GET /a · {} · cut", "create · POST /a · {} · lost"
PLAYED = (
    Entry("cleans", "create", "clean", more={"points": 20, "kinds": 3}),
    Entry("points", GET.format(1), "survived"),
    Entry("points", GET.format(2), "survived"),
    Entry("points", POST.format(1), "orphaned", "clusters that\nthe state | does not know: cpu-a"),
    Entry("sequences", "11", "held", more={"steps": 5, "refused": 1}),
    Entry("mutants", "rules.py:f#1", "missed", "of 2 tests"),
)


def test_a_run_of_the_same_commit_goes_on_and_plays_again_what_did_not_go_well(tmp_path: Path) -> None:
    for entry in PLAYED:
        Report(tmp_path, "abc").add(entry)
    with (tmp_path / "abc.jsonl").open("a") as file:
        file.write('{"part": "points", "ke')  # A kill.
    again = Report(tmp_path, "abc")
    assert again.done("points") == {GET.format(1), GET.format(2)}
    again.add(Entry("points", POST.format(1), "survived"))
    assert Report(tmp_path, "abc").done("points") == {GET.format(1), GET.format(2), POST.format(1)}
    assert Report(tmp_path, "def").done("points") == set()
    Report(tmp_path, "abc-dirty").add(PLAYED[1])
    assert Report(tmp_path, "abc-dirty").entries("points") == {}


def test_its_page_counts_and_lists_what_did_not_go_well(tmp_path: Path) -> None:
    report = Report(tmp_path, "abc")
    for entry in PLAYED:
        report.add(entry)
    report.write("2026-11-21, seed 11.")
    page = report.page.read_text()
    assert page.startswith("# Faults played at `abc`\n\n2026-11-21, seed 11.\n")
    for row in (
        "| create | 20 | 3 | 2 | 2 | 0 | 0 | 1 | 0 | 0 | 0 | 0 | 0 |",
        "| all | 20 | 3 | 2 | 2 | 0 | 0 | 1 | 0 | 0 | 0 | 0 | 0 |",
        "| 1 | 5 | 1 | 1 |",
        "| 0 | 1 | 0 | 0 |",
        f"| points | {POST.format(1)} | orphaned | clusters that the state / does not know: cpu-a |",
        "| mutants | rules.py:f#1 | missed | of 2 tests |",
    ):
        assert row in page


def test_what_was_played_is_reported_also_when_it_is_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends = list[float]()

    def begins(chosen: object, report: Report, until: float) -> int:
        ends.append(until)
        return 0

    def interrupted(chosen: object, report: Report, until: float) -> int:
        report.add(PLAYED[1])
        raise SystemExit(130)

    monkeypatch.setattr(bench, "REPORTS", tmp_path)
    monkeypatch.setattr(bench, "commit", lambda: "abc")
    monkeypatch.setattr(bench, "_PLAY", {"mutants": begins, "sequences": begins, "points": interrupted})
    with pytest.raises(SystemExit, match="130"):
        bench.main(["--minutes", "8"])
    assert ends[0] < ends[1]
    assert "8 minutes" in (tmp_path / "abc.md").read_text()
