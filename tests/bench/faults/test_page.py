"""The page is what the bench writes, and its figures are the journal's. # N2"""

from __future__ import annotations

from pathlib import Path

from bench.faults import page
from bench.faults.journal import Entry, Journal

PAGE = Path(__file__).parents[3] / "docs" / "reliability.md"


def played(key: str, outcome: str, why: str = "") -> Entry:
    return Entry("points", key, outcome, {"why": why})


def test_the_page_in_the_repository_is_of_the_benchs_form() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert page.render(page.parse(text)) == text


def test_it_counts_what_was_played_and_lists_what_was_not_survived() -> None:
    points = [
        played("create · GET /a · 1 · cut", "survived"),
        played("create · POST /a · 1 · lost", "orphaned", "clusters that\nthe state | does not know: cpu-a"),
    ]
    made = page.report(
        ("2026-11-21", "abc", "def", "11"),
        {"create": Entry("cleans", "create", "clean", {"calls": 2, "points": 20})},
        {point.key: point for point in points},
        {"11": Entry("sequences", "11", "held", {"steps": 5, "refused": 1, "why": ""})},
        {"rules.py:f#1": Entry("mutants", "rules.py:f#1", "missed", {"test": "t"})},
        rules=3,
    )
    assert made.journeys == (
        ("create", "20", "2", "1", "0", "0", "1", "0", "0", "0", "0", "0"),
        ("all", "20", "2", "1", "0", "0", "1", "0", "0", "0", "0", "0"),
    )
    assert made.failed == (
        ("`create · POST /a · 1 · lost`", "orphaned", "`clusters that the state / does not know: cpu-a`"),
    )
    assert made.sequences == (("500", "1", "5", "1", "0"),)
    assert made.mutants == (("3", "1", "0", "1", "0", "0"),)
    assert made.holes == (("`rules.py:f#1`", "missed"),)
    text = page.render(made)
    assert page.parse(text) == made
    assert "| all | 20 | 2 | 1 |" in text


def test_a_journal_is_taken_up_again_after_a_kill_and_void_for_other_code(tmp_path: Path) -> None:
    file = tmp_path / "kept" / "journal.jsonl"
    journal = Journal(file, "code")
    journal.add(played("a", "stuck"))
    journal.add(played("a", "survived"))
    with file.open("a") as cut_off:
        cut_off.write('{"code": "code", "kind"')
    assert journal.entries("points") == {"a": played("a", "survived")}
    assert journal.entries("mutants") == {}
    assert Journal(file, "other").entries("points") == {}
