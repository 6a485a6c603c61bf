"""What goes to the terminal: results on stdout, everything else on stderr, colour only where it is wanted."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TextIO

SCHEMA = 2
"""Version of the JSON that `--output json` prints: fields are added without a change, changed only with one."""


def coloured(stream: TextIO) -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def _paint(code: str, text: str, stream: TextIO) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if coloured(stream) else text


def red(text: str, stream: TextIO) -> str:
    return _paint("31;1", text, stream)


def bold(text: str, stream: TextIO) -> str:
    return _paint("1", text, stream)


def faint(text: str, stream: TextIO) -> str:
    return _paint("2", text, stream)


def out(text: str) -> None:
    """A line of the result."""
    print(text, flush=True)


def note(text: str) -> None:
    """A line beside the result: progress, warnings, what to type next. Not being able to say it changes nothing."""
    with contextlib.suppress(OSError):
        print(text, file=sys.stderr, flush=True)


def out_json(kind: str, body: Mapping[str, Any]) -> None:
    """One versioned JSON document, alone on stdout."""
    out(json_text({"schema": SCHEMA, "kind": kind, **body}, indent=2))


def json_text(body: Mapping[str, Any], indent: int | None = None) -> str:
    """JSON as stdout can take it: letters as they are where they can be written, else escaped."""
    text = json.dumps(body, indent=indent, ensure_ascii=False)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return json.dumps(body, indent=indent)
    return text


def short(text: str, longest: int = 60) -> str:
    """A value for one line of a page: its spaces and newlines as one space, and no longer than that."""
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[:longest]}…"


def prepare_streams() -> None:
    """A character that a stream can't take is written as its number, and a stream that is closed takes all."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, io.TextIOWrapper(io.FileIO(os.devnull, "w"), encoding="utf-8"))
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[str] = ()) -> None:
    """Columns under heads, those of `right` flush right. Nothing is ever cut: names are to be copied."""
    lines = [list(row) for row in rows]
    widths = [max(len(line[column]) for line in [list(heads), *lines]) for column in range(len(heads))]
    flush = [head in right for head in heads]

    def line(cells: Sequence[str]) -> str:
        padded = [
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(cells, widths, flush, strict=True)
        ]
        return "  ".join(padded).rstrip()

    out(bold(line(heads), sys.stdout))
    for one in lines:
        out(line(one))
