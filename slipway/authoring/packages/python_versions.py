"""Versions of Python that a folder's code supports, checked against a machine's. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from slipway.authoring.packages.project_file import PROJECT
from slipway.authoring.packages.script_header import project_of

_CLAUSE = re.compile(r"\s*(~=|===?|!=|<=?|>=?)\s*(\d+(?:\.\d+)*)(\.\*)?\s*")
_SETTING = re.compile(r"^(?:#\s*)?(?:requires-python|python)\s*=")


def excluded_python(files: Mapping[str, bytes], script: str, versions: str, image: str, python: str) -> Iterator[str]:
    """Yield a line if the code, whose `versions` of Python are as `>=3.11,<4`, excludes that of the image, as `3.10`:
    pip then installs no package. `script` is what the command starts."""
    if not python or not excludes(versions, python):
        return
    is_header = project_of(files.get(script, b"")) is not None
    place = _place(files, script if is_header else PROJECT)
    yield (
        f"! {place} requires Python {versions}, and image {image} has Python {python}, where pip rejects the code: "
        f'write requires-python = ">={python}" if the code runs on it, or use an image of your own'
    )


def excludes(versions: str, python: str) -> bool:
    """Return whether no patch release of a Python, as `3.10`, is among the versions. Clauses that can't be read
    exclude nothing."""
    minor = _numbers(python)[:2]
    clauses = (_CLAUSE.fullmatch(clause) for clause in versions.split(","))
    return any(found is not None and _excludes(found, minor) for found in clauses)


def _excludes(clause: re.Match[str], minor: tuple[int, ...]) -> bool:
    compared, numbers = clause[1], _numbers(clause[2])
    wanted = numbers[:2]
    known = minor[: len(wanted)]
    if compared in (">=", ">"):
        return known < wanted
    if compared == "<":
        is_first = not any(numbers[2:])
        return known > wanted or (known == wanted and is_first)
    if compared == "<=":
        return known > wanted
    if compared == "~=":
        return known < wanted or known[: max(1, len(numbers) - 1)] > wanted[: max(1, len(numbers) - 1)]
    return compared in ("==", "===") and known != wanted


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _place(files: Mapping[str, bytes], file: str) -> str:
    """Return the file and the line of its setting."""
    lines = files.get(file, b"").decode(errors="replace").splitlines()
    number = next((number for number, line in enumerate(lines, 1) if _SETTING.match(line)), 0)
    return f"{file}:{number}" if number else file
