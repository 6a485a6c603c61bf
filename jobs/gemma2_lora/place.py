"""The paths on a machine that a run's processes share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Place:
    work: Path

    @property
    def text(self) -> Path:
        return self.work / "text.txt"

    @property
    def records(self) -> Path:
        """There instead of the text where the data are records (`records.read`)."""
        return self.work / "records.json"

    @property
    def rows(self) -> Path:
        """Text or records in tokens (`examples.read`)."""
        return self.work / "rows.json"

    @property
    def trouble(self) -> Path:
        """Words of a process that torchrun started, which torchrun's own would follow."""
        return self.work / "trouble.txt"

    @property
    def download(self) -> Path:
        return self.work / "download"

    @property
    def base(self) -> Path:
        """A link to the base model's folder, wherever that is."""
        return self.work / "base"

    @property
    def trainer(self) -> Path:
        """The Trainer's folder; a checkpoint that was fetched lies there too."""
        return self.work / "trainer"

    @property
    def whole(self) -> Path:
        """The whole model, when the adapter is a part of it."""
        return self.work / "whole"

    @property
    def events(self) -> Path:
        """TensorBoard's event files."""
        return self.work / "events"

    def checkpoint(self) -> tuple[int, Path] | None:
        """The newest on this machine: its step and folder."""
        found = [(int(folder.name.rpartition("-")[2]), folder) for folder in self.trainer.glob("checkpoint-*")]
        return max(found, default=None)
