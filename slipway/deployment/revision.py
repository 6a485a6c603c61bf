"""Which reviewed commit a deployment is made from, so that every job can be traced to it."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from slipway.errors import ConfigError

UNKNOWN = "unknown"
_SHORT = 7
_COMMIT = re.compile(r"[0-9a-f]{7,64}")


@dataclass(frozen=True)
class Revision:
    """`commit` is 7 hexadecimal digits, or "unknown" outside of git; `dirty` when there are changes besides it."""

    commit: str
    dirty: bool

    def __str__(self) -> str:
        return f"{self.commit} with local changes" if self.dirty else self.commit


def revision(checkout: Path, environ: Mapping[str, str]) -> Revision:
    """From `SLIPWAY_COMMIT` (what CI has checked out), else from git. Raises ConfigError for what is no commit."""
    given = environ.get("SLIPWAY_COMMIT", "").strip().lower()
    if given:
        if not _COMMIT.fullmatch(given):
            raise ConfigError(
                f"SLIPWAY_COMMIT is no commit: {given!r}",
                why="it labels every job, so it must be 7 or more hexadecimal digits",
                fix="export SLIPWAY_COMMIT=$(git rev-parse HEAD), or unset it",
            )
        return Revision(given[:_SHORT], dirty=False)
    status = _git(checkout, "status", "--porcelain=v2", "--branch")
    oid = re.search(r"^# branch\.oid ([0-9a-f]+)$", status or "", re.MULTILINE)
    if status is None or oid is None:
        return Revision(UNKNOWN, dirty=False)
    return Revision(oid[1][:_SHORT], dirty=any(not line.startswith("#") for line in status.splitlines()))


def _git(checkout: Path, *arguments: str) -> str | None:
    command = ["git", "--no-optional-locks", "-C", str(checkout), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
