"""Output to the terminal: results on stdout, everything else on stderr, colour only where it is wanted."""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import re
import select
import shutil
import signal
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TextIO

import click

from slipway.base.errors import HARMFUL, Interrupted, SlipwayError, Terminated
from slipway.base.errors import visible as without_harm
from slipway.base.formatting import short
from slipway.base.standard_output import OutputError

if TYPE_CHECKING:
    from slipway.base.table import Table

SCHEMA = 2
"""The version of the JSON that `--output json` prints: added fields keep it, changed ones raise it."""
_OURS = f"\x1b{os.urandom(8).hex()}"
"""The mark of Slipway's own styles until they are written: no other text can imitate it."""
_BUT_OURS = re.compile(rf"(?!{_OURS})[{HARMFUL}]")
_BUT_COLOURS = re.compile(rf"(?!\x1b\[[0-9;]*m)[{HARMFUL}]")


def coloured(stream: TextIO) -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def styled(text: str, stream: TextIO, **style: Any) -> str:
    """Style a part of a line, for `out` and `note`, as click does: `bold=True`, `fg="red"`."""
    return click.style(visible(text), **style).replace("\x1b[", f"{_OURS}[") if coloured(stream) else text


def visible(text: str, harmful: re.Pattern[str] = _BUT_OURS) -> str:
    """Return text with code points in place of characters that would act on a terminal."""
    return without_harm(text, harmful)


def visible_log(text: str) -> str:
    """Return a line of a job's log, with its colours."""
    return visible(text, _BUT_COLOURS)


def out(text: str) -> None:
    """Print a line of the result."""
    print(visible(text).replace(_OURS, "\x1b"), flush=True)


def out_log(text: str) -> None:
    """Print a line of a job's log, which is the result."""
    print(visible_log(text), flush=True)


def require_reader() -> None:
    """Raise OutputError if the reader of stdout has ended, as the next line would, which may be printed much later."""
    with contextlib.suppress(io.UnsupportedOperation):
        looks = select.poll()
        looks.register(sys.stdout, 0)
        if looks.poll(0):
            raise OutputError(BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE)))


def note(text: str) -> None:
    """Print a line beside the result: progress, warnings, what to type next. A failure to print changes nothing."""
    with contextlib.suppress(OSError):
        print(visible(text).replace(_OURS, "\x1b"), file=sys.stderr, flush=True)


def warn(text: str) -> None:
    note(f"! {text}")


def hint(text: str) -> None:
    """Print what to type next, in faint letters."""
    note(styled(text, sys.stderr, dim=True))


@contextlib.contextmanager
def after(done: str, fix: str) -> Iterator[None]:
    """Print what is `done`, and `fix` to see it, even after Ctrl-C or a failed write. Raises SlipwayError, and
    OutputError where the reader of stdout has ended, which is no fault."""
    with interruptible(done, fix):
        try:
            yield
        except OSError as problem:
            if isinstance(problem, OutputError) and problem.reader_ended:
                note(f"{done}\n  {fix}")
                raise
            why = f"the rest could not be written: {(problem.strerror or str(problem)).lower()}"
            raise SlipwayError(done, why=why, fix=fix) from problem


@contextlib.contextmanager
def interruptible(state: str, fix: str) -> Iterator[None]:
    """After Ctrl-C, print the `state` of things, with `fix` to go on, not that nothing was sent. Raises Interrupted."""
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted(f"interrupted; {state}", fix=fix) from None


@contextlib.contextmanager
def terminable(state: str, fix: str) -> Iterator[None]:
    """After SIGTERM, print the `state` of things, with `fix` to go on. Raises Terminated."""

    def tell(*_: object) -> None:
        raise Terminated(f"terminated; {state}", fix=fix)

    before = signal.signal(signal.SIGTERM, tell)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class _JsonOutput:
    """The JSON output of this run of the command: at most one document on stdout."""

    def __init__(self) -> None:
        #: `--output json` was read.
        self.is_requested = False
        self.is_written = False
        #: The output is an object a line, as that of `jobs logs`.
        self.has_lines = False


_json_output = _JsonOutput()


def begin_output() -> None:
    """Forget the JSON output of an earlier run in this process."""
    _json_output.is_requested = False
    _json_output.is_written = False
    _json_output.has_lines = False


def request_json() -> None:
    """Make stdout a JSON document, also for an error."""
    _json_output.is_requested = True


def write_json_lines() -> None:
    """Make stdout an object a line, also for an error."""
    _json_output.has_lines = True


def out_json(kind: str, body: Any, problem: SlipwayError | None = None) -> None:
    """Print one versioned JSON document of an object as `codec.document` writes it. `problem`: the error with which the
    command ends all the same."""
    from slipway.base.codec import document  # Only where JSON is asked for.

    _json_output.is_written = True
    error = {"error": error_document(problem)} if problem else {}
    indent = None if _json_output.has_lines else 2
    out(json_text({"schema": SCHEMA, "kind": kind, **document(body), **error}, indent=indent))


def out_error(problem: SlipwayError) -> None:
    """Print an error as the JSON document of a command that was asked for JSON and has printed none."""
    if _json_output.is_requested and not _json_output.is_written:
        out_json("error", {}, problem)


def error_document(problem: SlipwayError) -> dict[str, Any]:
    from slipway.front.cli.terminal.flags import as_flags

    problem.spell(as_flags)
    return {
        "type": type(problem).__name__,
        "exitCode": problem.exit_code,
        "what": problem.what,
        "why": problem.why or None,
        "fix": problem.fix or None,
    }


def out_csv(heads: Sequence[str], rows: Iterable[Sequence[str | float | None]]) -> None:
    """Print CSV with heads. None is an empty cell; an apostrophe precedes text that a spreadsheet would compute."""
    import csv

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(_cell, heads))
    writer.writerows([_cell(value) for value in row] for row in rows)
    out(text.getvalue().removesuffix("\n"))


def _cell(value: str | float | None) -> str | float | None:
    if isinstance(value, bool):
        return str(value).lower()
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")) else value


def json_text(body: Mapping[str, Any], indent: int | None = None) -> str:
    """Return JSON for stdout: letters unchanged where they can be written, else escaped."""
    plain = json.dumps(body, indent=indent, ensure_ascii=False)
    text = _BUT_OURS.sub(lambda match: json.dumps(match[0])[1:-1] if match[0] != "\x7f" else "\\u007f", plain)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return json.dumps(body, indent=indent)
    return text


def prepare_streams() -> None:
    """Make all printable: a letter that the terminal lacks as its code point, bytes that are not text as �."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def columns() -> int | None:
    """Return the width of the terminal; None where there is none, and lines are unlimited."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def table(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    right: Sequence[str] = (),
    wraps: Sequence[str] = (),
    names: int = 1,
) -> None:
    """Print columns under heads, as `Table` has them."""
    from slipway.base.table import Table  # Imported on use: a submission shows no table.

    show(Table(heads, list(rows), right, wraps, names))


def show(table: Table) -> None:
    """Print a table. No name is ever cut: names are to be copied."""
    rows = [[visible(cell).expandtabs() for cell in row] for row in table.rows]
    for line in replace(table, rows=rows).lines(columns()):
        out(styled(line.text, sys.stdout, bold=True) if line.head else line.text)


def fields(facts: Iterable[tuple[str, str]]) -> None:
    """Print a line for each: its name, and its value."""
    from slipway.base.table import fields as lines

    for line in lines(((key, visible(value)) for key, value in facts), columns()):
        out(line)


def brief(text: str, longest: int = 60) -> str:
    """Return a text as one line: cut after `longest` on a terminal, whole in a pipe or a file."""
    return short(text, longest) if columns() else " ".join(text.split())


def prose(text: str) -> None:
    """Print a sentence of the result, which may be wrapped."""
    from slipway.base.table import wrapped

    room = columns()
    for line in [text] if room is None else wrapped(visible(text), room):
        out(line)
