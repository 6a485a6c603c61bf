"""`slipway notices` by itself: files in, lines or one document out. # N10"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.front.cli import main
from slipway.model.findings.finding import Finding, Subject
from slipway.model.findings.kinds import KINDS, to_document

OUT = KINDS["stock-out"].of(
    Subject("cluster", "h100"), "cluster `h100-3e29a36` could not be made", id="h100-3e29a36", how="it ended in ERROR"
)


def up(folder: Path, *found: Finding) -> str:
    file = folder / "up.json"
    file.write_text(json.dumps(to_document("prod", ["stock-out"], found)))
    return str(file)


def test_notices_are_lines_for_people_and_a_document_with_requests_for_issues(
    snapshot: SnapshotAssertion, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "issues").write_text("")
    words = ["notices", up(tmp_path, OUT)]
    assert main(words) == 0
    assert capsys.readouterr().out.startswith("! prod: cluster h100 can't")
    assert main([*words, "--output", "json", "--issues", str(tmp_path / "issues")]) == 0
    told = capsys.readouterr().out
    assert [one["says"] for one in json.loads(told)["steps"]] == snapshot
    (tmp_path / "told.json").write_text(told)
    assert main(["notices", str(tmp_path / "told.json")]) == 0
    assert "h100 can't be made" in capsys.readouterr().out
    assert main(["notices"]) == 0
    assert "nothing was looked at: name" in capsys.readouterr().err
    up(tmp_path)
    assert main(words) == 0
    assert capsys.readouterr().err == "✓ nothing to tell\n"


def test_a_file_that_was_named_and_tells_nothing_is_not_said_to_be_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unread = {"kind": "doctor", "stack": "prod", "findings": [{"id": "unread", "grade": "broken"}]}
    (tmp_path / "doctor.json").write_text(json.dumps(unread))
    assert main(["notices", str(tmp_path / "doctor.json")]) == 0
    assert f"{tmp_path}/doctor.json: it is of" in capsys.readouterr().err


def test_the_condition_of_a_mend_stands_below_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    """A command stands where it can be copied alone, and nowhere that it is not right."""
    line = {"sentence": "cluster team-a is in no stack", "mend": "gcloud delete team-a"}
    lines = [{**line, "means": "if nobody needs it"}, {**line, "means": None}]
    notice = {"kind": "doctor", "stack": "prod", "subject": "stack", "shape": "a1", "title": "found", "lines": lines}
    (tmp_path / "told.json").write_text(json.dumps({"kind": "notices", "notices": [notice], "lookedAt": []}))
    assert main(["notices", str(tmp_path / "told.json")]) == 0
    assert capsys.readouterr().out == snapshot


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["nowhere.json"], "can't be read"),
        (["up.txt"], "has no JSON"),
        (["--issues", "up.txt", "--output", "json"], "has no issues"),
    ],
)
def test_what_is_no_such_file_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], why: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("up.txt").write_text("error: no machines")
    assert main(["notices", *words]) == 2
    assert why in capsys.readouterr().err
