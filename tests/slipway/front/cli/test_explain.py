"""`slipway explain`: what a run of the engine printed, and what to do. # N4"""

import io
import json
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.front.cli import main
from slipway.front.cli.terminal.screen import prepare_streams
from slipway.google.provider_errors import meaning_of

SAID = """Diagnostics:
  gcp:storage:Bucket (work):
    error: reading urn:x: 1 error occurred:
    \t* Error when reading or editing Bucket 'x': googleapi: Error 401: Request had invalid authentication credentials.
"""


NOT_MADE = "cluster cpu-1a2b3c4 could not be made, nor could its alternative (11 tries in 1 min)"
STOCK_OUT = f""" +  gcp:storage:BucketObject creation **creating failed** error: before hook "x" failed: {NOT_MADE}
Diagnostics:
  pulumi:pulumi:Stack (local-project):
    error: update failed

  gcp:storage:BucketObject (creation):
    error: before hook "slipway-create-v1" failed: {NOT_MADE}
      why: cpu-1a2b3c4, 1 n1-standard-4: it ended in ERROR: Resources are insufficient
           cpu-5d6e7f8 (alternative 1), 1 n1-standard-8: it is refused: dial tcp: no such host
      fix: deploy again, which tries again; nothing of it is left behind or billed

Outputs:
    onError: "the same command again goes on from what is there"
Duration: 1m2s
"""


def test_slipways_own_error_is_repeated_once_as_it_says_itself_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:  # N2, N4
    """The summary of a run shows nothing else of it, and a reason that quotes the network is no error beside it."""
    (tmp_path / "up.txt").write_text("\x1b[31m" + STOCK_OUT.replace("error: before", "\x1b[1merror: before") * 2)
    assert main(["explain", str(tmp_path / "up.txt")]) == 0
    assert capsys.readouterr().out == snapshot


def test_an_error_of_the_provider_that_slipway_has_explained_is_not_explained_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:  # N4
    meaning = meaning_of("googleapi: Error 429: slower", {})
    what = f"Bucket work could not be made: {meaning.what}"
    beside = f"    error: {what}\n      why: {meaning.why}\n      fix: {meaning.fix} (stacks/Pulumi.dev.yaml:8)\n"
    foreign = "    error: creating urn:x: googleapi: Error 429: slower\n"
    (tmp_path / "up.txt").write_text(beside + foreign + SAID)
    assert main(["explain", str(tmp_path / "up.txt"), "--output", "json"]) == 0
    whats = [entry["what"] for entry in json.loads(capsys.readouterr().out)["meanings"]]
    assert whats == [what, meaning_of(SAID, {}).what]


def test_bytes_that_are_no_text_are_passed_over(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"\xff\n" + SAID.encode()), encoding="utf-8"))
    prepare_streams()
    assert main(["explain", "-", "--output", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["meanings"]
    assert set(row) == {"what", "why", "fix"} and "does not take this login" in row["what"]


def test_what_is_not_understood_names_where_to_look(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "up.txt").write_text("error: the moon is full")
    assert main(["explain", str(tmp_path / "up.txt")]) == 0
    assert "docs/runbook.md" in capsys.readouterr().out
    assert main(["explain", str(tmp_path / "none.txt")]) == 2
