"""What a command reads: a file that is named, or stdin."""

from __future__ import annotations

import sys
from pathlib import Path

from slipway.errors import ConfigError
from slipway.formatting import quoted

STDIN = "-"


def text_of(source: str, fix: str = "name a file, or - for stdin") -> str:
    """All of it; bytes that are no text become a sign for that. Raises ConfigError where it can't be read."""
    try:
        return sys.stdin.read() if source == STDIN else Path(source).read_text(encoding="utf-8", errors="replace")
    except OSError as problem:
        raise ConfigError(f"{quoted(source)} can't be read", why=problem.strerror or str(problem), fix=fix) from problem
