"""The journal of requests survives kills and full disks."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from slipway.errors import SlipwayError
from slipway.submit.journal import Entry, Journal, State

ENTRY = Entry("r1", "digits", State.SENDING, "2026-11-20T12:00:00+00:00", body={"displayName": "d"})


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    assert journal.read("r1") is None
    journal.write(ENTRY)
    assert journal.read("r1") == ENTRY
    assert journal.read("r2") is None


def test_a_journal_lies_in_the_checkout_else_with_the_users_state(tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    (checkout / ".git").mkdir(parents=True)
    Journal.find(checkout, {}, "p", "dev").write(ENTRY)
    assert (checkout / ".slipway" / "requests" / "p" / "dev" / "r1.json").is_file()
    elsewhere = tmp_path / "elsewhere"
    assert Journal.find(elsewhere, {"XDG_STATE_HOME": str(elsewhere)}, "p", "dev").read("r1") is None


def test_a_broken_entry_is_an_error_in_words(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.write(ENTRY)
    (tmp_path / "r1.json").write_text('{"request_id"')
    with pytest.raises(SlipwayError, match="journal of request r1"):
        journal.read("r1")


def test_nothing_may_be_sent_when_it_could_not_be_written_down(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(SlipwayError, match="could not write down request r1"):
        Journal(tmp_path / "file").write(ENTRY)


def test_one_process_at_a_time_and_a_dead_one_holds_nothing(tmp_path: Path) -> None:
    script = (
        "import sys, os; from pathlib import Path; from slipway.submit.journal import Journal\n"
        f"with Journal(Path({str(tmp_path)!r})).held('r1'):\n"
        "    print('held', flush=True); sys.stdin.read()"
    )
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[3])}
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ
    ) as holder:
        assert holder.stdout and holder.stdout.readline() == b"held\n"
        with pytest.raises(SlipwayError, match="being sent by another process"), Journal(tmp_path).held("r1"):
            pass
        with Journal(tmp_path).held("r2"):
            pass
        holder.kill()
    with Journal(tmp_path).held("r1"):
        pass
