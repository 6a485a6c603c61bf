"""What goes to the terminal: results on stdout, everything else on stderr, colour only where it is wanted."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TextIO

SCHEMA = 1
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
    """A line beside the result: progress, warnings, what to type next."""
    print(text, file=sys.stderr, flush=True)


def out_json(kind: str, body: Mapping[str, Any]) -> None:
    """One versioned JSON document, alone on stdout."""
    print(json.dumps({"schema": SCHEMA, "kind": kind, **body}, indent=2, ensure_ascii=False), flush=True)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[str] = ()) -> None:
    """Columns under heads, those of ``right`` flush right. Nothing is ever cut: names are to be copied."""
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
