"""Commands of `vertex-local` whose standard output can't be written."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FULL = Path("/dev/full")
NO_SPACE = """\
error: can't write to standard output
  why: no space left on device
  fix: free disk space, or redirect the output to another file
"""
COMMANDS = [("--help",), ("cache",), ("down",), ("images", "clear", "pool")]
either_way = pytest.mark.parametrize("flags", [(), ("-u",)], ids=["buffered", "unbuffered"])


def command(words: tuple[str, ...], flags: tuple[str, ...]) -> list[str]:
    return [sys.executable, *flags, "-m", "vertex_local.cli.main", *words]


@pytest.mark.skipif(not FULL.is_char_device(), reason="only Linux has a device that is always full")
@either_way
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_full_disk_is_one_error(words: tuple[str, ...], flags: tuple[str, ...]) -> None:
    with FULL.open("wb") as full:
        done = subprocess.run(command(words, flags), stdout=full, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr.decode()) == (1, NO_SPACE)


@either_way
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_reader_that_has_ended_gets_no_message(words: tuple[str, ...], flags: tuple[str, ...]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(command(words, flags), stdout=writer, stderr=subprocess.PIPE, check=False)
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_closed_descriptors_are_no_error(words: tuple[str, ...]) -> None:
    done = subprocess.run(["sh", "-c", '"$@" >&- 2>&-', "sh", *command(words, ())], check=False)
    assert done.returncode == 0
