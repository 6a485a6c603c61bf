"""The Pulumi engine of this machine: installed, else the official release, else built from source."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from . import build, find, host, release
from .cache import Cache, root
from .errors import EngineError, ReleaseUnavailableError, in_words
from .version import PINNED

Source = Literal["installed", "release", "built"]

_CHOICES = ("installed", "release", "build")


@dataclass(frozen=True)
class Engine:
    """A Pulumi engine with its Python language host. `bin` is the folder to put on PATH, `version` such as `3.259.0`.

    An installed engine may lie beside a Python of the system, and the language host takes the first Python on PATH: put
    the virtual environment before `bin`.
    """

    bin: Path
    version: str
    source: Source


def ensure(
    progress: Callable[[str], None], *, environ: Mapping[str, str] | None = None, releases: str = release.RELEASES
) -> Engine:
    """Return the engine to use, downloaded or built first where needed; may be interrupted, repeated and run twice at
    once.

    `progress` is called with the work under way, as `step · detail`. In `environ` (this
    process's, if not given) `SLIPWAY_ENGINE=installed|release|build` forces one source, and `SLIPWAY_CACHE` names the
    cache folder. `releases` is the address of the vendor's releases. Raises EngineError when there is no engine to be
    had.
    """
    environ = os.environ if environ is None else environ
    choice = environ.get("SLIPWAY_ENGINE", "")
    if choice and choice not in _CHOICES:
        raise EngineError(
            f"SLIPWAY_ENGINE={choice} is not known",
            f"it can be {', '.join(_CHOICES)}, or unset to take the first that serves",
            "unset it",
        )
    place = root(environ)
    if choice in ("", "installed"):
        search = find.installed(environ, PINNED, besides=place)
        if search.found:
            return Engine(search.found.bin, str(search.found.version), "installed")
        if choice:
            raise EngineError(
                f"no installed Pulumi {PINNED} or newer serves",
                "; ".join(search.refused) or f"there is no {find.ENGINE} on PATH",
                "install or update Pulumi, or unset SLIPWAY_ENGINE",
            )
        for refused in search.refused:
            progress(f"installed, but not used: {refused}")
    cache = Cache(place / "engine" / str(PINNED))
    try:
        return _cached(cache, choice) or _make(cache, choice, progress, environ, releases)
    except OSError as error:
        raise in_words(error) from error


def _cached(cache: Cache, choice: str) -> Engine | None:
    if choice in ("", "release") and (folder := cache.ready("release")):
        return Engine(folder, str(PINNED), "release")
    if choice in ("", "build") and (folder := cache.ready(_built())):
        return Engine(folder, str(PINNED), "built")
    return None


def _make(
    cache: Cache, choice: str, progress: Callable[[str], None], environ: Mapping[str, str], releases: str
) -> Engine:
    with cache.hold(progress) as lock:
        if done := _cached(cache, choice):
            return done
        if choice in ("", "release"):
            try:
                with cache.making("release") as folder:
                    release.download(folder, PINNED, progress, releases)
                    _prove(folder, environ)
                    host.watch(folder)
            except ReleaseUnavailableError as error:
                if choice:
                    raise
                progress(f"no official release: {error.why}; building from source instead (some minutes, once)")
        if choice != "release" and not cache.ready("release"):
            with cache.making(_built()) as folder:
                build.build(folder, progress, environ, lock)
                _prove(folder, environ)
                host.watch(folder)
    made = _cached(cache, choice)
    if made is None:
        raise EngineError(
            "the engine vanished from the cache right after it was made",
            f"something else removes files from {cache.folder}",
            "set SLIPWAY_CACHE to a folder of your own, then run again",
        )
    return made


def _built() -> str:
    return f"built-{build.recipe()}"


def _prove(folder: Path, environ: Mapping[str, str]) -> None:
    """Raise an error for an engine that does not start here or has the wrong version, before it gets into the cache."""
    version = find.version_of(folder / find.ENGINE, environ)
    if version != PINNED or not os.access(folder / find.LANGUAGE_HOST, os.X_OK):
        told = f"says it is {version}" if version else "does not run on this machine"
        lacks = "" if (folder / find.LANGUAGE_HOST).exists() else f" and there is no {find.LANGUAGE_HOST} with it"
        raise EngineError(
            f"the engine just made is not a working Pulumi {PINNED}",
            f"it {told}{lacks}",
            "unset GOOS, GOARCH and GOFLAGS if they are set, then run again; or install Pulumi itself",
        )
