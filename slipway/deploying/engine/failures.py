"""Failures of a program as the engine quotes them: of a traceback, the program's own line and the error."""

from __future__ import annotations

import re

_TRACEBACK = "Traceback (most recent call last):\n"
_FRAME = re.compile(r'  File "(.+)", line (\d+)(?:, in .+)?')
_MAIN = "__main__.py"


def failure(message: str) -> str:
    """Return an engine's error, and of a traceback `__main__.py line 8: TypeError: …` with what to do. Neither frames
    of packages nor lines of code: these may have secrets."""
    text = message.removeprefix("error: ").strip()
    _, found, last = text.rpartition(_TRACEBACK)
    lines = last.splitlines()
    ends = next((number for number, line in enumerate(lines) if line and not line.startswith(" ")), None)
    if not found or ends is None:
        return text
    error, *below = lines[ends:]
    frames = [match for line in lines[:ends] if (match := _FRAME.fullmatch(line))]
    own = [(frame[1], frame[2]) for frame in frames if "/site-packages/" not in frame[1]]
    root = next((file.removesuffix(_MAIN) for file, _ in own if file.endswith(f"/{_MAIN}")), None)
    places = [(file.removeprefix(root), line) for file, line in own if root and file.startswith(root)]
    if not places:
        return "\n".join((error, *below))
    file, line = places[-1]
    advised = any(part.startswith("  fix: ") for part in below)
    return "\n".join((f"{file} line {line}: {error}", *below, *([] if advised else [f"  fix: correct {file}"])))
