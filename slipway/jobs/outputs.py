"""The files that a job's outputs become. Pure. The job chose the names of the objects, so each is looked at before it
becomes a path."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Annotated

from slipway.cloud.storage import StoredObject
from slipway.codec import At
from slipway.recorded_parameters import unfit

PARTS = ".slipway-download"
"""The folder of what has not arrived wholly, beside the files."""
_LONGEST = 255
"""Bytes of a file's name, as most systems have it."""


@dataclass(frozen=True)
class OutputFile:
    """`path` is relative to the folder that the outputs are fetched into."""

    stored: StoredObject
    path: PurePosixPath


@dataclass(frozen=True)
class LeftOut:
    """An object that can't become a file, and why."""

    name: Annotated[str, At("object")]
    why: str


def output_files(objects: Iterable[StoredObject], under: str) -> tuple[list[OutputFile], list[LeftOut]]:
    """What to fetch of the objects whose names begin with `under`, in their order. The empty objects that stand for
    folders, whose names end in `/`, are neither fetched nor left out."""
    named = {one.at.name.removeprefix(under): one for one in objects}
    folders = {str(parent) for name in named for parent in PurePosixPath(name).parents}
    files: list[OutputFile] = []
    left: list[LeftOut] = []
    for name, one in named.items():
        if (not name or name.endswith("/")) and not one.size:
            continue
        if why := _no_path(name) or ("a folder has the same name" if name in folders else ""):
            left.append(LeftOut(one.at.name, why))
        else:
            files.append(OutputFile(one, PurePosixPath(name)))
    return files, left


def _no_path(name: str) -> str:
    """Why no file can have this name below a folder; empty where one can."""
    parts = name.split("/")
    if wrong := unfit(name):
        return f"its name {wrong}"
    if "" in parts:
        return "a part of its name is empty"
    if "." in parts or ".." in parts:
        return "its name leads to another folder"
    if "\0" in name:
        return "its name has a null character"
    if any(len(part.encode()) > _LONGEST for part in parts):
        return f"a part of its name is longer than {_LONGEST} bytes"
    return f"{PARTS} is for what has not arrived wholly" if parts[0] == PARTS else ""
