"""A job file's output directory in its texts: it becomes each job's own, where a text names it and nothing else.

A text may name an input that lies beside the output, or below it. So only the directory itself is replaced, and the
folders that Vertex AI has jobs write to. A path that only looks alike stays, with a note.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from slipway.authoring.stack.yaml_file import DocumentPart
from slipway.model.catalog.placeholders import OUTPUT, escaped, placeholder

WRITTEN = ("model", "checkpoints", "logs")
"""The folders of AIP_MODEL_DIR, AIP_CHECKPOINT_DIR and AIP_TENSORBOARD_LOG_DIR (vertex-rules 3.5)."""
BUCKET = re.compile(r"gs://[^/\s]+")
# A path ends where a shell, JSON or a list would end it.
_PATH = re.compile(r"""(?<![^\s=,;:'"`(\[{<>|&@-])(?:gs://|/gcs/)[^\s,;'"`)\]}<>|&]*""")


@dataclass(frozen=True)
class Note:
    """A difference between the template's jobs and the job file, or a text that looks like one and stays."""

    #: The field, which need not be in the file.
    part: DocumentPart
    text: str

    @property
    def line(self) -> int:
        return self.part.document.line(self.part.path)

    def __str__(self) -> str:
        return f"{self.part.document.file}:{self.line}  {self.text}"


class OutputReader:
    """A reader of the texts of a job file, which collects notes. `uri`: the file's output directory, empty for none."""

    def __init__(self, uri: str, notes: list[Note]) -> None:
        self.uri, self.notes = uri.rstrip("/"), notes

    def text(self, part: DocumentPart, name: str, text: str) -> str:
        """Return a text as a template has it. `name` is that of its argument or variable."""
        written, end = "", 0
        for path in _PATH.finditer(text) if self.uri else ():
            replaced = self._replaced(path[0])
            if replaced is not None:
                self.notes.append(Note(part, f"{name}: {path[0]} became {replaced}"))
            elif path[0].startswith((self.uri, f"/gcs/{self.uri.removeprefix('gs://')}")):
                self.notes.append(Note(part, f"{name}: {path[0]} stays, though it begins like the output {self.uri}"))
            written += escaped(text[end : path.start()]) + (replaced or escaped(path[0]))
            end = path.end()
        return written + escaped(text[end:])

    def _replaced(self, path: str) -> str | None:
        rest = path.removeprefix(self.uri)
        folder = rest[1:].partition("/")[0]
        if rest == path or not (rest in ("", "/") or (rest[0] == "/" and folder in WRITTEN)):
            return None
        return placeholder(OUTPUT) + escaped(rest)
