"""Files that are named to a command, `-` for stdin."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from slipway.base.errors import ConfigError
from slipway.base.formatting import quoted

if TYPE_CHECKING:
    from slipway.deploying.engine.preview import Preview


def text_of(source: str, fix: str = "name a file, or - for stdin", *, strict: bool = False) -> str:
    """Return the whole text. A mark replaces bytes that are not text; `strict` refuses them. Raises ConfigError."""
    errors = "strict" if strict else "replace"
    try:
        if source == "-":
            return _stdin().read()
        return Path(source).read_text(encoding="utf-8", errors=errors)
    except (OSError, UnicodeDecodeError) as problem:
        why = getattr(problem, "strerror", None) or str(problem)
        raise ConfigError(f"{quoted(source)} can't be read", why=why, fix=fix) from problem


def _stdin() -> TextIO:
    if sys.stdin is None:
        raise OSError(0, "stdin is closed")
    return sys.stdin


def preview_of(source: str, text: str) -> Preview:
    """Return a preview's output on stdout, which `source` names. Raises ConfigError."""
    from slipway.deploying.engine.events import read

    preview = read(text.split("\n"))  # Names may contain Unicode's other line ends.
    if preview.stack:
        return preview
    raise ConfigError(
        f"{source} has no events of a preview",
        fix="make events STACK=NAME, which writes .slipway/NAME.events; or docs/your-program.md",
    )
