"""Puts the gcp plugin into a Pulumi home; also `python -m local.plugin.installation PULUMI_HOME`.

`SLIPWAY_GCP_PLUGIN` chooses which: unset for the one beside this file, a path for an official one, `auto` for the
official one that this machine has, which `local.plugin.official` starts and holds to this machine.
"""

import os
import shlex
import shutil
import sys
import tempfile
from pathlib import Path

from slipway.base.standard_output import exit_after

from .. import PACKAGE, module_path
from . import VERSION

VARIABLE = "SLIPWAY_GCP_PLUGIN"
_NAME = "pulumi-resource-gcp"
_MODULE, _HOLDER = f"{PACKAGE}.plugin", f"{PACKAGE}.plugin.official"


class InstallError(Exception):
    """A plugin that can't be put in place; the text says why and what to do."""


def install(pulumi_home: Path, python: Path, choice: str | None = None) -> Path:
    """Put the plugin in place and return its folder.

    Does nothing when it is in place already; an engine that starts meanwhile finds the old one or the new one. `python`
    runs the local plugin, or the guard of an official one. `choice` stands for SLIPWAY_GCP_PLUGIN. Raises InstallError.
    """
    chosen = os.environ.get(VARIABLE, "") if choice is None else choice
    plugins = Path(pulumi_home) / "plugins"
    folder = plugins / f"resource-gcp-v{VERSION}"
    if not chosen:
        wanted = _script(python, _MODULE)
    elif chosen == "auto" or _official(Path(chosen).expanduser()) == (folder / _NAME).resolve():
        wanted = _script(python, _HOLDER, _on_this_machine(folder))
    else:
        wanted = _script(python, _HOLDER, _official(Path(chosen).expanduser()))
    if _current(folder / _NAME) != wanted:
        plugins.mkdir(parents=True, exist_ok=True)
        _put(plugins, folder, wanted)
    # The engine keeps a log of each command in a folder of this name, where it can: a third of its CPU time in a
    # preview, for a file that nobody reads here.
    (Path(pulumi_home) / "logs").touch()
    return folder


def _script(python: Path, module: str, *words: Path) -> str:
    # -P: the engine starts it in the program's folder, whose modules are not ours.
    command = shlex.join((str(Path(python).absolute()), "-P", "-m", module, *map(str, words)))
    path = "".join(f"{name}={shlex.quote(value)} " for name, value in module_path().items())
    return f'#!/bin/sh\n{path}exec {command} "$@"\n'


def _on_this_machine(folder: Path) -> Path:
    """Return the official plugin that the engine would take: from this home, the PATH, or the person's own home."""
    put, kept = folder / _NAME, folder / f"{_NAME}.official"
    if put.is_file() and not _made_here(put):
        put.replace(kept)
    on_path = shutil.which(_NAME)
    own = Path.home() / ".pulumi" / "plugins" / folder.name / _NAME
    for place in (kept, *([Path(on_path)] if on_path else []), own):
        if place.is_file():
            return _official(place)
    raise InstallError(
        f"error: {VARIABLE}=auto found no official gcp plugin\n"
        f"why: there is none in {folder}, on PATH or in {own.parent}\n"
        f"fix: give the path of {_NAME}, or unset {VARIABLE} for the local plugin"
    )


def _official(plugin: Path) -> Path:
    binary = plugin / _NAME if plugin.is_dir() else plugin
    if not binary.is_file() or not os.access(binary, os.X_OK):
        raise InstallError(
            f"error: {VARIABLE} names no plugin\n"
            f"why: {binary} is not an executable file\n"
            f"fix: give the path of {_NAME}, or `auto`, or unset {VARIABLE} for the local plugin"
        )
    return binary.resolve()


def _current(binary: Path) -> str | None:
    try:
        text = binary.read_bytes()[:4096].decode()
    except (OSError, UnicodeDecodeError):
        return None
    return text if os.access(binary, os.X_OK) and not binary.is_symlink() else None


def _made_here(binary: Path) -> bool:
    return f"-m {_MODULE}" in (_current(binary) or "")


def _put(plugins: Path, folder: Path, wanted: str) -> None:
    made = Path(tempfile.mkdtemp(prefix=".installing-", dir=plugins))
    try:
        made.chmod(0o755)
        binary = made / _NAME
        binary.write_text(wanted)
        binary.chmod(0o755)
        try:
            made.rename(folder)
        except OSError:
            if not folder.is_dir():
                raise
            # A folder that holds something can't be exchanged as a whole; its one file can, under a running engine.
            binary.replace(folder / _NAME)
    finally:
        shutil.rmtree(made, ignore_errors=True)
    for left in (folder.with_name(f"{folder.name}.partial"), folder.with_name(f"{folder.name}.lock")):
        left.unlink(missing_ok=True)


def run(arguments: list[str]) -> int:
    """Run the command line and return the exit code."""
    if len(arguments) != 1:
        print(f"usage: python -m {PACKAGE}.plugin.installation PULUMI_HOME", file=sys.stderr)
        return 2
    try:
        print(install(Path(arguments[0]), Path(sys.executable)))
    except InstallError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    exit_after(lambda: run(sys.argv[1:]))
