"""The bytecode that this environment has of packages, for others that a test installs: what one of them imports it
compiled anew, for six seconds. Python takes bytecode by its source's time and size, and compiles where they differ."""

import contextlib
import os
import shlex
import sys
import sysconfig
from pathlib import Path

_OWN = sysconfig.get_path("purelib")
_BYTECODE = "__pycache__"


def share(environment: Path) -> None:
    """Give an environment links to it."""
    theirs = environment / os.path.relpath(_OWN, sys.prefix)
    for package in theirs.iterdir() if theirs.is_dir() else ():
        for folder, _, files in os.walk(f"{_OWN}/{package.name}"):
            if folder.endswith(_BYTECODE):
                _link_all(folder, files, f"{theirs}{folder.removeprefix(_OWN)}")


def _link_all(folder: str, files: list[str], target: str) -> None:
    with contextlib.suppress(OSError):  # a package without this folder
        os.mkdir(target)  # noqa: PTH102 - texts, as there are thousands
    for name in files:
        with contextlib.suppress(OSError):  # it has its own, or lies on another disk
            os.link(f"{folder}/{name}", f"{target}/{name}")


def sharing_uv(uv: Path) -> str:
    """Return a script that is uv, and gives this bytecode to what it has installed into an environment."""
    share_it = shlex.join((sys.executable, "-I", __file__))
    return f'#!/bin/sh\n{shlex.quote(str(uv))} "$@" || exit\n[ "$1 $2" != "pip install" ] || {share_it} "$@"\n'


if __name__ == "__main__":
    share(Path(sys.argv[sys.argv.index("--python") + 1]).absolute())
