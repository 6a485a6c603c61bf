"""Pulumi's state in a folder: the address by which a killed engine can't spoil it."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote


def file_backend(folder: Path) -> str:
    """Return the value of PULUMI_BACKEND_URL for a folder.

    Without `metadata=skip` the engine writes a small `.attrs` file beside each of its own, and not in one step. An
    engine that is killed just then leaves it empty, and from then on every command fails on that stack (`failed to load
    checkpoint: EOF`). Nothing in those files is ever needed.
    """
    return f"file://{quote(str(folder))}?metadata=skip"
