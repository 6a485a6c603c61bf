"""Puts the gcp plugin into a Pulumi home; also `python -m local.plugin.installation PULUMI_HOME`.

`SLIPWAY_GCP_PLUGIN` chooses which: unset for the one beside this file, a path for an official one, `auto` for none
(the engine then takes an installed one or downloads it).
"""

import os
import shlex
import shutil
import sys
import tempfile
from pathlib import Path

from local.plugin import VERSION

VARIABLE = "SLIPWAY_GCP_PLUGIN"
_NAME = "pulumi-resource-gcp"


class InstallError(Exception):
    """A plugin that can't be put in place; the text says why and what to do."""


def install(pulumi_home: Path, python: Path, choice: str | None = None) -> Path:
    """Put the plugin in place and return its folder (for `auto`: where the engine would put it).

    Does nothing when it is in place already; an engine that starts meanwhile finds the old one or the new one.
    `python` runs the local plugin. `choice` stands for SLIPWAY_GCP_PLUGIN. Raises InstallError.
    """
    chosen = os.environ.get(VARIABLE, "") if choice is None else choice
    plugins = Path(pulumi_home) / "plugins"
    folder = plugins / f"resource-gcp-v{VERSION}"
    current = _current(folder / _NAME)
    if chosen == "auto":
        if current is not None and _ours(current):
            shutil.rmtree(folder)
        return folder
    wanted = _official(Path(chosen).expanduser()) if chosen else _script(Path(python))
    if current != wanted:
        plugins.mkdir(parents=True, exist_ok=True)
        _put(plugins, folder, wanted)
    return folder


def _script(python: Path) -> str:
    checkout = Path(__file__).resolve().parents[2]
    # -P: the engine starts it in the program's folder, whose modules are not ours.
    return (
        f"#!/bin/sh\nPYTHONPATH={shlex.quote(str(checkout))} "
        f'exec {shlex.quote(str(python.absolute()))} -P -m local.plugin "$@"\n'
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


def _current(binary: Path) -> str | Path | None:
    if binary.is_symlink():
        return binary.readlink()
    try:
        text = binary.read_bytes()[:4096].decode()
    except (OSError, UnicodeDecodeError):
        return None
    return text if os.access(binary, os.X_OK) else None


def _ours(current: str | Path) -> bool:
    return isinstance(current, Path) or "-m local.plugin" in current


def _put(plugins: Path, folder: Path, wanted: str | Path) -> None:
    made = Path(tempfile.mkdtemp(prefix=".installing-", dir=plugins))
    try:
        made.chmod(0o755)
        binary = made / _NAME
        if isinstance(wanted, Path):
            binary.symlink_to(wanted)
        else:
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
    """The command line; returns the exit code."""
    if len(arguments) != 1:
        print("usage: python -m local.plugin.installation PULUMI_HOME", file=sys.stderr)
        return 2
    try:
        print(install(Path(arguments[0]), Path(sys.executable)))
    except InstallError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
