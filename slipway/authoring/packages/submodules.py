"""Submodules of a folder that are not fetched, and how each is."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path, PurePosixPath

from slipway.authoring.packages.working_tree import WorkingTree

_SUBMODULE = re.compile(rb"(?m)^\s*path\s*=\s*(.+?)\s*$")
_BY_ADDRESS = "--code https://HOST/REPOSITORY.git@COMMIT, which brings them"


def unfetched(tree: WorkingTree) -> list[str]:
    """Return the submodules of which the folder has no file."""
    lists = [name for name in tree.files if PurePosixPath(name).name == ".gitmodules"]
    named = [
        str(PurePosixPath(name).parent / path.decode(errors="replace"))
        for name in lists
        for path in _SUBMODULE.findall(tree.files[name])
    ]
    every = dict.fromkeys((*tree.unfetched, *named))
    return [path for path in every if not any(name.startswith(f"{path}/") for name in tree.files)]


def way_to_fetch(tree: WorkingTree, folder: Path, module: str) -> str:
    """Return what to type to have a submodule."""
    if tree.revision.commit and tree.source:
        return f"git clone the repository, in it git clone ADDRESS {shlex.quote(module)}, and --code that folder"
    if tree.source or not any((top / ".git").exists() for top in (folder, *folder.parents)):
        return _BY_ADDRESS
    place = folder / module
    lists = [(top, top / ".gitmodules") for top in place.parents if (top / ".gitmodules").is_file()]
    if any(os.fsencode(place.relative_to(top)) in _with_address(file.read_bytes()) for top, file in lists):
        return "git submodule update --init --recursive"
    return f"git clone ADDRESS {shlex.quote(module)}, as no .gitmodules has one"


def _with_address(content: bytes) -> set[bytes]:
    """Return the paths of submodules for which a list has an address."""
    sections = content.split(b"[submodule")
    return {path for each in sections if b"url" in each for path in _SUBMODULE.findall(each)}
