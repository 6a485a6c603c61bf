"""The requirements of a folder of code: its requirements.txt, or else its pyproject.toml, held to the versions of its
uv.lock. Pure."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from slipway.authoring.packages.requirements import CONSTRAINT, requirement_lines
from slipway.base.errors import ConfigError

REQUIREMENTS, PROJECT, LOCK = FILES = ("requirements.txt", "pyproject.toml", "uv.lock")
_PYPI = "https://pypi.org/simple"
_OF_PROJECT = ("virtual", "editable", "directory", "path")
"""Sources of a lock's packages that lie on the disk."""

Table = Mapping[str, Any]


def requirements_of(files: Mapping[str, bytes], top: str) -> tuple[str, ...]:
    """Return what a job with these files installs; `top` is the name of their folder. Raises ConfigError for what no
    job can install, and for files that can't be read."""
    if REQUIREMENTS in files:
        beside = {f"{top}/{name}": content for name, content in files.items()}
        return requirement_lines(files[REQUIREMENTS], f"{top}/{REQUIREMENTS}", beside)
    name = PROJECT if PROJECT in files else LOCK
    if name not in files:
        return ()
    try:
        project, lock = (tomllib.loads(files.get(each, b"").decode()) for each in (PROJECT, LOCK))
        locked = [each for each in lock.get("package", ()) if not each["source"].keys() & {*_OF_PROJECT}]
        declared = project.get("project", {}).get("dependencies", ()) if PROJECT in files else _declared(lock)
        if not declared:
            return ()
        uv = project.get("tool", {}).get("uv", {})
        text = "\n".join(dict.fromkeys([*_indexes(uv, locked), *_sourced(declared, uv.get("sources", {}), locked)]))
        constraints = tuple(_constraints(locked))
    except (ValueError, KeyError, AttributeError, TypeError) as problem:
        why = str(problem) if isinstance(problem, ValueError) else f"{problem!r} is not as uv writes it"
        raise ConfigError(f"can't read {top}/{name}", why=why, fix="uv lock, which says where it is wrong") from problem
    return (*requirement_lines(text.encode(), f"{top}/{name}"), *constraints)


def python_of(files: Mapping[str, bytes]) -> str:
    """Return the versions of Python that a folder's project takes, as `>=3.10`; empty where it says none."""
    try:
        project = tomllib.loads(files.get(PROJECT, b"").decode()).get("project", {})
    except (ValueError, AttributeError):
        return ""
    wanted = project.get("requires-python", "") if isinstance(project, dict) else ""
    return wanted if isinstance(wanted, str) else ""


def _declared(lock: Table) -> list[str]:
    """Return what the project of a lock requires."""
    own = [each for each in lock.get("package", ()) if "." in each["source"].values()]
    wanted = own[0].get("metadata", {}).get("requires-dist", ()) if own else ()
    return [
        each["name"]
        + (f"[{','.join(each['extras'])}]" if each.get("extras") else "")
        + each.get("specifier", "")
        + (f" ; {each['marker']}" if each.get("marker") else "")
        for each in wanted
        if "extra ==" not in each.get("marker", "")
    ]


def _indexes(uv: Table, locked: Sequence[Table]) -> Iterator[str]:
    for index in uv.get("index", ()):
        if index.get("default"):
            yield f"--index-url {index['url']}"
    used = {each["source"].get("registry", _PYPI) for each in locked} or {each["url"] for each in uv.get("index", ())}
    default = {each["url"] for each in uv.get("index", ()) if each.get("default")}
    yield from (f"--extra-index-url {url}" for url in sorted(used - default - {_PYPI}))


def _sourced(declared: Sequence[str], sources: Table, locked: Sequence[Table]) -> Iterator[str]:
    """Yield each requirement, from git or an address where its source is one."""
    commits = {each["name"]: each["source"]["git"] for each in locked if "git" in each["source"]}
    by_name = {_normal(name): given for name, given in sources.items()}
    for line in declared:
        bare, _, marker = line.partition(";")
        name = _normal(bare)
        given = by_name.get(name, [])
        for source in given if isinstance(given, list) and given else [given or {}]:
            terms = " and ".join(f"({each.strip()})" for each in (marker, source.get("marker", "")) if each.strip())
            behind = f" ; {terms}" if terms else ""
            if name in commits or "git" in source:
                yield f"{name} @ {_git(source, commits.get(name, ''))}{behind}"
            elif place := source.get("url") or source.get("path") or (source.get("workspace") and "./"):
                yield f"{name} @ {place}{behind}"
            else:
                yield f"{bare.strip()}{behind}"


def _git(source: Table, locked: str) -> str:
    """Return pip's address of a source in git, at the commit that the lock has of it."""
    address, _, commit = locked.partition("#")
    url = source.get("git") or address.partition("?")[0]
    revision = commit or source.get("rev") or source.get("tag") or source.get("branch")
    inner = f"#subdirectory={source['subdirectory']}" if source.get("subdirectory") else ""
    return f"git+{url.removeprefix('git+')}{f'@{revision}' if revision else ''}{inner}"


def _constraints(locked: Sequence[Table]) -> Iterator[str]:
    """Yield the version of each package that comes of an index; of several versions each with its markers."""
    by_name: dict[str, list[Table]] = defaultdict(list)
    for each in locked:
        if "registry" in each["source"]:
            by_name[each["name"]].append(each)
    for name, versions in by_name.items():
        for each in versions:
            markers = each.get("resolution-markers", ()) if len(versions) > 1 else ()
            behind = f" ; {' or '.join(f'({marker})' for marker in markers)}" if markers else ""
            yield f"{CONSTRAINT}{name}=={each['version']}{behind}"


def _normal(requirement: str) -> str:
    name = requirement.strip()
    end = next((at for at, letter in enumerate(name) if not (letter.isalnum() or letter in "-_.")), len(name))
    return name[:end].lower().replace("_", "-").replace(".", "-")
