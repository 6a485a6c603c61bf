"""What a template has otherwise than its job file, told as it is imported."""

from __future__ import annotations

from dataclasses import dataclass

from slipway.authoring.stack.yaml_file import DocumentPart, KeyPath


@dataclass(frozen=True)
class Note:
    """A difference between the template's jobs and the job file at the field `path`, or what looks like one and stays.
    The field need not be in the file."""

    file: str
    line: int
    path: KeyPath
    text: str

    @classmethod
    def of(cls, part: DocumentPart, text: str) -> Note:
        return cls(part.document.file, part.document.line(part.path), part.path, text)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}  {self.text}"
