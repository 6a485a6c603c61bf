"""What went well stays with the code, so that any machine goes on from there. # N2"""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from bench.faults import __main__ as bench
from bench.faults import page
from bench.faults.journal import Entry, Journal

POINT = "create · POST /v1/a,b:getIamPolicy · 2"
PLAYED = (
    Entry("points", f"{POINT} · lost", "survived", {"why": "", "runs": 2}),
    Entry("points", f"{POINT} · cut", "absent", {"why": "its call did not come"}),
    Entry("points", "adopt · GET /a · 1 · 429", "survived", {"why": ""}),
    Entry("sequences", "12", "held", {"why": "", "steps": 5, "refused": 1}),
    Entry("mutants", "rules.py:f#1", "noticed", {"why": "assert 1 == 2", "test": "test_rules.py::test_f"}),
)


def journal(folder: Path, machine: str, code: str = "as it is") -> Journal:
    return Journal(folder / machine / "journal.jsonl", lambda kind, key: code, folder / "played")


def outcomes(of: Journal) -> dict[str, str]:
    return {key: one.outcome for kind in ("points", "sequences", "mutants") for key, one in of.entries(kind).items()}


def test_another_machine_goes_on_from_what_went_well(tmp_path: Path) -> None:
    here = journal(tmp_path, "here")
    for entry in PLAYED:
        here.add(entry)
    here.keep()
    there = journal(tmp_path, "there")
    assert outcomes(there) == outcomes(here) == {entry.key: entry.outcome for entry in PLAYED}
    assert there.entries("sequences")["12"].more == PLAYED[3].more
    there.add(Entry("points", f"{POINT} · 503", "survived", {"why": ""}))
    there.keep()
    assert len(outcomes(journal(tmp_path, "a third"))) == len(PLAYED) + 1


def test_what_did_not_go_well_is_played_again_elsewhere(tmp_path: Path) -> None:
    here = journal(tmp_path, "here")
    for entry in PLAYED:
        here.add(entry)
    here.keep()
    here.add(Entry("points", PLAYED[0].key, "stuck", {"why": "the same command does not end"}))
    here.keep()
    assert PLAYED[0].key in outcomes(here)
    assert PLAYED[0].key not in outcomes(journal(tmp_path, "there"))


def test_what_was_played_with_earlier_code_is_kept_as_such(tmp_path: Path) -> None:
    before = journal(tmp_path, "here", "before")
    for entry in PLAYED:
        before.add(entry)
    before.keep()
    now = journal(tmp_path, "there", "now")
    assert not outcomes(now) and len(now.earlier("points")) == 3
    now.add(PLAYED[0])
    now.keep()
    third = journal(tmp_path, "a third", "now")
    assert set(third.entries("points")) == {PLAYED[0].key} and len(third.earlier("points")) == 2


def test_tables_are_the_same_for_the_same_outcomes(tmp_path: Path) -> None:
    here, there = journal(tmp_path, "here"), journal(tmp_path, "there")
    texts = []
    for one, entries in ((here, PLAYED), (there, PLAYED[::-1])):
        for entry in entries:
            one.add(entry)
        one.keep()
        texts.append({file.name: file.read_text() for file in (tmp_path / "played").iterdir()})
    assert texts[0] == texts[1] and set(texts[0]) == {"points.csv", "sequences.csv", "mutants.csv"}


def test_what_was_played_is_written_also_when_it_is_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(chosen: argparse.Namespace, kept: Journal) -> int:
        kept.add(PLAYED[3])
        raise SystemExit(130)

    monkeypatch.setattr(bench, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(bench, "PLAYED", tmp_path / "played")
    monkeypatch.setattr(bench, "JOURNAL", tmp_path / "journal.jsonl")
    monkeypatch.setitem(bench._PLAYED, "sequences", interrupted)
    with pytest.raises(SystemExit, match="130"):
        bench.main(["sequences"])
    assert page.parse((tmp_path / "page.md").read_text()).sequences[0][1:3] == ("1", "5")
    assert (tmp_path / "played" / "sequences.csv").read_text().splitlines()[1].startswith("12,")
