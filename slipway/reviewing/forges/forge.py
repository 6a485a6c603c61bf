"""The port for a forge: the merge result and its approvals, and the comment on a change.

Its adapters are the rows of `forge_table`. They return the same values; `slipway.reviewing.gate` decides the worth of
an approval.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Protocol

from slipway.reviewing.forge_table import ForgeRow, running
from slipway.reviewing.gate import MergeResult, Words


class Forge(Protocol):
    """A forge. Each method raises ResourceError where the forge does not tell, or refuses."""

    def merge_result(self) -> MergeResult:
        """Read the merge result of the commit that the job runs for."""

    def tell(self, result: MergeResult, body: str) -> MergeResult:
        """Make this the change's one comment; an equal comment is left alone, as approvals are older."""


def forge_of(environ: Mapping[str, str], checkout: Path, folder: str = "") -> Forge:
    """Return the forge whose CI runs this; `checkout` is the repository's, at the commit that the job runs for, and the
    project lies in its `folder`. Raises ConfigError for a missing variable."""
    row = running(environ)
    made: Forge = getattr(_module(row), row.adapter)(environ, checkout, folder)
    return made


def words_of(environ: Mapping[str, str]) -> Words:
    """Return the words of the forge whose CI runs this, without a request."""
    words: Words = _module(running(environ)).WORDS
    return words


def _module(row: ForgeRow) -> ModuleType:
    """Import a forge's module alone: reading another one takes time."""
    return import_module(f"slipway.reviewing.forges.{row.name}")
