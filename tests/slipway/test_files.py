"""Nothing is half written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from slipway.files import write_atomically


def test_a_new_file_and_a_replaced_one_hold_the_whole_text_with_the_mode_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "file"
    write_atomically(file, "one", mode=0o600)
    write_atomically(file, "two", mode=0o600)
    assert file.read_text() == "two"
    assert file.stat().st_mode & 0o777 == 0o600
    assert [entry.name for entry in file.parent.iterdir()] == ["file"]


def test_a_write_that_fails_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path) -> None:
    file = tmp_path / "file"
    write_atomically(file, "old")
    with pytest.raises(UnicodeEncodeError):
        write_atomically(file, "\ud800")
    assert file.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_a_pipe_is_written_to_and_stays_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_atomically(pipe, "a page")
        assert os.read(reader, 100) == b"a page"
    finally:
        os.close(reader)
    assert pipe.is_fifo()


def test_a_link_is_followed(tmp_path: Path) -> None:
    file, link = tmp_path / "deep" / "file", tmp_path / "link"
    link.symlink_to(file)
    write_atomically(link, "one", mode=0o640)
    write_atomically(link, "two\r\n", mode=0o640)
    assert link.is_symlink() and file.read_bytes() == b"two\r\n"
    assert file.stat().st_mode & 0o777 == 0o640
