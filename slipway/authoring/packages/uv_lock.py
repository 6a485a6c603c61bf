"""A uv.lock: the versions of packages, and where they come from. Pure."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
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
            lock = tomllib.loads(content.decode())
            self._read(lock.get("package", ()))
            #: What a script requires that has a lock of its own: the versions of each package, by normal names.
            self.of_script = _versions(lock.get("manifest", {}).get("requirements", ()))
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
        #: What the project in each folder requires: the versions of each package, by normal names.
        self.wanted: dict[str, dict[str, str]] = {}
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
            folder = "" if source[kind] == "." else source[kind]
            required = package.get("metadata", {}).get("requires-dist", ())
            # Locks of older versions of uv have no metadata.
            self.wanted[folder] = _versions(package.get("dependencies", ())) | _versions(required)
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


def _versions(required: Iterable[Table]) -> dict[str, str]:
    """Return the versions of each required package, by its normal name; of several requirements of it all."""
    found: dict[str, str] = {}
    for each in required:
        name, versions = normal(each["name"]), each.get("specifier", "")
        found[name] = f"{found[name]},{versions}" if name in found else versions
    return found


def _requirement(required: Table) -> str:
    extras = ",".join(required.get("extras", ()))
    marker = required.get("marker", "")
    with_extras = f"{required['name']}[{extras}]" if extras else required["name"]
    line = f"{with_extras}{required.get('specifier', '')}"
    return f"{line} ; {marker}" if marker else line
