"""The paths on a machine that a run's processes share."""

from __future__ import annotations

from pathlib import Path


class Place:
    def __init__(self, work: Path) -> None:
        self.work = work
        self.rows = work / "rows.json"  # The data in tokens, a list of `examples.Row`.
        self.trouble = work / "trouble.txt"  # Words of a process that torchrun started, which its own would follow.
        self.download = work / "download"
        self.base = work / "base"  # A link to the base model's folder, wherever that is.
        self.trainer = work / "trainer"  # The Trainer's folder; a checkpoint that was fetched lies there too.
        self.whole = work / "whole"  # The whole model, when the adapter is a part of it.
        self.events = work / "events"  # TensorBoard's event files.

    def checkpoint(self) -> tuple[int, Path]:
        """The newest on this machine: its step and folder. Step 0: there is none."""
        found = [(int(folder.name.rpartition("-")[2]), folder) for folder in self.trainer.glob("checkpoint-*")]
        return max(found, default=(0, self.trainer))
