"""The dependencies of Poetry's table in a pyproject.toml, as pip reads them, and the versions of its lock. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from slipway.authoring.packages.requirements import CONSTRAINT

LOCK = "poetry.lock"
_NUMBERS = re.compile(r"\d+(?:\.\d+)*")
_COMPARED = re.compile(r"(?:[<>=!~]=|[<>])\s*\S+")

Table = Mapping[str, Any]


@dataclass(frozen=True)
class PoetryLock:
    """The packages of a poetry.lock."""

    #: The versions of those from an index, as pip reads them.
    constraints: tuple[str, ...] = ()
    #: The packages that each package requires, by the names in the lock.
    required: Mapping[str, Collection[str]] = field(default_factory=dict)


def dependencies(poetry: Table) -> Iterator[tuple[str, Table]]:
    """Yield each dependency of the project itself: its requirement as pip reads it, and its source as uv writes one.
    Raises ValueError for a version that pip has no form for."""
    for name, given in poetry.get("dependencies", {}).items():
        if name.lower() == "python":
            continue
        for each in given if isinstance(given, list) else [given]:
            spec: Table = each if isinstance(each, Mapping) else {"version": each}
            if not spec.get("optional"):
                yield _requirement(name, spec), spec


def indexes(poetry: Table) -> Iterator[Table]:
    """Yield the indexes, as uv writes them."""
    for source in poetry.get("source", ()):
        if source.get("url"):
            default = source.get("default") or source.get("priority") in ("default", "primary")
            yield {"url": source["url"], "default": bool(default)}


def python(poetry: Table) -> str:
    """Return the versions of Python that the project supports, as `>=3.9,<4`."""
    wanted = poetry.get("dependencies", {}).get("python", "")
    return version(wanted) if isinstance(wanted, str) else ""


def read_lock(locked: Sequence[Table]) -> PoetryLock:
    """Return the lock with these packages."""
    required = {package["name"]: tuple(package.get("dependencies", {})) for package in locked}
    return PoetryLock(tuple(_constraints(locked)), required)


def _constraints(locked: Sequence[Table]) -> Iterator[str]:
    """Yield the version of each package of a lock that comes from an index; several versions of one have markers."""
    counts = Counter(package["name"] for package in locked)
    for package in locked:
        line = f"{CONSTRAINT}{package['name']}=={package['version']}"
        marker = _marker(package)
        source = package.get("source", {})
        if source.get("type", "legacy") != "legacy":
            continue
        if counts[package["name"]] == 1:
            yield line
        elif marker:
            yield f"{line} ; {marker}"


def _marker(package: Table) -> str:
    """Return the marker of a locked package, which newer locks have by the group that requires it."""
    markers = package.get("markers", "")
    return next(iter(markers.values()), "") if isinstance(markers, Mapping) else str(markers)


def version(text: str) -> str:
    """Return a constraint of Poetry's as pip reads it. Raises ValueError for one of several alternatives."""
    if "|" in text:
        raise ValueError(f"{text!r} has alternatives, which pip has no form for")
    clauses = (_clause(clause.strip()) for clause in text.split(","))
    return ",".join(clause for clause in clauses if clause)


def _clause(clause: str) -> str:
    if clause in ("", "*"):
        return ""
    if clause.startswith("^"):
        return _compatible(clause[1:], _caret(clause[1:]))
    if clause.startswith("~") and not clause.startswith("~="):
        return _compatible(clause[1:], min(2, len(_numbers(clause[1:]))))
    return clause if _COMPARED.fullmatch(clause) else f"=={clause}"


def _numbers(text: str) -> list[int]:
    found = _NUMBERS.match(text.strip())
    if not found:
        raise ValueError(f"{text!r} is not a version")
    return [int(number) for number in found[0].split(".")]


def _caret(text: str) -> int:
    """Return how many numbers of a version must stay: up to the first that is not 0."""
    numbers = _numbers(text)
    return next((place for place, number in enumerate(numbers, 1) if number), len(numbers))


def _compatible(text: str, kept: int) -> str:
    numbers = _numbers(text)[:kept]
    limit = [*numbers[:-1], numbers[-1] + 1]
    return f">={text.strip()},<{'.'.join(map(str, limit))}"


def _requirement(name: str, spec: Table) -> str:
    extras = f"[{','.join(spec['extras'])}]" if spec.get("extras") else ""
    markers = [f"({spec['markers']})"] if spec.get("markers") else []
    if wanted := spec.get("python"):
        clauses = re.findall(r"([<>=!~]+)\s*([\d.]+)", version(wanted))
        markers += [f"python_version {compared} '{number}'" for compared, number in clauses]
    behind = f" ; {' and '.join(markers)}" if markers else ""
    return f"{name}{extras}{version(spec.get('version', '*'))}{behind}"
