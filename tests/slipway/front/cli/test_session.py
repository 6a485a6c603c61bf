"""`slipway session`: a machine that is held, and runs what its owner sends. # N25"""

from collections.abc import Iterator

import pytest

from .stack import Stack
from .test_run import open_to_commands

__all__ = ["open_to_commands"]


@pytest.fixture
def session(open_to_commands: Stack) -> Iterator[Stack]:
    """A stack with a session of Ada's, whose machine works."""
    started = open_to_commands.well("session", "start", "--idle", "10m")
    assert "session session: ends after 10 min without a run" in started.out, started.out
    yield open_to_commands


@pytest.mark.journey
def test_commands_run_one_after_the_other_with_the_files_of_now(session: Stack) -> None:
    done = session.run("session", "run", "train.py", "--lr", "0.1")
    assert (done.code, done.out) == (0, "lr None --lr 0.1\n"), done.err
    (session.folder / "words.py").write_text("WORD = 'edited'\n")
    (session.folder / "train.py").write_text("import sys, words\nprint(words.WORD)\nsys.exit(3)\n")
    done = session.run("session", "run", "train.py")
    assert (done.code, done.out) == (3, "edited\n"), done.err
    assert "run 2  2 files changed" in done.err
    (session.folder / "words.py").write_text("WORD = 'another'\n")
    assert session.run("session", "run", "train.py").out == "another\n"
    (row,) = session.well("session", "list", "--output", "json").json["sessions"]
    assert row["run"] == 3 and row["command"] is None
    session.well("session", "stop")
    session.all_end()
    (job,) = session.jobs()
    assert job["state"] == "JOB_STATE_SUCCEEDED"
    liked = session.run("submit", "--like", "session/2", "--wait")
    assert liked.code == 4 and "the command ended with 3" in liked.err, liked.err
    newest, _ = session.jobs()
    assert "slipway-session" not in newest["labels"] and "timeout" not in newest["jobSpec"].get("scheduling", {})
    assert "edited" in session.well("jobs", "logs", newest["displayName"]).out
