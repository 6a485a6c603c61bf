"""Submissions whose waiting was interrupted, so that the same command goes on with them and makes no second run."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from slipway.errors import SlipwayError
from slipway.files import write_atomically

_SUFFIX = ".waiting"


@dataclass(frozen=True)
class Unfinished:
    """``when`` it began, RFC 3339."""

    request_id: str
    when: str


class Ledger:
    """One small file for each submission that waits in the foreground, beside the journal's."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def begin(self, words: Sequence[str], request_id: str, when: str) -> None:
        """On the disk before it returns, as it must be before anything is sent. Raises SlipwayError."""
        text = json.dumps({"command": digest(words), "when": when})
        try:
            write_atomically(self._folder / f"{request_id}{_SUFFIX}", text, mode=0o600)
        except OSError as problem:
            raise SlipwayError(
                f"could not write down that {request_id} waits",
                why=f"{self._folder}: {problem.strerror or problem}",
                fix="make room or make the folder writable, then run the same command again",
            ) from problem

    def end(self, request_id: str) -> None:
        """It is done with. A file that stays makes the same command look once more, and no more than that."""
        with contextlib.suppress(OSError):
            (self._folder / f"{request_id}{_SUFFIX}").unlink()

    def find(self, words: Sequence[str]) -> tuple[Unfinished, ...]:
        """The unfinished ones of the same command, oldest first. A file that can't be read is none."""
        wanted, found = digest(words), []
        for file in self._folder.glob(f"*{_SUFFIX}"):
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
                body = json.loads(file.read_text(encoding="utf-8"))
                if body["command"] == wanted:
                    found.append(Unfinished(file.name.removesuffix(_SUFFIX), str(body["when"])))
        return tuple(sorted(found, key=lambda one: (one.when, one.request_id)))


def digest(words: Sequence[str]) -> str:
    """What makes two commands the same."""
    return hashlib.sha256("\0".join(words).encode()).hexdigest()
