"""The preparation of a replica before user code: the image, and the job's packages on top of it."""

import os
import re
import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from .. import files
from ..images import cache, packages, wheels
from ..images.recipes import recipe_for
from ..program import COMMAND
from .spec import ReplicaSpec, UnreadyError

_READY = "ready"
_AT_START = ("vertex_endpoint", "user_site", "no_buckets")
_OUTSIDE = re.compile(r"^include-system-site-packages *=.*$", re.M)
_WAIT_S = 1800.0


def prepared(spec: ReplicaSpec, tool: cache.Tool, uv: str | None, say: Callable[[str], None]) -> Path:
    """Return the environment for this replica's process, made by the first replica of the attempt that asks. Raises
    UnreadyError, and the errors of `tool`."""
    recipe = recipe_for(spec.image)
    if recipe is None:
        raise UnreadyError(
            f"Failed to pull image {spec.image}: the local cloud has no recipe for it (vertex_local/images/recipes) "
            "and does not run containers."
        )
    if uv is None:
        raise UnreadyError("The program uv, which builds environments for jobs, is not installed.")
    if spec.shares_images:
        recipe = replace(recipe, shared=True)
    for place in (spec.environment_folder, str(cache.common(os.environ))):
        _check_room(Path(place), spec.least_free_bytes)
    shelf, held = cache.common(os.environ), False
    while not held:
        image = cache.cached(Path(spec.image_folder), spec.image, recipe, tool, uv, say, shelf)
        held = image.parent != shelf.resolve() or cache.hold(image)
    folder = Path(spec.environment_folder)
    folder.mkdir(parents=True, exist_ok=True)
    environment = folder / "environment"
    with files.locked(folder / "lock", _WAIT_S, give_up=lambda: tool(())):
        if not (folder / _READY).exists():
            shutil.rmtree(environment, ignore_errors=True)
            _fill(spec, folder, image, tool, uv, say, lasting=recipe.shared)
            install_at_start(environment)
            show_outside(environment)
            (folder / _READY).touch()
    return environment


def _fill(
    spec: ReplicaSpec,
    folder: Path,
    image: Path,
    tool: cache.Tool,
    uv: str,
    say: Callable[[str], None],
    *,
    lasting: bool,
) -> None:
    """Make the environment. The packages are always requested, which shows whether the job may read them."""
    target, names = folder / "environment", ", ".join(uri.rpartition("/")[2] for uri in spec.packages)
    downloads = _downloads(spec, folder, say) if spec.packages else []

    def install(environment: Path) -> None:
        say(f"Installing {names}")
        shelf = wheels.common(os.environ)
        brought = [str(wheels.built(shelf, download, tool, uv, say)) for download in downloads]
        python, bounds = str(environment / "bin" / "python"), str(cache.CONSTRAINTS)
        # An environment kept for all jobs of the machine is compiled once, as its image is; else each replica does it
        # again.
        compiled = ("--compile-bytecode",) if spec.shares_images else ()
        tool((uv, "pip", "install", "--quiet", *compiled, "--python", python, "--constraint", bounds, *brought))

    if not (downloads and (spec.keeps_packages or spec.shares_images)):
        cache.copied(image, target, lasting=lasting)
        if downloads:
            install(target)
        return
    kept, now = packages.common(os.environ) if spec.shares_images else Path(spec.image_folder), time.time()
    if not packages.filled(kept, image, downloads, target, install, lambda: tool(()), lasting=lasting, now=now):
        say(f"{names} was installed for a job before this one.")


def _downloads(spec: ReplicaSpec, folder: Path, say: Callable[[str], None]) -> list[Path]:
    # An HTTP client takes long to import, and most replicas on a laptop run a command that needs no package.
    from .downloads import download

    return [download(spec, uri, folder / str(at), say) for at, uri in enumerate(spec.packages)]


def _check_room(place: Path, least: int) -> None:
    """Raise UnreadyError where a disk has too little room: what runs into its end fails in odd ways."""
    there = next(folder for folder in (place, *place.parents) if folder.is_dir())
    free = shutil.disk_usage(there).free
    if free < least:
        raise UnreadyError(
            f"The disk is full: {free / 1e6:.0f} MB are free at {there}, and a job starts with {least / 1e6:.0f} MB. "
            f"Make room, as with `{COMMAND} cache clear`, and submit it again."
        )


def install_at_start(environment: Path) -> None:
    """Let every Python of a virtual environment load these modules as it starts."""
    for folder in environment.glob("lib/python3*/site-packages"):
        for name in _AT_START:
            shutil.copyfile(Path(__file__).with_name(f"{name}.py"), folder / f"_local_{name}.py")
            (folder / f"_local_{name}.pth").write_text(f"import _local_{name}\n", encoding="utf-8")


def show_outside(environment: Path) -> None:
    """Let a virtual environment see the user's packages. Its settings may be a link, so they are replaced."""
    settings = environment / "pyvenv.cfg"
    text = _OUTSIDE.sub("include-system-site-packages = true", settings.read_text(encoding="utf-8"))
    settings.unlink()
    settings.write_text(text, encoding="utf-8")
