"""A browser for the tests: the installed one, else Debian's, unpacked into the cache without root.

`python -m tests.chromium` prints which, or why there is none. Nothing is installed, and no setting changes.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
_INSTALLED = ("chromium", "chromium-browser", "google-chrome")
_UNPACKED = "debian"
_PATIENCE_S = 600


@dataclass(frozen=True)
class Browser:
    """A program, and the further variables that it needs."""

    program: Path
    environ: Mapping[str, str] = field(default_factory=dict)


@cache
def find() -> Browser | str:
    """Return a browser, or why there is none."""
    for name in _INSTALLED:
        if found := shutil.which(name):
            return Browser(Path(found))
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        return "no chromium is installed, and this is no Debian, whose package could be unpacked"
    try:
        from local.engine.cache import Cache, root
    except ImportError:
        return "no chromium is installed, and without local/ there is no cache to unpack it in"
    cached = Cache(root(os.environ) / "chromium")
    try:
        if not cached.ready(_UNPACKED):
            with cached.hold(lambda words: None):
                if not cached.ready(_UNPACKED):
                    with cached.making(_UNPACKED) as folder:
                        _unpack(folder)
    except subprocess.CalledProcessError as error:
        return f"Debian's chromium can't be had: {_last(error.stderr)}"
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"Debian's chromium can't be had: {error}"
    return _checked(cached.folder / _UNPACKED)


def _unpack(folder: Path) -> None:
    """Fetch the package and its missing dependencies, as apt would install them."""
    missing = ["apt-get", "install", "--simulate", "--no-install-recommends", "chromium", "fonts-dejavu-core"]
    planned = _run(missing, folder).splitlines()
    names = [line.split()[1] for line in planned if line.startswith("Inst ")]
    _run(["apt-get", "download", *names], folder)
    for package in folder.glob("*.deb"):
        _run(["dpkg-deb", "--extract", package.name, str(folder)], folder)
        package.unlink()


def _run(command: list[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, timeout=_PATIENCE_S)
    return done.stdout


def _checked(folder: Path) -> Browser | str:
    libraries = sorted({str(path.parent) for path in folder.glob("usr/lib/*-linux-*/**/lib*.so*")})
    there = os.environ.get("LD_LIBRARY_PATH", "")
    environ = {"LD_LIBRARY_PATH": ":".join(filter(None, (*libraries, there)))}
    found = Browser(folder / "usr/lib/chromium/chromium", environ)
    try:
        command = [str(found.program), "--version"]
        subprocess.run(command, env={**os.environ, **environ}, check=True, capture_output=True, text=True, timeout=60)
    except subprocess.CalledProcessError as error:
        return f"Debian's chromium does not start: {_last(error.stderr)}"
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"Debian's chromium does not start: {error}"
    return found


def _last(text: str) -> str:
    return (text.strip().splitlines() or ["it gives no reason"])[-1]


if __name__ == "__main__":
    chosen = find()
    sys.stdout.write(f"{chosen if isinstance(chosen, str) else chosen.program}\n")
