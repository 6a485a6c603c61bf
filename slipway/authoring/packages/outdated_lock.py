"""Requirements of a folder that its lock was written without. Pure."""

from __future__ import annotations

import posixpath
import re
import shlex
import tomllib
from collections.abc import Iterable, Iterator, Mapping

from slipway.authoring.packages import poetry_file
from slipway.authoring.packages.folder_packages import LOCK, REQUIREMENTS
from slipway.authoring.packages.project_file import PROJECT, Dependency, Project, normal, project_of, read_project
from slipway.authoring.packages.script_header import project_of as header_of
from slipway.authoring.packages.uv_lock import UvLock
from slipway.base.formatting import join

_MOST = 5
_VERSIONS = re.compile(r"[\w.-]+\s*(?:\[[^\]]*\])?\s*\(?(?P<versions>[^;@)]*)")
_PLAIN = re.compile(r"(?:[<>=!~]=|[<>])[\d.]+(?:\.\*)?")
"""A clause that uv writes as it is; others, such as `1.0-beta1`, it writes in another form."""


def outdated(files: Mapping[str, bytes], script: str) -> Iterator[str]:
    """Yield a line for each file whose requirements the lock does not have. `script` is what the command starts. Files
    that can't be read are no lines: packing rejects them."""
    try:
        yield from _of_script(files, script) if header_of(files.get(script, b"")) else _of_folder(files)
    except (ValueError, KeyError, AttributeError, TypeError):
        return


def _of_script(files: Mapping[str, bytes], script: str) -> Iterator[str]:
    name = f"{script}.lock"
    if name in files:
        header = project_of(header_of(files[script]) or {}, script)
        locked = UvLock(files[name]).of_script
        yield from _line(name, script, _newer(header, locked), f"uv lock --script {shlex.quote(script)}")


def _of_folder(files: Mapping[str, bytes]) -> Iterator[str]:
    if REQUIREMENTS in files:
        return
    if LOCK in files:
        yield from _of_uv(files)
    elif poetry_file.LOCK in files:
        yield from _of_poetry(files)


def _of_uv(files: Mapping[str, bytes]) -> Iterator[str]:
    for folder, locked in UvLock(files[LOCK]).wanted.items():
        if posixpath.join(folder, PROJECT) not in files:
            continue
        project = read_project(files, folder)
        if posixpath.basename(project.file) == PROJECT:
            yield from _line(LOCK, project.file, _newer(project, locked), "uv lock")


def _of_poetry(files: Mapping[str, bytes]) -> Iterator[str]:
    lock = tomllib.loads(files[poetry_file.LOCK].decode())
    locked = {normal(package["name"]) for package in lock.get("package", ())}
    project = read_project(files)
    if project.file == PROJECT:
        unmarked = [each for each in project.dependencies if ";" not in each.line]
        newer = [each.name for each in unmarked if each.name not in locked]
        yield from _line(poetry_file.LOCK, PROJECT, newer, "poetry lock")


def _newer(project: Project, locked: Mapping[str, str]) -> Iterator[str]:
    """Yield the requirements that a lock of uv has in another form, or not at all."""
    for dependency in project.dependencies:
        if dependency.name not in locked:
            yield dependency.name
        elif not dependency.source and _differs(dependency, locked[dependency.name]):
            yield dependency.line.partition(" ; ")[0]


def _differs(dependency: Dependency, locked: str) -> bool:
    found = _VERSIONS.match(dependency.line)
    declared, known = _clauses(found["versions"] if found else ""), _clauses(locked)
    return declared != known and all(map(_PLAIN.fullmatch, declared | known))


def _clauses(versions: str) -> set[str]:
    return {"".join(clause.split()) for clause in versions.split(",") if clause.strip()}


def _line(lock: str, file: str, newer: Iterable[str], fix: str) -> Iterator[str]:
    names = sorted(set(newer))
    if names:
        more = [f"{len(names) - _MOST} more"] if len(names) > _MOST else []
        yield f"! {lock} is older than {file}, which lists {join([*names[:_MOST], *more])}: {fix}"
