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
# Names of what is read, and of what is written although it has such a word: `--resume-from`, `--save-from-step`.
_READS = re.compile(
    r"(?i)(?<![a-z])(resum\w*|restor\w*|load|init|initial\w*|pre-?trained|base(?![-_]?(dir|path))|warm|start|from|inputs?"
    r"|source|src|teacher|tokenizer)(?![a-z])"
)
_WRITES = re.compile(r"(?i)(?<![a-z])(out\w*|sav\w*|writ\w*|export\w*|to|dest\w*|dst|log\w*)(?![a-z])")
# What training numbers by itself as it writes: `checkpoints/step-1000`, `model.ckpt-500`, `checkpoints/1000`.
_NUMBERED = re.compile(r"(?i)(step|epoch|iter|ckpt|checkpoint)[a-z]*[-_=.]?\d|^/checkpoints/\d+(/|$)")
# The flag, variable or copying command right before a path in a shell's text.
_BEFORE = re.compile(r"""(?:(--?[A-Za-z][\w.-]*)[=\s]|([A-Za-z_]\w*)=|\b(cp|mv|rsync|cat)(?:\s+-\S+)*\s)\s*["']?$""")
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
        self._own = re.compile(rf"{re.escape(self.uri)}(/?|/({'|'.join(WRITTEN)})(/.*)?)")

    def text(self, part: DocumentPart, name: str, text: str) -> str:
        """Return a text as a template has it. `name` is that of its argument or variable."""
        written, end = "", 0
        for path in _PATH.finditer(text) if self.uri else ():
            becomes = escaped(path[0])
            if self._own.fullmatch(path[0]):
                below = path[0].removeprefix(self.uri)
                own = placeholder(OUTPUT) + escaped(below)
                if _is_read(below, name, text[: path.start()]):
                    what = f"{path[0]} stays, as it seems to be read; {own} is what a job itself writes there"
                else:
                    becomes, what = own, f"{path[0]} became {own}"
                self.notes.append(Note(part, f"{name}: {what}"))
            elif path[0].startswith((self.uri, f"/gcs/{self.uri.removeprefix('gs://')}")):
                what = f"{name}: {path[0]} stays, though it begins like the output {self.uri}"
                self.notes.append(Note(part, what))
            written += escaped(text[end : path.start()]) + becomes
            end = path.end()
        return written + escaped(text[end:])


def _is_read(below: str, name: str, before: str) -> bool:
    """Tell whether a path below the output was written by an earlier job, by its own name and that of its argument."""
    if not re.match("/model(/|$)|/checkpoints/.", below):
        return False
    found = _BEFORE.search(before[-100:])
    flag, variable, copies = found.groups() if found else (None, None, None)
    name = flag or variable or name
    return bool(copies) or (bool(_READS.search(name) or _NUMBERED.search(below)) and not _WRITES.search(name))
