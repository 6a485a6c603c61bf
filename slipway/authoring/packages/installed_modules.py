"""The packages of this machine that bring a module, by the virtual environments of a folder. Only reads."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from importlib.metadata import Distribution, distributions
from pathlib import Path

from slipway.authoring.packages.project_file import normal

_IN_FOLDER = (".venv", "venv")
_ACTIVE = ("VIRTUAL_ENV", "CONDA_PREFIX")
_MODULES = (".py", ".so", ".pyd")
_PLACES = ("lib/python3*/site-packages", "Lib/site-packages")


class InstalledModules:
    """The modules in the virtual environments of a folder, read when the first module is asked for."""

    def __init__(self, folder: Path, environ: Mapping[str, str]) -> None:
        active = [Path(environ[name]) for name in _ACTIVE if environ.get(name)]
        self._environments = [*(folder / name for name in _IN_FOLDER), *active]

    def packages_of(self, module: str) -> frozenset[str]:
        """Return the normal names of the packages that bring a top module; empty if no environment has it."""
        found = (names[module] for names in self._packages if module in names)
        return frozenset(next(found, ()))

    @cached_property
    def _packages(self) -> list[Mapping[str, set[str]]]:
        """The packages of each module, for each environment."""
        return [_packages_in(place) for environment in self._environments for place in _site_packages(environment)]


def _site_packages(environment: Path) -> list[Path]:
    return sorted(place for pattern in _PLACES for place in environment.glob(pattern))


def _packages_in(place: Path) -> Mapping[str, set[str]]:
    """Return the packages of each top module of an environment."""
    found: dict[str, set[str]] = {}
    for distribution in distributions(path=[os.fspath(place)]):
        for module in _modules(distribution):
            found.setdefault(module, set()).add(normal(distribution.name or ""))
    return found


def _modules(distribution: Distribution) -> set[str]:
    """Return the top modules in the list of a package's files."""
    listed = distribution.read_text("RECORD") or ""
    tops = {line.partition(",")[0] for line in listed.splitlines()}
    names = {top.partition("/")[0].partition(".")[0] for top in tops if top.endswith(_MODULES)}
    return set(filter(str.isidentifier, names))
