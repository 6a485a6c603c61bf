"""A repository of one's own in its place, and the record of the files that `slipway init` wrote.

The record is written before the first file of a new repository, and after the last of an upgrade: so the same command
completes a killed run, and merges the rest anew.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from slipway.base.codec import from_json
from slipway.base.errors import ConfigError
from slipway.base.files import leftovers, repository, write_atomically
from slipway.reviewing.forge_table import of_file

RECORD = ".starter.json"
_MARKER = re.compile(r"^<<<<<<< ", re.MULTILINE)


@dataclass(frozen=True)
class Place:
    """A repository of one's own: its folder, and the root of its git checkout, where the forge looks for its files."""

    folder: Path
    root: Path

    @classmethod
    def of(cls, folder: Path) -> Place:
        return cls(folder, repository(folder))

    @property
    def within(self) -> str:
        """The folder from the root: "ml/training", or "." where it is the root."""
        return self.folder.resolve().relative_to(self.root).as_posix()

    def path(self, name: str) -> Path:
        return (self.root if of_file(name) and self.within != "." else self.folder) / name

    def shown(self, name: str) -> str:
        """Return the path as a person here types it."""
        return os.path.relpath(self.path(name).resolve()) if of_file(name) else str(self.path(name))

    def read(self, name: str) -> str | None:
        """Return a file's text, None where there is none. Bytes that are not UTF-8 are written back unchanged."""
        path = self.path(name)
        return path.read_bytes().decode(errors="surrogateescape") if path.exists() else None

    def has(self, name: str) -> bool:
        """Tell whether there is a file, or a link to anywhere."""
        return self.path(name).exists() or self.path(name).is_symlink()

    def names(self, folder: str) -> list[str]:
        """Return the names of the files in a folder of this repository."""
        return [f"{folder}/{path.name}" for path in (self.folder / folder).glob("*")]

    def leads_out(self, name: str) -> bool:
        """Tell whether a link leads out of this repository: its target must not be written."""
        path = self.path(name)
        target = Path(os.path.realpath(path))
        if not target.is_relative_to(self.root) or ".git" in target.relative_to(self.root).parts:
            return True
        return path.is_symlink() and not path.exists()


@dataclass(frozen=True)
class Record:
    """A record of init: its release, the answers, and each file that an upgrade renews."""

    slipway: str
    values: Mapping[str, str]
    files: Mapping[str, str]


def read_record(folder: Path) -> Record | None:
    """Return the record of a folder, None where there is none. Raises ConfigError for an unreadable one."""
    path = folder / RECORD
    try:
        body = from_json(path.read_text(encoding="utf-8"))
        texts = {name: "".join(f"{line}\n" for line in lines) for name, lines in body["files"].items()}
        record = Record(body["slipway"], body["values"], texts)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        fix = f"git checkout -- {RECORD}, the last one that was right"
        raise ConfigError(f"{path} can't be read", why=str(problem), fix=fix) from problem
    for name in texts:
        if name.startswith("/") or ".." in Path(name).parts:
            raise ConfigError(f"{path} names {name}, which is outside of this repository", fix="take it out")
    return record


def write(place: Place, name: str, text: str | None) -> None:
    """Write a file, or the target of a link, with its mode; delete it for no text."""
    path = place.path(name)
    if text is None:
        path.unlink()
        return
    target = Path(os.path.realpath(path))
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o644
    _written(target, text.encode(errors="surrogateescape"), mode)


def _written(path: Path, content: str | bytes, mode: int = 0o644) -> None:
    for leftover in leftovers(path):
        leftover.unlink()
    write_atomically(path, content, mode=mode)


def merged(name: str, mine: str, base: str, new: str, labels: tuple[str, str, str]) -> tuple[str, bool]:
    """Return a file with the edits of both sides, and whether they conflict: then with git's markers. Raises
    ConfigError where git is missing, and for a file that has markers of an earlier merge."""
    if mine in (base, new):
        return new, False
    if _MARKER.search(mine):
        why = "the last upgrade and your edits changed the same lines"
        raise ConfigError(f"{name} has conflict markers", why=why, fix="choose between <<<<<<< and >>>>>>> there")
    if new == base:
        return mine, False
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, side) for side in ("mine", "base", "new")]
        for path, text in zip(paths, (mine, base, new), strict=True):
            path.write_bytes(text.encode(errors="surrogateescape"))
        named = (word for label in labels for word in ("-L", label))
        command = ("git", "merge-file", "-p", "--diff3", *named, *map(str, paths))
        try:
            done = subprocess.run(command, capture_output=True, check=False)
        except OSError as problem:
            fix = "install git, or put it on PATH"
            raise ConfigError("git can't be run, which merges edits", why=str(problem), fix=fix) from problem
    if not 0 <= done.returncode < 128:
        raise ConfigError(f"git can't merge {name}", why=done.stderr.decode(errors="replace"), fix="merge it by hand")
    return done.stdout.decode(errors="surrogateescape"), done.returncode > 0


def write_record(place: Place, record: Record) -> None:
    about = "What slipway init wrote. An upgrade merges by it; leave it as it is."
    body = {
        "about": about,
        "slipway": record.slipway,
        "values": dict(sorted(record.values.items())),
        "files": {name: text.splitlines() for name, text in sorted(record.files.items())},
    }
    _written(place.folder / RECORD, f"{json.dumps(body, indent=1)}\n")
