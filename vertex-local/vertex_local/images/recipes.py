"""Recipes: environments that stand for container images where there is no Docker (data: recipes/*.toml)."""

import fnmatch
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).with_name("recipes")


@dataclass(frozen=True)
class Recipe:
    """A recipe."""

    name: str
    #: Patterns of image URIs.
    images: tuple[str, ...]
    #: Installed into an environment that stands for the images.
    requirements: tuple[str, ...]
    #: It is heavy: built once on this machine, outside every state folder, and caches only link to it.
    shared: bool = False
    #: Options of the installer that bring a smaller environment, where they can be had.
    preferred: tuple[str, ...] = ()
    #: Packages that are left out where these can't be had: nothing here loads them.
    unloaded: tuple[str, ...] = ()
    #: Files that are deleted then, as patterns below site-packages: nothing here opens them.
    unopened: tuple[str, ...] = ()


def recipe_for(image: str) -> Recipe | None:
    """Return the first recipe whose pattern fits the image's URI, None when there is none."""
    return next((recipe for recipe in recipes() if any(fnmatch.fnmatchcase(image, fit) for fit in recipe.images)), None)


@cache
def recipes() -> tuple[Recipe, ...]:
    """Return all recipes, by file name."""
    listed = []
    for path in sorted(_FOLDER.glob("*.toml")):
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        listed.append(
            Recipe(
                name=path.stem,
                images=tuple(data["images"]),
                requirements=tuple(data["requirements"]),
                shared=bool(data.get("shared", False)),
                preferred=tuple(data.get("preferred", ())),
                unloaded=tuple(data.get("unloaded", ())),
                unopened=tuple(data.get("unopened", ())),
            )
        )
    return tuple(listed)
