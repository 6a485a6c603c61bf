"""What was played so far, a line of JSON each, so that a run that ends early or is killed is taken up again."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

_JUDGED = ("__main__.py", "Pulumi.yaml", "components", "slipway", "local")


@dataclass(frozen=True)
class Entry:
    """`kind` is points, sequences or mutants; `key` is what of it was played, `outcome` a word, `more` the rest."""

    kind: str
    key: str
    outcome: str
    more: Mapping[str, Any]


class Journal:
    """The entries of one code and one seed in a file; entries of others stay in it and are not read."""

    def __init__(self, file: Path, code: str) -> None:
        self._file, self._code = file, code
        self._lock = Lock()
        file.parent.mkdir(parents=True, exist_ok=True)

    def add(self, entry: Entry) -> None:
        row = {"code": self._code, "kind": entry.kind, "key": entry.key, "outcome": entry.outcome, **entry.more}
        line = json.dumps(row, ensure_ascii=False) + "\n"
        with self._lock, self._file.open("a", encoding="utf-8") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())

    def entries(self, kind: str) -> dict[str, Entry]:
        """The last entry of each key."""
        return {row["key"]: _entry(row) for row in self._rows() if row["kind"] == kind and row["code"] == self._code}

    def _rows(self) -> Iterator[dict[str, Any]]:
        if not self._file.exists():
            return
        for line in self._file.read_text(encoding="utf-8").splitlines():
            try:
                yield json.loads(line)
            except ValueError:
                continue  # the last line of a run that was killed in writing it


def _entry(row: Mapping[str, Any]) -> Entry:
    known = ("code", "kind", "key", "outcome")
    return Entry(row["kind"], row["key"], row["outcome"], {key: row[key] for key in row if key not in known})


def code_of(checkout: Path) -> str:
    """A digest of all that is judged: the program, the product and the laptop. What was of other code is void."""
    digest = hashlib.sha256()
    for name in _JUDGED:
        path = checkout / name
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in files:
            if file.is_file() and "__pycache__" not in file.parts:
                digest.update(f"{file.relative_to(checkout)}\0".encode() + file.read_bytes() + b"\0")
    return digest.hexdigest()[:12]
