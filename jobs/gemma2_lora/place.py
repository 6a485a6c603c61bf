"""The paths on a machine that a run's processes share."""

from __future__ import annotations

from pathlib import Path


class Place:
    def __init__(self, work: Path) -> None:
        self.work = work
        #: The data in tokens, a list of `examples.Row`.
        self.rows = work / "rows.json"
        #: Words of a process that torchrun started, which torchrun's own would follow.
        self.trouble = work / "trouble.txt"
        self.download = work / "download"
        #: A link to the base model's folder, wherever that is.
        self.base = work / "base"
        #: The Trainer's folder; a checkpoint that was fetched lies there too.
        self.trainer = work / "trainer"
        #: The whole model, when the adapter is a part of it.
        self.whole = work / "whole"
        #: TensorBoard's event files.
        self.events = work / "events"

    def checkpoint(self) -> tuple[int, Path] | None:
        """The newest on this machine: its step and folder."""
        found = [(int(folder.name.rpartition("-")[2]), folder) for folder in self.trainer.glob("checkpoint-*")]
        return max(found, default=None)

    def last_checkpoint(self) -> tuple[int, Path]:
        """The checkpoint of the last step."""
        found = self.checkpoint()
        assert found is not None, "the last step writes a checkpoint"
        return found
