"""Paths and variables that code, settings or a command name, and that no job has: of the machine that sends it, of
Windows, of another cloud or service. Each with why."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from slipway.authoring.packages.working_tree import WorkingTree

OF_PEOPLE = ("/home/", "/Users/", "~/")
_OUTSIDE = "of this machine, outside of the folder"
_MOST_READ = 2**20
_COMMENT = re.compile(r"(?m)^\s*#.*")
_DISKS = "home|Users|Volumes|data|datasets|fsx|lustre|media|mnt|nfs|scratch|shared|work"
_OUTER = rf"(?:file:(?://)?)?(?:\.\./|/(?:{_DISKS})/|~/(?!\.))[\w./-]+"
_BACKSLASHED = r"[\w.-]+(?:\\{1,2}[\w.-]+)+(?=[\"'])"
# Code that has a default for the variable, or asks whether it is there, was written for other places as well.
_NEEDED = r"\b(?![\"']\s*(?:,|in\b))"
_OUTPUT, _DATA = "$SLIPWAY_OUTPUT here", "$SLIPWAY_DATA here"
_ELSEWHERE = {
    r"[A-Zcd]:(?:\\{1,2}|/)\w{3,}[^\s\"']*": "a path of Windows",
    r"s3[an]?://[\w.-]+[\w./-]*": "of another cloud: gcloud storage cp --recursive takes it to gs://",
    r"(?:abfss?|wasbs?|az)://[\w.@-]+[\w./-]*": "of another cloud: Storage Transfer Service takes it to gs://",
    r"/opt/ml/(?:model|output|checkpoints)\b[\w./-]*": f"SageMaker's: {_OUTPUT}",
    r"/opt/ml/[\w./-]+": f"SageMaker's: {_DATA}",
    rf"SM_(?:MODEL_DIR|OUTPUT_\w+){_NEEDED}": f"SageMaker's: {_OUTPUT}",
    rf"SM_CHANNEL_\w+{_NEEDED}": f"SageMaker's: {_DATA}",
    r"/kaggle/working\b[\w./-]*": f"Kaggle's: {_OUTPUT}",
    r"/kaggle/input\b[\w./-]*": f"Kaggle's: {_DATA}",
    r"/content/[\w./-]+": f"Colab's: {_DATA}",
    r"/dbfs/[\w./-]+|dbfs:/[\w./-]+": f"Databricks': {_DATA}",
    rf"AZUREML_\w+{_NEEDED}": f"Azure's: $SLIPWAY_DATA and {_OUTPUT}",
    rf"(?:SKYPILOT|DSTACK)_(?:NODE|NUM_NODES|MASTER)\w*{_NEEDED}": "another tool's: RANK, WORLD_SIZE, MASTER_ADDR here",
}
_REASONS = tuple(_ELSEWHERE.values())
_ANY = "|".join(
    f"(?P<{name}>{pattern})"
    for name, pattern in (
        *((f"elsewhere_{place}", pattern) for place, pattern in enumerate(_ELSEWHERE)),
        ("outer", _OUTER),
        ("backslashed", _BACKSLASHED),
    )
)
_IN_CODE = re.compile(rf"[\"'](?<!default=.)(?<!exists\(.)(?<!isdir\(.)(?:{_ANY})")
_IN_SHELL = re.compile(rf"(?m)(?:^|[\"'\s=])\$?\{{?(?:{_ANY})")
_DEFAULT = re.compile(rf"[\"'](--[\w-]+)[\"'][^()]{{0,400}}?\bdefault\s*=\s*[\"'](?:{_ANY})")
"""A flag of a program, and its default, which does not matter where the command has the flag."""
_BY_SUFFIX = {".py": _IN_CODE, **dict.fromkeys((".sh", ".yaml", ".yml", ".toml"), _IN_SHELL)}


def foreign(tree: WorkingTree, folder: Path, command: str) -> Iterator[tuple[str, str]]:
    """Yield each path or variable, and why no job has it. Tests are no part of a job."""
    # The words of a command are looked at as files by themselves.
    of_command = (found for found in _IN_SHELL.finditer(command) if found.lastgroup != "outer")
    yield from _named(of_command, tree, folder, folder)
    for name, content in tree.files.items():
        if not (pattern := _BY_SUFFIX.get(PurePosixPath(name).suffix)) or _is_test(PurePosixPath(name)):
            continue
        text = _COMMENT.sub("", content[:_MOST_READ].decode(errors="replace"))
        at = (folder / name).parent
        defaults = (found for found in _DEFAULT.finditer(text) if not _has_flag(command, found[1]))
        yield from _named((*pattern.finditer(text), *defaults), tree, folder, at)


def _named(found: Iterable[re.Match[str]], tree: WorkingTree, folder: Path, at: Path) -> Iterator[tuple[str, str]]:
    for match in found:
        kind = match.lastgroup or ""
        path = match[kind]
        if kind == "outer":
            bare = re.sub("^file:(//)?", "", path)
            there = os.path.normpath(at / Path(bare).expanduser())
            relative = bare.startswith("..") and Path(there).is_relative_to(folder)
            if os.path.exists(there) and not relative:  # noqa: PTH110 - one that may not be read is none, and no error
                yield bare, of_this_machine(there, folder)
        elif kind == "backslashed":
            with_slashes = re.sub(r"\\+", "/", path)
            if with_slashes in tree.files or (folder / with_slashes).exists():
                yield path, f"as Windows writes {with_slashes}"
        else:
            yield path, _REASONS[int(kind.rpartition("_")[2])]


def of_this_machine(path: str, folder: Path) -> str:
    """Return why no job has a path of this disk."""
    place = Path(path)
    return f"of this machine: {place.relative_to(folder)} in the job" if place.is_relative_to(folder) else _OUTSIDE


def _has_flag(command: str, flag: str) -> bool:
    return re.search(rf"(?:^|\s|'){re.escape(flag)}(?:[\s=']|$)", command) is not None


def _is_test(path: PurePosixPath) -> bool:
    return path.name.startswith(("test_", "conftest.")) or not {"tests", "test"}.isdisjoint(path.parts)
