"""Source packages as wheels, built once for this machine: attempts, and jobs, bring the same ones again and again."""

import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from .. import files
from . import cache

_SOURCES = (".tar.gz", ".zip")


def common(environ: Mapping[str, str]) -> Path:
    """Return this machine's folder for wheels, whatever state folder or checkout uses them."""
    return cache.common(environ).with_name("wheels")


def built(shelf: Path, package: Path, tool: cache.Tool, uv: str, say: Callable[[str], None]) -> Path:
    """Return the wheel of a source package, put beside it; any other file is returned as it is.

    A wheel is known by its package's content, not by its name. A wheel that is being built is waited for, and the rest
    of a killed build is never taken for a wheel. Raises the errors of `tool`.
    """
    if not package.name.endswith(_SOURCES):
        return package
    kept = shelf / _digest(package)
    shelf.mkdir(parents=True, exist_ok=True)
    with files.locked(lock(kept), cache.BUILD_WAIT_S, give_up=lambda: tool(())):
        built_wheel = next(kept.glob("*.whl"), None)
        if built_wheel is None:
            say(f"Building a wheel of {package.name}, once for this machine...")
            _build(kept, package, tool, uv)
        os.utime(kept)
        wheel = built_wheel or next(kept.glob("*.whl"))
        beside = package.with_name(wheel.name)
        beside.unlink(missing_ok=True)
        cache.link(str(wheel), str(beside), lasting=False)
    return beside


def _build(kept: Path, package: Path, tool: cache.Tool, uv: str) -> None:
    """Build a wheel in a folder of its own, which gets its name when it is complete."""
    draft = Path(tempfile.mkdtemp(prefix=f"{kept.name}-", dir=kept.parent))
    tool((uv, "build", "--wheel", "--quiet", "--python", sys.executable, "--out-dir", str(draft), str(package)))
    shutil.rmtree(kept, ignore_errors=True)
    draft.rename(kept)


def lock(folder: Path) -> Path:
    """Return one of sixteen locks: they stay, since a lock that is removed while somebody waits for it is no lock."""
    return folder.with_name(f"{folder.name[0]}.lock")


def _digest(package: Path) -> str:
    """Return a digest of the package and the interpreter, for which a package may have code to compile."""
    digest = hashlib.sha256(f"{sys.base_prefix}\n{sys.version}\n".encode())
    digest.update(package.read_bytes())
    return digest.hexdigest()[:20]
