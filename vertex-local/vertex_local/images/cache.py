"""Images as virtual environments: built once per cache (heavy ones once per machine), copied for every run."""

import contextlib
import hashlib
import os
import platform
import re
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from .. import files
from ..cache_folder import root
from . import bytecode, device_code
from .recipes import Recipe

CONSTRAINTS = Path(__file__).with_name("constraints.txt")
"""The bounds of the versions of a job's packages."""

READY = "ready"
PACKAGES = "packages-"
"""Prefix of the environments that hold an image and a job's packages (see `packages`)."""
BUILD_WAIT_S = 1800.0
_BYTECODE = "__pycache__"
_LINKS = "bytecode-links"
"""The folder of an environment with a link to each of its folders of bytecode, for its copies."""

Tool = Callable[[Sequence[str]], None]
"""Runs a command to its end; raises with its output when it fails, and when the replica is to stop.

Without a command it only looks whether the replica is to stop.
"""


def common(environ: Mapping[str, str]) -> Path:
    """Return this machine's folder for environments of shared recipes, whatever state folder or checkout uses them."""
    return root(environ) / "images"


def cached(
    cache: Path, image: str, recipe: Recipe, tool: Tool, uv: str, say: Callable[[str], None], shelf: Path
) -> Path:
    """Return the image's environment in a cache, built if it is missing. A build that was killed is begun again.

    A shared recipe's environment is built on the `shelf` (see `common`), and the cache gets a link to it.
    """
    key = _key(image, recipe)
    folder = cache / key
    if _ready(folder):
        say(f"Image {image} is in the cache.")
        return folder.resolve()
    cache.mkdir(parents=True, exist_ok=True)
    python = f"this machine's Python {platform.python_version()}"
    say(f"Pulling image {image} (runs on {python}, as local recipe {recipe.name} says)...")
    with files.locked(cache / f"{key}.lock", BUILD_WAIT_S, give_up=lambda: tool(())):
        if not (folder / READY).exists():
            remove(folder)
            if recipe.shared:
                folder.symlink_to(_on_shelf(shelf, recipe, tool, uv, say))
            else:
                _build(folder, recipe, tool, uv, say)
    say(f"Image {image} is ready.")
    return folder.resolve()


def _on_shelf(shelf: Path, recipe: Recipe, tool: Tool, uv: str, say: Callable[[str], None]) -> Path:
    folder = shelf / f"{recipe.name}-{_digest(sys.base_prefix, recipe)}"
    if _ready(folder):
        return folder
    shelf.mkdir(parents=True, exist_ok=True)
    with files.locked(_lock(folder), BUILD_WAIT_S, give_up=lambda: tool(())):
        if not (folder / READY).exists():
            say(f"Building the environment of recipe {recipe.name}, once for this machine...")
            remove(folder)
            _build(folder, recipe, tool, uv, say)
    return folder


def hold(image: Path) -> bool:
    """Keep an image, to which files of a run may be links, until this process ends. Return whether it is there."""
    files.share(_lock(image))
    return _ready(image)


def _lock(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.lock")


def _ready(folder: Path) -> bool:
    """Return whether an environment is whole, and note that it is used now."""
    try:
        os.utime(folder / READY)
    except FileNotFoundError:
        return False
    return True


def _build(folder: Path, recipe: Recipe, tool: Tool, uv: str, say: Callable[[str], None]) -> None:
    """Build an environment. Its mark is made last, so that one without the mark is never taken for a whole one."""
    python = str(folder / "bin" / "python")
    tool((uv, "venv", "--quiet", "--python", sys.executable, str(folder)))
    install = (uv, "pip", "install", "--quiet", "--python", python)
    try:
        tool((*install, *recipe.preferred, *recipe.requirements))
    except Exception:
        tool(())  # which raises where the replica is to stop
        if not recipe.preferred:
            raise
        say(f"The smaller packages of recipe {recipe.name} can't be had; PyPI's are installed...")
        without = folder / "without.txt"
        without.write_text("".join(f"{name} ; sys_platform == 'none'\n" for name in recipe.unloaded), encoding="utf-8")
        # Files that the installer's cache had as well could not be made smaller.
        tool((*install, "--no-cache", "--overrides", str(without), *recipe.requirements))
        for pattern in recipe.unopened:
            for file in (folder / "lib").glob(f"python*/site-packages/{pattern}"):
                file.unlink()
        device_code.forget(folder)
    tool((python, "-I", bytecode.__file__, str(folder / "lib")))
    (folder / READY).touch()


def copied(image: Path, target: Path, *, lasting: bool) -> None:
    """Return a copy of an image's environment that a run may add to. Files are hard links, scripts name the copy.

    Folders of bytecode, half of all folders, are the image's own: Python holds each file of theirs against its source.
    Where hard links can't be made, files of a `lasting` image (which nobody clears while a run uses it) are symbolic
    links, those of another are copies.
    """
    links = image / _LINKS
    links.mkdir(exist_ok=True)
    _link_all(str(image), str(target), str(links), lasting)
    (target / READY).unlink(missing_ok=True)
    for script in (image / "bin").iterdir():
        if script.is_file() and not script.is_symlink():
            copy = target / "bin" / script.name
            copy.unlink()
            _copy_script(script, copy, image, target)


def _link_all(source: str, target: str, links: str, lasting: bool) -> None:
    """Link a folder with its content. Paths are texts: heavy images have tens of thousands of files."""
    os.makedirs(target, exist_ok=True)  # noqa: PTH103
    with os.scandir(source) as entries:
        for entry in entries:
            copy = f"{target}/{entry.name}"
            if entry.is_symlink():
                _link_link(entry.path, copy)
            elif entry.name == _BYTECODE:
                _link_link(_link_to(entry.path, links), copy)
            elif entry.is_dir():
                if entry.path != links:
                    _link_all(entry.path, copy, links, lasting)
            else:
                link(entry.path, copy, lasting=lasting)


def _link_to(folder: str, links: str) -> str:
    """Return a symbolic link to a folder that is there once for all copies: making one takes twenty times as long as a
    hard link to it."""
    kept = f"{links}/{hashlib.sha256(folder.encode()).hexdigest()[:20]}"
    with contextlib.suppress(FileExistsError):
        os.symlink(os.path.abspath(folder), kept)  # noqa: PTH100, PTH211
    return kept


def _link_link(source: str, target: str) -> None:
    """Make a symbolic link as another one is, by a hard link where it can be made."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        os.symlink(os.readlink(source), target)  # noqa: PTH115, PTH211


def link(source: str, target: str, *, lasting: bool) -> None:
    """Make a hard link, or a substitute where none can be made (see `copied`)."""
    try:
        os.link(source, target)
    except OSError:
        # Another file system, or one without hard links.
        if lasting:
            os.symlink(source, target)  # noqa: PTH211
        else:
            shutil.copy2(source, target)


def clear(cache: Path) -> int:
    """Empty a cache, one image at a time and none while it is being built. Return how many images there were."""
    count = 0
    for lock in sorted(cache.glob("*.lock")):
        with files.locked(lock, BUILD_WAIT_S):
            folder = lock.with_name(lock.name.removesuffix(".lock"))
            count += (folder / READY).exists() and not folder.name.startswith(PACKAGES)
            remove(folder)
    return count


def remove(folder: Path) -> None:
    """Remove an environment, or the link to a shared one."""
    if folder.is_symlink():
        folder.unlink()
    else:
        (folder / READY).unlink(missing_ok=True)  # first: the rest of a killed removal is no whole environment
        shutil.rmtree(folder, ignore_errors=True)


def _copy_script(source: Path, target: Path, image: Path, copy: Path) -> None:
    content = source.read_bytes()
    target.write_bytes(content.replace(str(image).encode(), str(copy).encode()))
    shutil.copymode(source, target)


def _key(image: str, recipe: Recipe) -> str:
    readable = re.sub(r"[^A-Za-z0-9.]+", "-", image.rpartition("/")[2])
    return f"{readable}-{_digest(f'{image} {sys.executable}', recipe)}"


def _digest(of: str, recipe: Recipe) -> str:
    made_of = "\n".join((of, sys.version, *recipe.requirements, *recipe.unopened))
    return hashlib.sha256(made_of.encode()).hexdigest()[:10]
