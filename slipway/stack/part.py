"""A part of a document, read carefully: rules look at what is well formed and leave the rest to the type check."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

from slipway.stack.document import Document, KeyPath, dotted
from slipway.stack.findings import Finding

T = TypeVar("T")


class DocumentPart:
    """A value at a path. Findings are collected in one list, shared by every part of a document."""

    def __init__(self, document: Document, path: KeyPath = (), findings: list[Finding] | None = None) -> None:
        self.document = document
        self.path = path
        self.findings: list[Finding] = [] if findings is None else findings

    @property
    def value(self) -> Any:
        here = self.document.values
        for part in self.path:
            try:
                here = here[part]
            except (KeyError, IndexError, TypeError):
                return None
        return here

    def __getitem__(self, key: str | int) -> DocumentPart:
        return DocumentPart(self.document, (*self.path, key), self.findings)

    def items(self) -> Iterator[tuple[str, DocumentPart]]:
        """Children of a mapping; nothing when the value is not a mapping."""
        if isinstance(self.value, dict):
            yield from ((str(key), self[key]) for key in self.value)

    def entries(self) -> Iterator[DocumentPart]:
        """Items of a list; nothing when the value is not a list."""
        if isinstance(self.value, list):
            yield from (self[index] for index in range(len(self.value)))

    def of(self, kind: type[T]) -> T | None:
        """The value when it has this type. A bool is not an int."""
        value = self.value
        return value if isinstance(value, kind) and not (kind is int and isinstance(value, bool)) else None

    def wrong(self, what: str, fix: str) -> None:
        self.findings.append(Finding(self.document.file, self.document.line(self.path), dotted(self.path), what, fix))
