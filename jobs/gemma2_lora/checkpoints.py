"""Checkpoints that outlive the machine: whole ones only, the last two of them."""

from __future__ import annotations

import json
import re
from pathlib import Path

from .folder import Folder

KEPT = 2
_COMPLETE = "complete.json"
_ATTEMPTS = "attempts.json"
_FILE = re.compile(r"checkpoint-(\d+)/")
_MARK = re.compile(rf"checkpoint-(\d+)/{re.escape(_COMPLETE)}")


class Checkpoints:
    """Each is a folder `checkpoint-STEP` as the Trainer writes it. `complete.json`, written last, lists its files:
    what has none was being written, or removed, when its machine went, and counts for nothing."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self.address = folder.address

    def steps(self) -> list[int]:
        """The steps of the whole checkpoints, the first one first."""
        return sorted(int(found[1]) for name in self._folder.names() if (found := _MARK.fullmatch(name)))

    def keep(self, step: int, source: Path) -> None:
        """Write one, then remove what came before the last KEPT, and what was left of such by a machine that went."""
        files = sorted(file.relative_to(source).as_posix() for file in source.rglob("*") if file.is_file())
        for file in files:
            self._folder.write(f"checkpoint-{step}/{file}", source / file)
        self._folder.write(f"checkpoint-{step}/{_COMPLETE}", json.dumps({"step": step, "files": files}).encode())
        first = self.steps()[-KEPT:][0]
        old = [name for name in self._folder.names() if (found := _FILE.match(name)) and int(found[1]) < first]
        for name in sorted(old, key=lambda name: not _MARK.fullmatch(name)):  # Marks first: half of one is none.
            self._folder.remove(name)

    def fetch(self, step: int, target: Path) -> Path:
        """The folder `checkpoint-STEP` below `target`."""
        complete = self._folder.read(f"checkpoint-{step}/{_COMPLETE}")
        for file in json.loads(complete)["files"] if complete else ():
            self._folder.fetch(f"checkpoint-{step}/{file}", target / f"checkpoint-{step}" / file)
        return target / f"checkpoint-{step}"

    def attempt(self) -> int:
        """The number of this attempt, which is counted by asking."""
        known = self._folder.read(_ATTEMPTS)
        number = (json.loads(known)["attempts"] if known else 0) + 1
        self._folder.write(_ATTEMPTS, json.dumps({"attempts": number}).encode())
        return int(number)
