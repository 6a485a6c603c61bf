"""Images with a job's packages on top, kept for a day: by a pool, since a study's trials bring the same
packages, or for this machine where images are built once for it (`image_builds=once`)."""

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from .. import files
from . import cache

FRESH_S = 86_400.0
"""The seconds for which an installation stands for a new one, which could bring newer versions of open requirements."""


def common(environ: Mapping[str, str]) -> Path:
    """Return this machine's folder for such images, whatever state folder or checkout uses them."""
    return cache.common(environ).with_name("environments")


def filled(
    kept: Path,
    image: Path,
    packages: Sequence[Path],
    target: Path,
    install: Callable[[Path], None],
    give_up: Callable[[], None],
    *,
    lasting: bool,
    now: float,
) -> bool:
    """Make `target` the image's environment with the packages; `now` in seconds since 1970.

    Return whether they had to be installed: they had not when a job with the same packages came by within `FRESH_S`.
    Jobs that come at once wait for the first. `lasting` as in `cache.copied`; raises the errors of `install` and
    `give_up`.
    """
    folder = kept / f"{cache.PACKAGES}{_digest(image, packages)}"
    kept.mkdir(parents=True, exist_ok=True)
    with files.locked(_lock(folder), cache.BUILD_WAIT_S, give_up=give_up):
        ready = folder / cache.READY
        begins = not (ready.exists() and now - ready.stat().st_mtime < FRESH_S)
        if begins:
            cache.remove(folder)
            cache.copied(image, folder, lasting=lasting)
            install(folder)
            ready.touch()
        os.utime(_lock(folder))
        cache.copied(folder, target, lasting=False)
    return begins


def _lock(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.lock")


def _digest(image: Path, packages: Sequence[Path]) -> str:
    """Return a digest of the packages' contents, wherever they come from."""
    digest = hashlib.sha256(str(image).encode())
    for path in packages:
        digest.update(f"\n{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}".encode())
    return digest.hexdigest()[:10]
