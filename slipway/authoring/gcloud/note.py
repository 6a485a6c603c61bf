"""Differences between a template and its job file, reported as the file is imported."""

from __future__ import annotations

from dataclasses import dataclass

from slipway.authoring.stack.yaml_file import DocumentPart, KeyPath


@dataclass(frozen=True)
class Note:
    """A difference between the template's jobs and the job file, or a text that looks like one and stays.

    `path` is the field, which need not be in the file.
    """

    file: str
    line: int
    path: KeyPath
    text: str

    @classmethod
    def of(cls, part: DocumentPart, text: str) -> Note:
        return cls(file=part.document.file, line=part.document.line(part.path), path=part.path, text=text)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}  {self.text}"
