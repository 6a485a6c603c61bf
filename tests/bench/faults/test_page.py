"""The page is what the bench writes, and its figures are the journal's. # N2"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from bench.faults import page
from bench.faults.journal import Entry, Journal
from bench.faults.points import Point

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
    kinds = frozenset({"create · GET /a · cut", "create · GET /a · 429", "create · POST /a · lost"})
    edited = Entry("sequences", "11", "held", {"steps": 5, "refused": 1, "why": ""})
    mutant = Entry("mutants", "rules.py:f#1", "missed", {"test": "t"})
    before = [played("create · GET /a · 1 · 429", "survived"), played("create · GET /a · 1 · 503", "silent", "no word")]
    made = page.report(
        ("2026-11-21", "abc", "11"),
        [page.Row("create", "def", 20, 4, kinds)],
        page.Record({point.key: point for point in points}, {point.key: point for point in before}),
        page.Record({"11": edited}, {"12": replace(edited, key="12", outcome="broken")}),
        page.Record({mutant.key: mutant}, {}),
        rules=3,
    )
    counted = ("20", "4", "2", "1", "0", "0", "1", "0", "0", "0", "0", "0", "2", "1", "3", "2")
    assert made.journeys == (("create", "`def`", *counted), ("all", "–", *counted))
    assert made.failed == (
        ("`create · POST /a · 1 · lost`", "this", "orphaned", "`clusters that the state / does not know: cpu-a`"),
        ("`create · GET /a · 1 · 503`", "earlier", "silent", "`no word`"),
    )
    assert made.sequences == (("500", "1", "5", "1", "0", "1", "0"),)
    assert made.broken == (("12", "earlier", "–"),)
    assert made.mutants == (("3", "1", "0", "1", "0", "0", "0", "0"),)
    assert made.holes == (("`rules.py:f#1`", "this", "missed"),)
    text = page.render(made)
    assert page.parse(text) == made
    assert "| all | – | 20 | 4 | 2 | 1 |" in text


def test_what_was_played_of_a_point_that_is_the_same_as_another_is_that_ones_outcome() -> None:
    same = {"create · GET /a · 1 · lost": Point("create", "GET /a", 1, "before")}
    lost, before = (played(f"create · GET /a · 1 · {fault}", "survived") for fault in ("lost", "before"))
    assert page.folded({lost.key: lost}, same) == {before.key: before}
    bad = replace(lost, outcome="silent")
    assert page.folded({lost.key: bad, before.key: before}, same) == {before.key: replace(before, outcome="silent")}


def test_what_was_met_of_a_kind_is_tried_and_what_never_came_is_not() -> None:
    kinds = frozenset({"create · GET /a · cut", "create · GET /a · 429"})
    entries = [played("create · GET /a · 1 · cut", "survived"), played("create · GET /a · 2 · 429", "absent")]
    points = page.Record({one.key: one for one in entries}, {})
    empty = page.Record({}, {})
    made = page.report(("d", "c", "11"), [page.Row("create", "def", 9, 0, kinds)], points, empty, empty, 0)
    assert [row[-2:] for row in made.journeys] == [("2", "1")] * 2


def test_what_is_asked_for_no_more_is_not_counted() -> None:
    one, gone = played("create · GET /a · 1 · cut", "survived"), played("create · GET /b · 1 · cut", "stuck")
    kept = page.record({one.key: one}, {gone.key: gone}, {one.key})
    assert kept == page.Record({one.key: one}, {})


def test_a_journal_is_taken_up_again_after_a_kill_and_void_for_other_code(tmp_path: Path) -> None:
    file = tmp_path / "kept" / "journal.jsonl"
    journal = Journal(file, lambda kind, key: f"{kind} as it is", tmp_path)
    journal.add(played("a", "stuck"))
    journal.add(played("a", "survived"))
    with file.open("a") as cut_off:
        cut_off.write('{"code": "points as it is", "kind"')
    assert journal.entries("points") == {"a": played("a", "survived")}
    assert journal.entries("mutants") == {}
    assert journal.earlier("points") == {}
    other = Journal(file, lambda kind, key: "other", tmp_path)
    assert other.entries("points") == {}
    assert other.earlier("points") == {"a": played("a", "survived")}
    other.add(played("a", "silent"))
    assert other.entries("points") == {"a": played("a", "silent")}
    assert journal.entries("points") == {"a": played("a", "survived")}, (
        "what is played with other code makes nothing old"
    )
