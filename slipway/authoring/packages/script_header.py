"""The metadata in a script's own comments (PEP 723), in the form of a pyproject.toml. Pure."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Any

# As PEP 723 has it.
_BLOCK = re.compile(r"(?m)^# /// script\s*$\s(?P<content>(?:^#(?:| .*)$\s)+)^# ///\s*$")


def project_of(script: bytes) -> Mapping[str, Any] | None:
    """Return the metadata as a project's; None for a script without any. Raises ValueError for what is not TOML."""
    text = script.decode(errors="replace").replace("\r\n", "\n")
    found = _BLOCK.search(text)
    if not found:
        return None
    lines = (line.removeprefix("#").removeprefix(" ") for line in found["content"].splitlines())
    header = tomllib.loads("\n".join(lines))
    return {"project": header, "tool": header.get("tool", {})}
