"""`slipway explain`: what a run of the engine printed, and what to do. # N4"""

import io
import json
from pathlib import Path

import pytest

from slipway.cli import main
from slipway.cli.terminal.screen import prepare_streams

SAID = """Diagnostics:
  gcp:storage:Bucket (work):
    error: reading urn:x: 1 error occurred:
    \t* Error when reading or editing Bucket 'x': googleapi: Error 401: Request had invalid authentication credentials.
"""


def test_what_is_understood_is_said_once_with_the_way_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "up.txt").write_text(SAID * 3)
    assert main(["explain", str(tmp_path / "up.txt")]) == 0
    first, why, fix = capsys.readouterr().out.splitlines()
    assert first == "✗ the cloud does not take this login any more"
    assert why.endswith("Request had invalid authentication credentials.")
    assert "gcloud auth application-default login" in fix


def test_from_a_pipe_as_json(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(SAID))
    assert main(["explain", "-", "--output", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["meanings"]
    assert set(row) == {"what", "why", "fix"}


def test_bytes_that_are_no_text_are_passed_over(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"\xff\n" + SAID.encode()), encoding="utf-8"))
    prepare_streams()
    assert main(["explain", "-"]) == 0
    assert "does not take this login" in capsys.readouterr().out


def test_what_is_not_understood_names_where_to_look(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "up.txt").write_text("error: the moon is full")
    assert main(["explain", str(tmp_path / "up.txt")]) == 0
    assert "docs/runbook.md" in capsys.readouterr().out
    assert main(["explain", str(tmp_path / "none.txt")]) == 2
