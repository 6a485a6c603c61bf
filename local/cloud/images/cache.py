"""Images as virtual environments: built once per cache, copied for every run."""

import hashlib
import os
import re
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from local.cloud.images.recipes import Recipe
from local.cloud.nodes import files

_READY = "ready"
_BUILD_WAIT_S = 1800.0

Tool = Callable[[Sequence[str]], None]
"""Runs a command to its end; raises with its output when it fails, and when the replica is to stop.

Without a command it only looks whether the replica is to stop.
"""


def cached(cache: Path, image: str, recipe: Recipe, tool: Tool, uv: str, say: Callable[[str], None]) -> Path:
    """The image's environment in a cache, built if it is not there. A build that was killed is begun again."""
    key = _key(image, recipe)
    folder = cache / key
    if (folder / _READY).exists():
        say(f"Image {image} is in the cache.")
        return folder
    cache.mkdir(parents=True, exist_ok=True)
    say(f"Pulling image {image} (local recipe {recipe.name})...")
    with files.locked(cache / f"{key}.lock", _BUILD_WAIT_S, give_up=lambda: tool(())):
        if not (folder / _READY).exists():
            shutil.rmtree(folder, ignore_errors=True)
            python = str(folder / "bin" / "python")
            tool((uv, "venv", "--quiet", "--python", sys.executable, str(folder)))
            install = (uv, "pip", "install", "--quiet", "--compile-bytecode", "--python", python)
            tool((*install, *recipe.requirements))
            (folder / _READY).touch()
    say(f"Image {image} is ready.")
    return folder


def copied(image: Path, target: Path) -> None:
    """A copy of an image's environment that a run may add to. Files are hard links, scripts name the copy."""
    for folder, folders, names in os.walk(image):
        here = target / Path(folder).relative_to(image)
        here.mkdir(parents=True, exist_ok=True)
        for name in (*names, *(name for name in folders if Path(folder, name).is_symlink())):
            source = Path(folder, name)
            if source.is_symlink():
                (here / name).symlink_to(source.readlink())
            elif Path(folder) == image / "bin":
                _copy_script(source, here / name, image, target)
            elif source != image / _READY:
                _link(source, here / name)


def clear(cache: Path) -> int:
    """Empty a cache, one image at a time and none while it is being built. How many images there were."""
    count = 0
    for lock in sorted(cache.glob("*.lock")):
        with files.locked(lock, _BUILD_WAIT_S):
            folder = lock.with_name(lock.name.removesuffix(".lock"))
            count += (folder / _READY).exists()
            shutil.rmtree(folder, ignore_errors=True)
    return count


def _copy_script(source: Path, target: Path, image: Path, copy: Path) -> None:
    content = source.read_bytes()
    target.write_bytes(content.replace(str(image).encode(), str(copy).encode()))
    shutil.copymode(source, target)


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:
        # Another file system, or one without hard links.
        shutil.copy2(source, target)


def _key(image: str, recipe: Recipe) -> str:
    made_of = "\n".join((sys.version, sys.executable, *recipe.requirements))
    readable = re.sub(r"[^A-Za-z0-9.]+", "-", image.rpartition("/")[2])
    digest = hashlib.sha256(f"{image}\n{made_of}".encode()).hexdigest()
    return f"{readable}-{digest[:10]}"
