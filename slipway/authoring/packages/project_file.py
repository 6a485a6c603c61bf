"""A project of a folder, as its pyproject.toml, setup.py or setup.cfg describes it. Pure."""

from __future__ import annotations

import posixpath
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from slipway.authoring.packages import poetry_file, setup_file
from slipway.authoring.packages.optional_requirements import optional_requirements

PROJECT = "pyproject.toml"
_NAME = re.compile(r"[\w.-]+")
_EXTRAS = re.compile(r"\s*[\w.-]+\s*\[([^\]]*)\]")

Table = Mapping[str, Any]


@dataclass(frozen=True)
class Dependency:
    """A requirement as pip reads it, and its source as uv's table has it; empty for an index."""

    line: str
    source: Table = field(default_factory=dict)

    @property
    def name(self) -> str:
        return normal(self.line)

    @property
    def extras(self) -> tuple[str, ...]:
        found = _EXTRAS.match(self.line)
        return tuple(extra.strip() for extra in found[1].split(",")) if found else ()


@dataclass(frozen=True)
class Project:
    """A project, by the file that describes it."""

    file: str
    name: str = ""
    dependencies: tuple[Dependency, ...] = ()
    optional: Mapping[str, tuple[Dependency, ...]] = field(default_factory=dict)
    #: uv's sources by normal names, which hold for the members of a workspace as well.
    sources: Mapping[str, Any] = field(default_factory=dict)
    indexes: tuple[Table, ...] = ()
    #: Patterns of the folders of a workspace's members.
    members: tuple[str, ...] = ()
    #: Patterns of folders that are none of them.
    excluded: tuple[str, ...] = ()
    #: The folder of the import packages, as the build settings name it; empty for the usual ones.
    root: str = ""
    #: The versions of Python that it supports, as `>=3.10`; empty for any.
    python: str = ""
    #: False where only running setup.py tells what it requires.
    is_readable: bool = True
    #: Packages of extras and groups, by normal names, and where each is listed.
    optional_names: Mapping[str, str] = field(default_factory=dict)

    def requires(self, extras: Sequence[str] = ()) -> tuple[Dependency, ...]:
        """Return the dependencies, with those of some extras."""
        more = (dependency for extra in extras for dependency in self.optional.get(extra, ()))
        return (*self.dependencies, *more)

    def has_member(self, folder: str) -> bool:
        """Return whether a folder, by its path from the project's, is a member of the project's workspace."""
        within = any(fnmatchcase(folder, pattern) for pattern in self.members)
        return within and not any(fnmatchcase(folder, pattern) for pattern in self.excluded)


def normal(requirement: str) -> str:
    """Return the normal form of a requirement's name."""
    found = _NAME.match(requirement.strip())
    return re.sub(r"[-_.]+", "-", found[0]).lower() if found else ""


def read_project(files: Mapping[str, bytes], folder: str = "") -> Project:
    """Return the project at a folder of these files. Raises ValueError for what can't be read."""
    own = {posixpath.relpath(name, folder or "."): content for name, content in _below(files, folder)}
    path = posixpath.join(folder, PROJECT)
    project = project_of(tomllib.loads(own.get(PROJECT, b"").decode()), path)
    if project.dependencies or not {setup_file.PROGRAM, setup_file.SETTINGS} & own.keys():
        return project
    name, lines = setup_file.requirements(own)
    if lines == ():
        return project
    dependencies = tuple(map(Dependency, lines or ()))
    return Project(
        file=posixpath.join(folder, name),
        name=project.name,
        dependencies=dependencies,
        python=project.python,
        root=project.root,
        is_readable=lines is not None,
    )


def _below(files: Mapping[str, bytes], folder: str) -> Iterator[tuple[str, bytes]]:
    for name in (PROJECT, setup_file.PROGRAM, setup_file.SETTINGS):
        path = posixpath.join(folder, name)
        if path in files:
            yield path, files[path]


def project_of(table: Table, file: str) -> Project:
    """Return the project of a pyproject.toml's content. Raises ValueError for what is not as tools write it."""
    try:
        return _project(table, file)
    except (KeyError, AttributeError, TypeError) as problem:
        raise ValueError(f"{problem!r} is not as uv or Poetry writes it") from problem


def _project(table: Table, file: str) -> Project:
    own, tool = table.get("project", {}), table.get("tool", {})
    uv, poetry = tool.get("uv", {}), tool.get("poetry", {})
    sources = {normal(name): source for name, source in uv.get("sources", {}).items()}
    declared = own.get("dependencies", ())
    dependencies = [dependency for line in declared for dependency in sourced(line, sources)]
    indexes, python = [*uv.get("index", ())], own.get("requires-python", "")
    if poetry and not dependencies:
        dependencies = [
            dependency
            for line, source in poetry_file.dependencies(poetry)
            for dependency in sourced(line, {normal(line): source})
        ]
        indexes += poetry_file.indexes(poetry)
        python = python or poetry_file.python(poetry)
    workspace = uv.get("workspace", {})
    return Project(
        file=file,
        name=own.get("name", "") or poetry.get("name", ""),
        dependencies=tuple(dependencies),
        optional={
            extra: tuple(dependency for line in lines for dependency in sourced(line, sources))
            for extra, lines in own.get("optional-dependencies", {}).items()
        },
        sources=sources,
        indexes=tuple(indexes),
        members=tuple(workspace.get("members", ())),
        excluded=tuple(workspace.get("exclude", ())),
        root=_root(tool),
        python=python if isinstance(python, str) else "",
        optional_names={normal(line): place for line, place in optional_requirements(table)},
    )


def _root(tool: Table) -> str:
    """Return the folder of the import packages that the build settings name."""
    if root := tool.get("uv", {}).get("build-backend", {}).get("module-root", ""):
        return str(root)
    found = tool.get("setuptools", {}).get("packages", {})
    where = found.get("find", {}).get("where", ()) if isinstance(found, Mapping) else ()
    packages = tool.get("poetry", {}).get("packages", ())
    named = [*where, *(package["from"] for package in packages if package.get("from"))]
    return str(named[0]) if named else ""


def sourced(line: str, sources: Mapping[str, Any]) -> Iterator[Dependency]:
    """Yield a dependency for each of its sources, with the markers of both."""
    bare, _, marker = line.partition(";")
    given = sources.get(normal(bare), {})
    for source in given if isinstance(given, list) and given else [given or {}]:
        terms = " and ".join(f"({each.strip()})" for each in (marker, source.get("marker", "")) if each.strip())
        behind = f" ; {terms}" if terms else ""
        yield Dependency(f"{bare.strip()}{behind}", source)
