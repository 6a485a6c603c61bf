"""A repository of one's own in its place, and what `slipway init` wrote of it, kept beside its files.

All that one run is about to write is in `.starter.json` before the first file is: a killed run is finished by the next.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from slipway.cli.terminal.starter_files import OF_FORGES
from slipway.errors import ConfigError
from slipway.files import leftovers, repository, write_atomically

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
        return (self.root if name.startswith(OF_FORGES) and self.within != "." else self.folder) / name

    def shown(self, name: str) -> str:
        """The path as somebody here types it."""
        return os.path.relpath(self.path(name).resolve()) if name.startswith(OF_FORGES) else str(self.path(name))

    def read(self, name: str) -> str | None:
        """Return a file's text, None where there is none. What is no UTF-8 comes back as it was."""
        path = self.path(name)
        return path.read_bytes().decode(errors="surrogateescape") if path.exists() else None

    def has(self, name: str) -> bool:
        """Tell whether there is a file, or a link, wherever it leads."""
        return self.path(name).exists() or self.path(name).is_symlink()

    def leads_out(self, name: str) -> bool:
        """Tell whether a link leads to no file of this repository: what it leads to is not ours to write."""
        path = self.path(name)
        target = Path(os.path.realpath(path))
        if not target.is_relative_to(self.root) or ".git" in target.relative_to(self.root).parts:
            return True
        return path.is_symlink() and not path.exists()


@dataclass(frozen=True)
class Write:
    """A file that is about to be written, or deleted for no text, in place of the one with this hash. `base` is what
    the record had of it until now."""

    text: str | None
    over: str
    base: str | None


@dataclass(frozen=True)
class Record:
    """A record of init: its release, the answers, each file that an upgrade renews, and what is still to be written."""

    slipway: str
    values: Mapping[str, str]
    files: Mapping[str, str]
    pending: Mapping[str, Write] = field(default_factory=dict)


def read_record(folder: Path) -> Record | None:
    """Return the record of a folder, None where there is none. Raises ConfigError for one that can't be read."""
    path = folder / RECORD
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        pending = {name: Write(one["text"], one["over"], one["base"]) for name, one in found.get("pending", {}).items()}
        texts = {name: "".join(f"{line}\n" for line in lines) for name, lines in found["files"].items()}
        record = Record(found["slipway"], found["values"], texts, pending)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        fix = f"git checkout -- {RECORD}, the last one that was right"
        raise ConfigError(f"{path} can't be read", why=str(problem), fix=fix) from problem
    for name in (*texts, *pending):
        if name.startswith("/") or ".." in Path(name).parts:
            raise ConfigError(f"{path} names {name}, which is outside of this repository", fix="take it out")
    return record


def write(place: Place, before: Record, record: Record, texts: Mapping[str, str | None]) -> None:
    """Write files, and what of them the record keeps. Killed at any point, `finish` does the rest."""
    pending = {name: Write(text, _hash(place.read(name)), before.files.get(name)) for name, text in texts.items()}
    _write_record(place, replace(record, pending=pending))
    finish(place, replace(record, pending=pending))


def finish(place: Place, record: Record) -> Record:
    """Write what is pending, but for files that somebody has changed since: of those the record has the old base again,
    so that the next upgrade brings what this one had for them."""
    bases = dict(record.files)
    for name, one in record.pending.items():
        found = _hash(place.read(name))
        if found == one.over and not place.leads_out(name):
            _put(place, name, one.text)
        elif found != _hash(one.text):
            bases.pop(name, None)
            if one.base is not None:
                bases[name] = one.base
    done = replace(record, files=bases, pending={})
    _write_record(place, done)
    return done


def _put(place: Place, name: str, text: str | None) -> None:
    """Write a file, or the one that a link leads to, with the mode that it has."""
    path = place.path(name)
    if text is None:
        path.unlink()
        return
    target = Path(os.path.realpath(path))
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o644
    _written(target, text.encode(errors="surrogateescape"), mode)


def _written(path: Path, content: str | bytes, mode: int = 0o644) -> None:
    for one in leftovers(path):
        one.unlink()
    write_atomically(path, content, mode=mode)


def plain(text: str | None) -> str | None:
    """Return text with the line ends that releases have."""
    return None if text is None else text.replace("\r\n", "\n")


def as_found(text: str | None, mine: str | None) -> str | None:
    """Return a plain text with the line ends of `mine`: just that one where nothing else differs."""
    if text is None or mine is None:
        return text
    if text == plain(mine):
        return mine
    return text.replace("\n", "\r\n") if 2 * mine.count("\r\n") > mine.count("\n") else text


def merged(name: str, mine: str, base: str, new: str, labels: tuple[str, str, str]) -> tuple[str, bool]:
    """Return a file with the edits of both sides, and whether they are at odds: then with git's markers.

    Raises ConfigError where git is missing, and for a file that has markers of an earlier merge.
    """
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


def _write_record(place: Place, record: Record) -> None:
    about = "What slipway init wrote. An upgrade merges by it; leave it as it is."
    body = {
        "about": about,
        "slipway": record.slipway,
        "values": dict(sorted(record.values.items())),
        "files": {name: text.splitlines() for name, text in sorted(record.files.items())},
    }
    if record.pending:
        body["pending"] = {name: asdict(one) for name, one in record.pending.items()}
    _written(place.folder / RECORD, f"{json.dumps(body, indent=1)}\n")


def _hash(text: str | None) -> str:
    return "" if text is None else hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()
