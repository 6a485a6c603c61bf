"""The journal of requests survives kills and full disks."""

import fcntl
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import IO

import pytest

from slipway.errors import SlipwayError
from slipway.submission.journal import EntryState, JournalEntry, SubmissionJournal

ENTRY = JournalEntry("r1", "digits", EntryState.SENDING, "2026-11-20T12:00:00+00:00", body={"displayName": "d"})


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    journal = SubmissionJournal(tmp_path)
    assert journal.read("r1") is None
    journal.write(ENTRY)
    assert journal.read("r1") == ENTRY
    assert journal.read("r2") is None


def test_a_journal_lies_in_the_checkout_else_with_the_users_state(tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    (checkout / ".git").mkdir(parents=True)
    SubmissionJournal.find(checkout, {}, "p", "dev").write(ENTRY)
    assert (checkout / ".slipway" / "requests" / "p" / "dev" / "r1.json").is_file()
    assert (checkout / ".slipway" / ".gitignore").read_text() == "*\n"
    elsewhere = tmp_path / "elsewhere"
    assert SubmissionJournal.find(elsewhere, {"XDG_STATE_HOME": str(elsewhere)}, "p", "dev").read("r1") is None


def test_a_broken_entry_is_an_error_in_words(tmp_path: Path) -> None:
    journal = SubmissionJournal(tmp_path)
    journal.write(ENTRY)
    (tmp_path / "r1.json").write_text('{"request_id"')
    with pytest.raises(SlipwayError, match="journal of request r1"):
        journal.read("r1")


def test_nothing_may_be_sent_when_it_could_not_be_written_down(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(SlipwayError, match="could not record request r1"):
        SubmissionJournal(tmp_path / "file").write(ENTRY)


def test_one_process_at_a_time_and_a_dead_one_holds_nothing(tmp_path: Path) -> None:
    script = (
        "import sys, os; from pathlib import Path; from slipway.submission.journal import SubmissionJournal\n"
        f"with SubmissionJournal(Path({str(tmp_path)!r})).held('r1'):\n"
        "    print('held', flush=True); sys.stdin.read()"
    )
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[3])}
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ
    ) as holder:
        assert holder.stdout and holder.stdout.readline() == b"held\n"
        with pytest.raises(SlipwayError, match="being sent by another process"), SubmissionJournal(tmp_path).held("r1"):
            pass
        with SubmissionJournal(tmp_path).held("r2"):
            pass
        holder.kill()
    with SubmissionJournal(tmp_path).held("r1"):
        pass


def test_two_who_waited_for_the_same_holder_do_not_both_hold_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first opens the file, its holder lets go and takes the file away, the second makes another and locks that."""
    journal, lock = SubmissionJournal(tmp_path), fcntl.flock
    late = journal.held("r1")
    second = SubmissionJournal(tmp_path).held("r1")

    def slowly(stream: IO[str], how: int) -> None:
        monkeypatch.setattr(fcntl, "flock", lock)
        (tmp_path / "r1.lock").unlink()
        second.__enter__()
        lock(stream, how)

    monkeypatch.setattr(fcntl, "flock", slowly)
    with pytest.raises(SlipwayError, match="being sent by another process"):
        late.__enter__()
    second.__exit__(None, None, None)
    with journal.held("r1"):
        pass


@pytest.mark.parametrize("when", ["soon", "", "2026-11-20T12:00:00"])
def test_an_entry_without_a_time_is_a_broken_one(tmp_path: Path, when: str) -> None:
    journal = SubmissionJournal(tmp_path)
    journal.write(replace(ENTRY, when=when))
    with pytest.raises(SlipwayError, match="journal of request r1"):
        journal.read("r1")


def test_a_state_folder_that_depends_on_where_one_stands_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    found = SubmissionJournal.find(tmp_path / "elsewhere", {"XDG_STATE_HOME": "state"}, "p", "dev").folder
    assert found == tmp_path / "home" / ".local" / "state" / "slipway" / "requests" / "p" / "dev"


def test_a_journal_that_can_not_be_locked_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(SlipwayError, match="could not record request r1") as error:
        SubmissionJournal(tmp_path / "file").held("r1").__enter__()
    assert "the folder" in error.value.fix
