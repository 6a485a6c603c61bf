"""What was played so far, a line of JSON each, so that a run that ends early or is killed is taken up again.

What went well is kept with the code too (`bench/faults/played.py`), and a machine without a journal goes on from there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from bench.faults import played

Code = Callable[[str, str], str]
"""A digest of the code that an entry of a kind and a key is about."""


@dataclass(frozen=True)
class Entry:
    """`kind` is points, cleans, sequences or mutants; `key` is what of it was played, `outcome` a word, `more` the
    rest."""

    kind: str
    key: str
    outcome: str
    more: Mapping[str, Any]


class Journal:
    """The entries in a file, each with the digest of the code that it is about, and those in the tables of `kept`."""

    def __init__(self, file: Path, code: Code, kept: Path) -> None:
        self._file, self._code, self._kept = file, code, kept
        self._lock = Lock()
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.exists() and not file.read_bytes().endswith(b"\n"):
            # A run was killed in writing its last line, which must not spoil the next.
            with file.open("a", encoding="utf-8") as cut_off:
                cut_off.write("\n")

    def add(self, entry: Entry) -> None:
        line = json.dumps(_row(entry, self._code(entry.kind, entry.key)), ensure_ascii=False) + "\n"
        with self._lock, self._file.open("a", encoding="utf-8") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())

    def entries(self, kind: str) -> dict[str, Entry]:
        """The last entry of each key, of those that are about the code as it is now."""
        return {key: entry for key, (entry, code) in self._last(kind).items() if code == self._code(kind, key)}

    def earlier(self, kind: str) -> dict[str, Entry]:
        """The last entry of each key that was played with other code alone."""
        return {key: entry for key, (entry, code) in self._last(kind).items() if code != self._code(kind, key)}

    def keep(self) -> None:
        """Write the tables anew, with what the journal has beyond them."""
        played.write(
            self._kept, [_row(entry, code) for kind in played.GOOD for entry, code in self._last(kind).values()]
        )

    def _last(self, kind: str) -> dict[str, tuple[Entry, str]]:
        """By key, with the code that it is about: what is about the code as it is now goes before what is not."""
        last: dict[str, tuple[Entry, str]] = {}
        for row in self._rows():
            if row["kind"] == kind:
                key, code = row["key"], self._code(kind, row["key"])
                if row["code"] == code or key not in last or last[key][1] != code:
                    last[key] = _entry(row), row["code"]
        return last

    def _rows(self) -> Iterator[Mapping[str, Any]]:
        yield from played.read(self._kept)
        if not self._file.exists():
            return
        for line in self._file.read_text(encoding="utf-8").splitlines():
            try:
                yield json.loads(line)
            except ValueError:
                continue  # the last line of a run that was killed in writing it


def _row(entry: Entry, code: str) -> dict[str, Any]:
    return {"code": code, "kind": entry.kind, "key": entry.key, "outcome": entry.outcome, **entry.more}


def _entry(row: Mapping[str, Any]) -> Entry:
    known = ("code", "kind", "key", "outcome")
    return Entry(row["kind"], row["key"], row["outcome"], {key: row[key] for key in row if key not in known})
