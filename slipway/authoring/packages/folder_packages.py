"""Packages that a job installs for a folder of code, and the subfolders whose code others import: by the header of its
script, its requirements.txt, or its project, at the versions of a lock. Pure."""

from __future__ import annotations

import posixpath
import tomllib
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from slipway.authoring.packages import poetry_file, setup_file
from slipway.authoring.packages.project_file import (
    PROJECT,
    Dependency,
    Project,
    normal,
    project_of,
    read_project,
    sourced,
)
from slipway.authoring.packages.project_metadata import metadata_of
from slipway.authoring.packages.requirements import CODE, has_hash, requirement_lines
from slipway.authoring.packages.script_header import project_of as header_of
from slipway.authoring.packages.uv_lock import PYPI, UvLock
from slipway.base.errors import ConfigError
from slipway.base.formatting import join

REQUIREMENTS, LOCK = "requirements.txt", "uv.lock"
FILES = (REQUIREMENTS, PROJECT, LOCK, setup_file.PROGRAM, setup_file.SETTINGS)
"""The files that list what a job installs, at a folder's top."""

Table = Mapping[str, Any]


@dataclass(frozen=True)
class FolderPackages:
    """Packages that a job installs for a folder of code."""

    #: As pip reads them, with indexes and constraints.
    lines: tuple[str, ...] = ()
    #: The file that lists them.
    file: str = REQUIREMENTS
    #: Folders of the folder whose modules are imported by their names from there.
    code: tuple[str, ...] = ()
    #: The versions of Python that the code supports, as `>=3.10`; empty for any.
    python: str = ""
    #: All packages are listed, not those alone that the code names.
    is_whole: bool = False
    #: Packages that are listed and not installed, by normal names, and where each is listed.
    not_installed: Mapping[str, str] = field(default_factory=dict)
    #: The files of the metadata of the folder's own projects.
    metadata: Mapping[str, str] = field(default_factory=dict, compare=False)


def packages_of(files: Mapping[str, bytes], top: str, script: str = "") -> FolderPackages:
    """Return what a job with these files installs that starts a script. `top` is the name of their folder. Raises
    ConfigError for what no job can install, and for files that can't be read."""
    packages = _listed(files, top, script)
    return replace(packages, metadata=metadata_of(files, packages.code))


def _listed(files: Mapping[str, bytes], top: str, script: str) -> FolderPackages:
    if header := _header(files, top, script):
        return _of_project(files, top, header, _lock(files, top, f"{script}.lock"))
    if REQUIREMENTS in files:
        return _of_requirements(files, top)
    project = _read(files, top)
    if not project.dependencies and not project.members and LOCK not in files:
        return FolderPackages(file=project.file, python=project.python, not_installed=project.optional_names)
    return _of_project(files, top, project, _lock(files, top, LOCK))


def adding(files: Mapping[str, bytes], file: str, names: Sequence[str]) -> str:
    """Return how packages are added to what a job installs, which `file` lists."""
    project, listed = files.get(PROJECT, b""), " ".join(names)
    is_poetry = b"[tool.poetry" in project or poetry_file.LOCK in files
    if file == LOCK or (file == PROJECT and (LOCK in files or b"[tool.uv" in project)):
        return f"uv add {listed}"
    if file == PROJECT and is_poetry:
        return f"poetry add {listed}"
    if file == PROJECT and b"[project]" in project:
        return f"list {join(names)} in project.dependencies of {PROJECT}"
    return f"list {join(names)} in {REQUIREMENTS if file == PROJECT else file}"


def python_of(files: Mapping[str, bytes]) -> str:
    """Return the versions of Python that a folder's project supports, as `>=3.10`; empty for any."""
    try:
        return read_project(files).python
    except ValueError:
        return ""


def _read(files: Mapping[str, bytes], top: str, folder: str = "") -> Project:
    try:
        return read_project(files, folder)
    except ValueError as problem:
        raise _unreadable(posixpath.join(top, folder, PROJECT), problem) from problem


def _header(files: Mapping[str, bytes], top: str, script: str) -> Project | None:
    try:
        found = header_of(files.get(script, b""))
        return project_of(found, script) if found is not None else None
    except ValueError as problem:
        raise _unreadable(f"{top}/{script}", problem, "correct the block that begins with # /// script") from problem


def _lock(files: Mapping[str, bytes], top: str, name: str) -> UvLock:
    try:
        return UvLock(files.get(name, b""))
    except ValueError as problem:
        raise _unreadable(f"{top}/{name}", problem) from problem


def _unreadable(file: str, problem: Exception, fix: str = "uv lock, which says where it is wrong") -> ConfigError:
    return ConfigError(f"can't read {file}", why=str(problem), fix=fix)


def _of_requirements(files: Mapping[str, bytes], top: str) -> FolderPackages:
    beside = {f"{top}/{name}": content for name, content in files.items()}
    lines = requirement_lines(files[REQUIREMENTS], f"{top}/{REQUIREMENTS}", beside, folders=_projects(files))
    packages = [line for line in lines if not line.startswith(CODE)]
    own = [line.removeprefix(CODE) for line in lines if line.startswith(CODE)]
    whole = any(map(has_hash, packages))
    found = _Folders(files, top, Project(""), {})
    parts = [folder.partition("[") for folder in own]
    found.take([Dependency(f"code{bracket}{extras}", {"path": folder}) for folder, bracket, extras in parts])
    more = () if whole else requirement_lines("\n".join(found.lines).encode(), f"{top}/{REQUIREMENTS}")
    return FolderPackages(
        lines=tuple(dict.fromkeys([*packages, *more])),
        code=tuple(found.code),
        python=python_of(files),
        is_whole=whole,
    )


def _of_project(files: Mapping[str, bytes], top: str, project: Project, lock: UvLock) -> FolderPackages:
    found = _Folders(files, top, project, lock.commits)
    found.take(_declared(project, lock), posixpath.dirname(project.file))
    if project.members and not project.name:  # A workspace that is no project itself.
        found.take_members()
    file = _file(files, project)
    poetry = _poetry_lock(files, top, project)
    required: Mapping[str, Collection[str]] = lock.required
    if not required:
        required = {normal(name): tuple(map(normal, names)) for name, names in poetry.required.items()}
    not_installed = _not_installed(project, required, found.lines, LOCK if lock.required else poetry_file.LOCK)
    if not found.lines:
        return FolderPackages(file=file, code=tuple(found.code), python=project.python, not_installed=not_installed)
    text = "\n".join(dict.fromkeys([*_indexes(project.indexes, lock.indexes), *found.lines]))
    lines = requirement_lines(text.encode(), f"{top}/{project.file or LOCK}")
    constraints = tuple(lock.constraints) or poetry.constraints
    code, is_whole = tuple(found.code), bool(constraints)
    return FolderPackages((*lines, *constraints), file, code, project.python, is_whole, not_installed)


def _not_installed(
    project: Project, required: Mapping[str, Collection[str]], lines: Collection[str], lock: str
) -> dict[str, str]:
    """Return the packages of extras, of groups and of the lock alone, which nothing in `lines` requires."""
    waiting = deque(map(normal, lines))
    installed = set[str]()
    while waiting:
        name = waiting.popleft()
        if name not in installed:
            installed.add(name)
            waiting.extend(required.get(name, ()))
    places = dict.fromkeys(required, f"`{lock}`") | dict(project.optional_names)
    return {name: place for name, place in places.items() if name not in installed}


def _declared(project: Project, lock: UvLock) -> tuple[Dependency, ...]:
    """Return what a project requires, or its lock where the project's file does not tell."""
    if project.dependencies or project.file != PROJECT:
        return project.requires()
    sourced_lines = (sourced(line, lock.on_disk) for line in lock.declared)
    return tuple(chain.from_iterable(sourced_lines))


def _file(files: Mapping[str, bytes], project: Project) -> str:
    """Return the file in which a version is changed."""
    if project.file == PROJECT:
        return PROJECT if PROJECT in files else LOCK
    return project.file


def _poetry_lock(files: Mapping[str, bytes], top: str, project: Project) -> poetry_file.PoetryLock:
    if project.file != PROJECT or poetry_file.LOCK not in files:
        return poetry_file.PoetryLock()
    try:
        return poetry_file.read_lock(tomllib.loads(files[poetry_file.LOCK].decode()).get("package", ()))
    except (ValueError, KeyError, AttributeError, TypeError) as problem:
        raise _unreadable(f"{top}/{poetry_file.LOCK}", problem, "poetry lock") from problem


class _Folders:
    """The dependencies of a project and, in their turn, of the folder's projects among them."""

    def __init__(self, files: Mapping[str, bytes], top: str, workspace: Project, commits: Mapping[str, str]) -> None:
        self._files, self._top, self._workspace, self._commits = files, top, workspace, commits
        self._projects = _projects(files)
        self._members = {
            normal(_read(files, top, folder).name): folder
            for folder in sorted(self._projects)
            if workspace.has_member(folder)
        }
        self.lines: list[str] = []
        #: The folders of the import packages of each project, in the order in which they are required.
        self.code: dict[str, None] = {}

    def take_members(self) -> None:
        """Add all members of the workspace."""
        self.take([Dependency(name, {"path": folder}) for name, folder in self._members.items()])

    def take(self, dependencies: Sequence[Dependency], folder: str = "") -> None:
        """Add dependencies of the project in `folder`, and those of the folder's projects among them."""
        waiting = deque((dependency, folder) for dependency in dependencies)
        known: set[str] = set()
        while waiting:
            dependency, declared_in = waiting.popleft()
            place = self._place(dependency, declared_in)
            if place is None:
                self.lines.append(self._line(dependency))
            elif place not in known:
                known.add(place)
                project = self._project(place)
                self.code.update(dict.fromkeys(_code_folders(self._files, place, project)))
                waiting.extend((each, place) for each in project.requires(dependency.extras))

    def _place(self, dependency: Dependency, declared_in: str) -> str | None:
        """Return the folder of a project of the folder; None for a package. Raises ConfigError for a member of a
        workspace that the folder does not have."""
        source = dependency.source
        if source.get("workspace"):
            if dependency.name in self._members:
                return self._members[dependency.name]
            raise ConfigError(
                f"{self._top}: {dependency.name} is a member of a uv workspace that the folder does not have",
                why="no job has it: the package of a job holds its own folder alone",
                fix="slipway run --code FOLDER SCRIPT: the workspace's folder, and the script's path from there",
            )
        if not source.get("path"):
            return None
        place = posixpath.normpath(posixpath.join(declared_in, source["path"]))
        place = "" if place == "." else place
        return place if place in self._projects else None

    def _project(self, place: str) -> Project:
        """Return a project, for whose dependencies the workspace's sources hold as well."""
        project, sources = _read(self._files, self._top, place), self._workspace.sources
        own = [each if each.source else next(sourced(each.line, sources)) for each in project.dependencies]
        return replace(project, dependencies=tuple(own)) if self._workspace.has_member(place) else project

    def _line(self, dependency: Dependency) -> str:
        source, name = dependency.source, dependency.name
        bare, _, marker = dependency.line.partition(" ; ")
        behind = f" ; {marker}" if marker else ""
        if name in self._commits or "git" in source:
            return f"{name} @ {_git(source, self._commits.get(name, ''))}{behind}"
        place = source.get("url") or source.get("path")
        return f"{name} @ {place}{behind}" if place else f"{bare}{behind}"


def _projects(files: Mapping[str, bytes]) -> set[str]:
    """Return the folders that have a project, from the top; the top is empty."""
    names = (PROJECT, setup_file.PROGRAM)
    return {posixpath.dirname(name) for name in files if posixpath.basename(name) in names}


def _code_folders(files: Mapping[str, bytes], place: str, project: Project) -> Iterator[str]:
    """Yield the folder from which a project's packages are imported; none for the top, which every job has there."""
    inner = [posixpath.join(place, name) for name in (project.root, "src") if name]
    has_code = (each for each in inner if any(name.startswith(f"{each}/") and name.endswith(".py") for name in files))
    folder = next(has_code, place)
    if folder:
        yield posixpath.normpath(folder)


def _indexes(indexes: Sequence[Table], locked: Collection[str]) -> Iterator[str]:
    """Yield the lines of a project's indexes, without those that its lock does not use."""
    default = [index["url"] for index in indexes if index.get("default")]
    used = set(locked) or {index["url"] for index in indexes}
    yield from (f"--index-url {url}" for url in default)
    yield from (f"--extra-index-url {url}" for url in sorted(used - {*default, PYPI}))


def _git(source: Table, locked: str) -> str:
    """Return pip's address of a source in git, at the commit that the lock has of it."""
    address, _, commit = locked.partition("#")
    url = source.get("git") or address.partition("?")[0]
    revision = commit or source.get("rev") or source.get("tag") or source.get("branch")
    inner = f"#subdirectory={source['subdirectory']}" if source.get("subdirectory") else ""
    return f"git+{url.removeprefix('git+')}{f'@{revision}' if revision else ''}{inner}"
