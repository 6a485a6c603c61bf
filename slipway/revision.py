"""What something was made from: a commit, and whether there was more than it. Pure."""

from __future__ import annotations

from dataclasses import dataclass

SHORT = 7


@dataclass(frozen=True)
class Revision:
    """`commit` in hexadecimal digits, or "unknown" outside of git, or empty for what does not tell. `dirty`: there were
    changes besides it; None where that is not told."""

    commit: str
    dirty: bool | None

    def __str__(self) -> str:
        """`3f9c2e1 with local changes`"""
        return f"{self.commit[:SHORT]} with local changes" if self.dirty else self.commit[:SHORT]

    @property
    def short(self) -> str:
        """`3f9c2e1+`, where there is little room."""
        return f"{self.commit[:SHORT]}+" if self.dirty else self.commit[:SHORT]
