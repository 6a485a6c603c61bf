"""A uv.lock: the versions of packages, and where they come from. Pure."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from slipway.authoring.packages.project_file import normal
from slipway.authoring.packages.requirements import CONSTRAINT

PYPI = "https://pypi.org/simple"
_OF_DISK = ("virtual", "editable", "directory", "path")
"""Sources of packages that are on the disk."""

Table = Mapping[str, Any]


class UvLock:
    """A lock by its content; without any it has no packages. Raises ValueError for what can't be read."""

    def __init__(self, content: bytes = b"") -> None:
        try:
            self._read(tomllib.loads(content.decode()).get("package", ()))
        except (KeyError, AttributeError, TypeError) as problem:
            raise ValueError(f"{problem!r} is not as uv writes it") from problem

    def _read(self, packages: list[Table]) -> None:
        #: The commits of packages in git, by normal names.
        self.commits: dict[str, str] = {}
        #: The folders of projects on the disk as sources, by normal names.
        self.on_disk: dict[str, Table] = {}
        #: The addresses of the indexes that packages come from.
        self.indexes: set[str] = set()
        #: The packages that each package from elsewhere requires, all by normal names.
        self.required: dict[str, set[str]] = {}
        #: What the locked project itself requires.
        self.declared: list[str] = []
        self._of_index: list[Table] = []
        for package in packages:
            self._add(package, package["name"], package["source"])

    def _add(self, package: Table, name: str, source: Table) -> None:
        if "git" in source:
            self.commits[normal(name)] = source["git"]
        if "registry" in source:
            self.indexes.add(source["registry"])
            self._of_index.append(package)
        on_disk = source.keys() & {*_OF_DISK}
        if not on_disk:
            entries = chain(package.get("dependencies", ()), *package.get("optional-dependencies", {}).values())
            self.required.setdefault(normal(name), set()).update(normal(each["name"]) for each in entries)
        for kind in on_disk:
            self.on_disk[normal(name)] = {"path": source[kind]}
        if "." in source.values():
            requires = package.get("metadata", {}).get("requires-dist", ())
            required = [each for each in requires if "extra ==" not in each.get("marker", "")]
            self.declared = list(map(_requirement, required))

    @property
    def constraints(self) -> Iterator[str]:
        """The version of each package that comes from an index; of several versions each with its markers."""
        counts = Counter(package["name"] for package in self._of_index)
        for package in self._of_index:
            line = f"{CONSTRAINT}{package['name']}=={package['version']}"
            markers = package.get("resolution-markers", ())
            if counts[package["name"]] > 1 and markers:
                line += f" ; {' or '.join(f'({marker})' for marker in markers)}"
            yield line


def _requirement(required: Table) -> str:
    extras = ",".join(required.get("extras", ()))
    marker = required.get("marker", "")
    with_extras = f"{required['name']}[{extras}]" if extras else required["name"]
    line = f"{with_extras}{required.get('specifier', '')}"
    return f"{line} ; {marker}" if marker else line
