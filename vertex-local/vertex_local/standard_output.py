"""Standard output that can't be written: the disk is full, or the program that reads it has ended.

At exit Python writes what is still buffered. If that fails, Python prints "Exception ignored" and exits with 120. So
the descriptor of a stream that failed is pointed to the null device.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Callable
from typing import Any, BinaryIO, NoReturn, TextIO, cast

READER_ENDED = 141
"""The exit code that shells give a command that SIGPIPE ended."""
_STDOUT, _STDERR = 1, 2
_ERROR = """\
error: can't write to standard output
  why: {}
  fix: free disk space, or redirect the output to another file"""


class OutputError(OSError):
    """Standard output can't be written. The error has no `errno`, because click exits without a message on EPIPE."""

    def __init__(self, cause: OSError) -> None:
        super().__init__((cause.strerror or str(cause)).lower())
        self.reader_ended = isinstance(cause, BrokenPipeError)


class StdoutFile(io.FileIO):
    """The file below `sys.stdout`. It remembers a failed write, because argparse ignores the error."""

    failure: OutputError | None = None

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except OSError as error:
            self.failure = OutputError(error)
            raise self.failure from error


def open_stdout() -> StdoutFile:
    """Replace `sys.stdout` by one that raises `OutputError`, and return the file below it. A descriptor that is closed
    becomes the null device, so that no other file takes its number."""
    if sys.stdout is None:
        sys.stdout = _null(_STDOUT)
    if sys.stderr is None:
        sys.stderr = _null(_STDERR)
    plain = cast("io.TextIOWrapper", sys.stdout)
    plain.flush()
    file = StdoutFile(plain.fileno(), "w", closefd=False)
    below = file if plain.write_through else io.BufferedWriter(file)
    sys.stdout = io.TextIOWrapper(
        cast("BinaryIO", below),
        plain.encoding,
        plain.errors,
        line_buffering=plain.line_buffering,
        write_through=plain.write_through,
    )
    return file


def finish_output(file: StdoutFile, code: int) -> int:
    """Write what is buffered, and return the exit code of a command that ends with `code`. A success whose output is
    incomplete is a failure."""
    with contextlib.suppress(OutputError):
        sys.stdout.flush()
    if file.failure is not None:
        _discard(sys.stdout)
        if code == 0:
            code = report(file.failure)
    try:
        sys.stderr.flush()
    except OSError:
        _discard(sys.stderr)
    return code


def report(failure: OutputError) -> int:
    """Print an error about stdout, unless its reader has ended, and return the exit code."""
    if failure.reader_ended:
        return READER_ENDED
    with contextlib.suppress(OSError):
        print(_ERROR.format(failure), file=sys.stderr, flush=True)
    return 1


def exit_after(main: Callable[[], int | None]) -> NoReturn:
    """Run the main function of a command, and exit with its code."""
    file = open_stdout()
    try:
        code = main() or 0
    except OutputError as failure:
        code = report(failure)
    except SystemExit as ended:
        # argparse exits after --help and after wrong flags.
        if isinstance(ended.code, str):
            raise
        code = ended.code or 0
    sys.exit(finish_output(file, code))


def _discard(stream: TextIO) -> None:
    """Point a stream to the null device, so that Python can write what is still buffered."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)


def _null(descriptor: int) -> TextIO:
    """Return a stream that writes to the null device through a standard descriptor."""
    null = os.open(os.devnull, os.O_WRONLY)
    if null != descriptor:
        os.dup2(null, descriptor)
        os.close(null)
    return io.TextIOWrapper(io.FileIO(descriptor, "w", closefd=False), encoding="utf-8")
