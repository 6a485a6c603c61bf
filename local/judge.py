"""The judge of a change: the slipway by which the base branch deploys, and never the change's own.

A repository that has slipway's source is judged by that. A team's repository pins slipway in `requirements.txt`, so its
judge is an environment of the base's pins, kept below the user's cache. Both run isolated: neither the change's files
nor the person's `PYTHONPATH` reach them.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import site
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from slipway.base.errors import ConfigError
from slipway.reviewing.change.pins import lines

from .engine.cache import MARKER, Cache, root

PINS = Path("requirements.txt")
_SOURCE = Path("slipway", "front", "cli", "review.py")
_INCLUDE = re.compile(r"(?:-r|--requirement|-c|--constraint)[ =]*(\S+)")
_EDITABLE = re.compile(r"(?:-e|--editable)[ =]+")
_EXTRAS = re.compile(r"\[[^]]*\]$")
_FILE_ADDRESS = re.compile(r"file://[^\s#]+")
_GIT_ADDRESS = re.compile(r"(?:git|hg|svn|bzr)\+\S+")
_COMMIT = re.compile(r"@[0-9a-f]{40}(?=[#?]|$)")
_OF_SOURCE = """import runpy, sys
sys.path = [{folder!r}, *sys.path, *{packages!r}]
runpy.run_module("slipway", run_name="__main__", alter_sys=True)
"""
"""Packages without what `.pth` files add: those of an editable install lead to the change's own checkout."""
_MOST_BYTES = 2 * 1000**3


@dataclass(frozen=True)
class Judge:
    """The slipway that judges."""

    #: The project's, as the base branch has it.
    folder: Path
    #: It starts its slipway, with these flags.
    python: Path
    flags: tuple[str, ...]
    variables: Mapping[str, str]
    #: It holds its packages; None where the base's source is on its path.
    environment: Path | None = None

    def command(self, *words: str) -> tuple[str, ...]:
        return (str(self.python), *self.flags, *words)

    def lend(self, virtualenv: str) -> None:
        """Let the base's program run with its own pins, where its project file names an environment in its folder."""
        place = self.folder / virtualenv
        if self.environment and virtualenv and not os.path.lexists(place):
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(self.environment)


def judge_of(folder: Path, base: str, commit: str, environ: Mapping[str, str], say: Callable[[str], None]) -> Judge:
    """Return the judge of a change. Raises ConfigError where the base has none: a change is never judged by itself."""
    isolated = {key: value for key, value in environ.items() if not key.startswith(("PYTHON", "VIRTUAL_ENV"))}
    if (folder / _SOURCE).is_file():
        started = _OF_SOURCE.format(folder=str(folder), packages=site.getsitepackages())
        return Judge(folder, Path(sys.executable), ("-I", "-S", "-c", started), isolated)
    if not (folder / PINS).is_file():
        raise ConfigError(
            f"{base} has nothing to judge by",
            why=f"it has no {PINS} that pins slipway, and what a change brings does not judge it",
            fix=f"merge {PINS} first, which somebody reads: slipway init writes one",
        )
    made = _environment(folder, base, commit, isolated, say)
    return Judge(folder, made / "bin" / "python", ("-I", "-m", "slipway"), isolated, made)


def _environment(folder: Path, base: str, commit: str, environ: Mapping[str, str], say: Callable[[str], None]) -> Path:
    cache = Cache(root(environ) / "judges")
    requirements = tuple(_requirements(folder, PINS))
    lasting, name = _name(folder, requirements, commit)
    with cache.hold(say):
        environment = cache.ready(name) if lasting else None
        if environment is None:
            say(f"the judge, of the pins of {base}")
            with cache.making(name) as partial:
                _install(partial, folder, base, environ, hashed=any("--hash" in text for _, text in requirements))
            environment = cache.folder / name
        os.utime(environment / MARKER)
        # Until this process ends, nobody forgets it.
        fcntl.flock(os.open(environment / MARKER, os.O_RDONLY), fcntl.LOCK_SH)
        _forget(cache.folder)
    return environment


def _install(place: Path, folder: Path, base: str, environ: Mapping[str, str], *, hashed: bool) -> None:
    python = place / "bin" / "python"
    # uv leaves a lock in the temporary folder for each source that it builds.
    environ = {**environ, "TMPDIR": str(place)}
    # The engine has pip list the packages of the program that it runs.
    _uv(folder, base, environ, "venv", "--seed", "--python", sys.executable, str(place))
    hashes = ("--require-hashes",) if hashed else ()
    _uv(folder, base, environ, "pip", "install", "--python", str(python), *hashes, "-r", str(PINS))
    tried = subprocess.run(
        (python, "-I", "-m", "slipway", "review", "--help"), cwd=place, env=environ, capture_output=True, check=False
    )
    if tried.returncode:
        raise ConfigError(
            f"the pins of {base} bring no slipway that reviews",
            why=tried.stderr.decode(errors="replace").strip() or f"exit code {tried.returncode}",
            fix=f"pin slipway in {PINS} there, as slipway init writes it",
        )


def _uv(folder: Path, base: str, environ: Mapping[str, str], *words: str) -> None:
    """Run uv with the person's settings alone, not with those of the change's checkout, which is around this one."""
    beside = Path(sys.executable).with_name("uv")
    uv = str(beside) if beside.is_file() else shutil.which("uv", path=environ.get("PATH"))
    if uv is None:
        raise ConfigError("uv is not on PATH", why="it installs the judge", fix="pip install uv")
    # A wheel built from a folder may be out of date.
    anew = ("--refresh-package", "slipway-vertex") if words[0] == "pip" else ()
    command = (uv, *words, *anew, "--quiet", "--project", str(root(environ)))
    done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ConfigError(
            f"the pins of {base} can't be installed",
            why=done.stderr.strip() or f"exit code {done.returncode}",
            fix=f"see what uv says; {PINS} of {base} is what judges",
        )


def _requirements(folder: Path, file: Path, known: frozenset[Path] = frozenset()) -> Iterator[tuple[Path, str]]:
    """Yield files of requirements with their text, and all files that they include."""
    path = (folder / file).resolve()
    if path in known or not path.is_file():
        return
    text = path.read_text(encoding="utf-8")
    yield file, text
    for entry in included(text):
        yield from _requirements(folder, file.parent / entry, known | {path})


def _name(folder: Path, requirements: tuple[tuple[Path, str], ...], commit: str) -> tuple[bool, str]:
    """Return whether an environment of these requirements lasts (no folder or branch), and its name."""
    digest, lasting = hashlib.sha256(), True
    digest.update(repr((sys.version, sys.platform, os.uname().machine, "with pip")).encode())
    for file, text in requirements:
        digest.update(f"\0{file}\0{text}".encode())
        lasting &= all(_COMMIT.search(match) for match in _GIT_ADDRESS.findall(text))
        places = [unquote(urlsplit(match).path) for match in _FILE_ADDRESS.findall(text)]
        for place in (folder / path for path in (*places, *local_paths(text))):
            if place.is_file():
                digest.update(hashlib.sha256(place.read_bytes()).digest())
            else:
                lasting = False
                digest.update(commit.encode())
    return lasting, digest.hexdigest()[:20]


def included(requirements: str) -> tuple[str, ...]:
    return tuple(match[1] for line in lines(requirements) if (match := _INCLUDE.match(line)))


def local_paths(requirements: str) -> tuple[str, ...]:
    paths = []
    for line in lines(requirements):
        plain = _EDITABLE.sub("", line)
        named = plain.partition(" @ ")[2] if " @ " in plain else plain
        path = _EXTRAS.sub("", named.partition(" ")[0].partition("#")[0])
        if "://" not in path and not path.startswith("-") and ("/" in path or path in (".", "..")):
            paths.append(path)
    return tuple(paths)


def _forget(folder: Path) -> None:
    """Remove the environments that were used longest ago, beyond `_MOST_BYTES` in all, and none in use. The caller
    holds the cache's lock."""
    marks = sorted(folder.glob(f"*/{MARKER}"), key=lambda mark: mark.stat().st_mtime)
    sizes = {mark: _size(mark.parent) for mark in marks}
    excess = sum(sizes.values()) - _MOST_BYTES
    for mark in marks:
        if excess > 0 and _unused(mark):
            shutil.rmtree(mark.parent, ignore_errors=True)
            excess -= sizes[mark]


def _unused(mark: Path) -> bool:
    with mark.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def _size(folder: Path) -> int:
    return sum(path.lstat().st_blocks * 512 for path in folder.rglob("*"))
