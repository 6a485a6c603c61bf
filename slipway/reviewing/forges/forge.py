"""The port for a forge: the merge result and its approvals, and the comment on a change.

Its adapters are the rows of `forge_table`. They return the same values; `slipway.reviewing.gate` decides the worth of
an approval.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Protocol

from slipway.reviewing.forge_table import running
from slipway.reviewing.gate import MergeResult


class Forge(Protocol):
    """A forge. Each method raises ResourceError where the forge does not tell, or refuses."""

    def merge_result(self) -> MergeResult:
        """Read the merge result of the commit that the job runs for."""

    def tell(self, result: MergeResult, body: str) -> MergeResult:
        """Make this the change's one comment; an equal comment is left alone, as approvals are older."""


def forge_of(environ: Mapping[str, str], folder: str = "") -> Forge:
    """Return the forge whose CI runs this, in the checkout of the commit that the job runs for; the project lies in its
    `folder`. Raises ConfigError for a missing variable."""
    row = running(environ)
    # Imported alone: reading another one takes time.
    module = import_module(f"slipway.reviewing.forges.{row.name}")
    made: Forge = getattr(module, row.adapter)(environ, folder)
    return made
