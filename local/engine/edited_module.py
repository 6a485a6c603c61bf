"""A Go module of the engine whose source is edited for the build: a copy, which a `go.mod` of the build names."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .errors import EngineError
from .gotool import Go


@dataclass(frozen=True)
class Edit:
    file: str
    old: str
    new: str


@dataclass(frozen=True)
class EditedModule:
    name: str
    edits: tuple[Edit, ...]

    def copy(self, source: Path, into: Path) -> None:
        """Copy the module from its `source` and edit it. Raises EngineError where it has other text."""
        shutil.copytree(source, into, copy_function=shutil.copyfile)
        into.chmod(0o755)  # Go keeps modules read-only, their folders too.
        if not (into / "go.mod").exists():
            (into / "go.mod").write_text(f"module {self.name}\n")
        for edit in self.edits:
            file = into / edit.file
            text = file.read_text()
            if edit.old not in text:
                raise EngineError(
                    "the Pulumi engine can't be built from source",
                    f"{edit.file} of the module {self.name} lacks the text that is edited: {edit.old!r}",
                    "restore local/engine as this checkout's commit has it, then run again; or install Pulumi itself",
                )
            file.parent.chmod(0o755)
            file.write_text(text.replace(edit.old, edit.new))


_NOT_AT_START = (
    Edit("frequency/frequency.go", "func init() {\n", "func Load() {\n"),
    Edit("matching/matching.go", "func init() {\n\tloadFrequencyList()\n}\n", ""),
    Edit("matching/matching.go", "func loadFrequencyList() {\n", "func loadFrequencyList() {\n\tfrequency.Load()\n"),
)
WORDS_WHEN_ASKED = tuple(
    EditedModule(f"github.com/{owner}/zxcvbn-go", _NOT_AT_START) for owner in ("nbutton23", "ccojocar")
)
"""By these two `pulumi config set` tells what looks like a secret. Each read its lists of words at the start of every
command of the engine, half of its time. Now the first question reads them, as it did before where they were missing."""


def mod_file(go: Go, modules: Sequence[EditedModule], source: Path, work: Path) -> Path:
    """Return a `go.mod` in the folder `work` that is the one in `source` with edited copies of the modules."""
    replaced = (source / "go.mod").read_text()
    for number, module in enumerate(modules):
        folder = work / f"edited-{number}"
        module.copy(Path(go.ask(["list", "-mod=readonly", "-m", "-f", "{{.Dir}}", module.name], source)), folder)
        replaced += f"replace {module.name} => {json.dumps(str(folder), ensure_ascii=False)}\n"  # It may have spaces.
    shutil.copyfile(source / "go.sum", work / "go.sum")
    edited = work / "go.mod"
    edited.write_text(replaced)
    return edited
