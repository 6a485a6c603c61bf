"""Commands whose standard output can't be written: one error, a documented exit code, and nothing after it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.python_files import ROOT

FULL = Path("/dev/full")
full_device = pytest.mark.skipif(not FULL.is_char_device(), reason="only Linux has a device that is always full")
NO_SPACE = """\
error: can't write to standard output
  why: no space left on device
  fix: free disk space, or redirect the output to another file
"""
PRINTS = "print('result')"
BUFFERS = "sys.stdout.buffer.write(b'result')"
FLUSHES = "print('result', flush=True)"
HELPS = "argparse.ArgumentParser().parse_args(['--help'])"
FAILS = "print('result'); return 3"
EXITS = "print('result'); sys.exit(4)"


def command(body: str, *, flags: tuple[str, ...]) -> list[str]:
    """Return a command whose main function has a body."""
    script = f"""
import argparse, sys
from slipway.base.standard_output import exit_after, print_progress
def main():
    {body}
exit_after(main)
"""
    return [sys.executable, *flags, "-c", script]


def environment() -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}


buffered_or_not = pytest.mark.parametrize("flags", [(), ("-u",)], ids=["buffered", "unbuffered"])


@full_device
@buffered_or_not
@pytest.mark.parametrize("body", [PRINTS, BUFFERS, FLUSHES, HELPS])
def test_a_full_disk_is_one_error(body: str, flags: tuple[str, ...]) -> None:
    with FULL.open("wb") as full:
        done = subprocess.run(command(body, flags=flags), stdout=full, stderr=subprocess.PIPE, env=environment())
    assert (done.returncode, done.stderr.decode()) == (1, NO_SPACE)


@full_device
@pytest.mark.parametrize(("body", "code"), [(FAILS, 3), (EXITS, 4)])
def test_a_command_that_has_failed_keeps_its_exit_code(body: str, code: int) -> None:
    with FULL.open("wb") as full:
        done = subprocess.run(command(body, flags=()), stdout=full, stderr=subprocess.PIPE, env=environment())
    assert (done.returncode, done.stderr) == (code, b"")


@buffered_or_not
@pytest.mark.parametrize("body", [PRINTS, BUFFERS, FLUSHES, HELPS])
def test_a_reader_that_has_ended_gets_no_message(body: str, flags: tuple[str, ...]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(command(body, flags=flags), stdout=writer, stderr=subprocess.PIPE, env=environment())
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


@buffered_or_not
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_closed_descriptors_are_no_error(closed: str, flags: tuple[str, ...]) -> None:
    words = command(FLUSHES, flags=flags)
    done = subprocess.run(["sh", "-c", f'"$@" {closed}', "sh", *words], capture_output=True, env=environment())
    assert (done.returncode, done.stderr) == (0, b"")


def test_no_file_takes_the_number_of_a_closed_descriptor(tmp_path: Path) -> None:
    file = tmp_path / "file"
    body = f"kept = open({str(file)!r}, 'w'); import os; os.write(1, b'a result'); return 0"
    words = command(body, flags=())
    done = subprocess.run(["sh", "-c", '"$@" >&-', "sh", *words], capture_output=True, env=environment())
    assert (done.returncode, done.stderr, file.read_text()) == (0, b"", "")


@full_device
def test_a_message_that_can_not_be_written_changes_no_exit_code() -> None:
    with FULL.open("wb") as full:
        body = "sys.stderr.write('progress')"
        done = subprocess.run(command(body, flags=()), stdout=subprocess.PIPE, stderr=full, env=environment())
    assert done.returncode == 0


def test_progress_that_can_not_be_written_stops_no_command() -> None:
    body = "print_progress('step'); print('goes on', file=sys.stderr)"
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(command(body, flags=()), stdout=writer, stderr=subprocess.PIPE, env=environment())
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"goes on\n")
