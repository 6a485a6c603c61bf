"""An installed engine: `pulumi` on the PATH, new enough, with its Python language host."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from .version import Version, parse

ENGINE = "pulumi"
LANGUAGE_HOST = "pulumi-language-python"

# Generous: the first start of a fresh binary is slow on machines that scan it.
_PATIENCE_S = 20.0


@dataclass(frozen=True)
class Installed:
    """An installed engine that serves. `bin` is the folder of `pulumi` as found on the PATH."""

    bin: Path
    version: Version


@dataclass(frozen=True)
class Search:
    """The engine that was found, and why those before it on the PATH don't serve."""

    found: Installed | None
    refused: tuple[str, ...]


def installed(environ: Mapping[str, str], oldest: Version, besides: Path) -> Search:
    """Return the first `pulumi` on the PATH of `environ` that is at least `oldest` and has its language host.

    An engine without the host can't run a Python program, so it does not count. `besides` is our own cache: an engine
    there is not *installed*.
    """
    refused: list[str] = []
    for program in _programs(environ.get("PATH", "")):
        if program.resolve().is_relative_to(besides.resolve()):
            continue
        version = version_of(program, environ)
        if version is None:
            refused.append(f"{program} does not tell its version")
        elif not version.at_least(oldest):
            refused.append(f"{program} is {version}, older than {oldest}")
        elif not _has_host(program, environ):
            refused.append(f"{program} ({version}) has no {LANGUAGE_HOST} beside it or on PATH")
        else:
            return Search(Installed(program.parent.absolute(), version), tuple(refused))
    return Search(None, tuple(refused))


def version_of(program: Path, environ: Mapping[str, str]) -> Version | None:
    """Return the version that `program version` prints, or None when it fails, hangs or prints something else."""
    quiet = {**environ, "PULUMI_SKIP_UPDATE_CHECK": "true"}
    try:
        done = subprocess.run(
            [program, "version"],
            env=quiet,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PATIENCE_S,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return parse(done.stdout) if done.returncode == 0 else None


def _programs(path: str) -> Iterator[Path]:
    seen: set[Path] = set()
    for folder in path.split(os.pathsep):
        program = shutil.which(ENGINE, path=folder) if folder else None
        if program and (place := Path(program)) not in seen:
            seen.add(place)
            yield place


def _has_host(program: Path, environ: Mapping[str, str]) -> bool:
    # Package managers link `pulumi` alone into a common folder; its companions are beside the link's target.
    for folder in (program.parent, program.resolve().parent):
        if shutil.which(LANGUAGE_HOST, path=str(folder)):
            return True
    return shutil.which(LANGUAGE_HOST, path=environ.get("PATH", "")) is not None
