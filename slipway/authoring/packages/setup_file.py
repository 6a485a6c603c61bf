"""What a setup.py or a setup.cfg lists as requirements, read without being run. Pure."""

from __future__ import annotations

import ast
import configparser
import warnings
from collections.abc import Mapping

PROGRAM, SETTINGS = "setup.py", "setup.cfg"
_FIELD = "install_requires"


def requirements(files: Mapping[str, bytes]) -> tuple[str, tuple[str, ...] | None]:
    """Return the file that lists requirements, and these: None where only running the file tells them."""
    of_program = _of_program(files[PROGRAM]) if PROGRAM in files else ()
    if of_program != ():
        return PROGRAM, of_program
    return SETTINGS, _of_settings(files.get(SETTINGS, b""))


def _of_program(content: bytes) -> tuple[str, ...] | None:
    tree = _tree(content)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    given = [keyword.value for call in calls for keyword in call.keywords if keyword.arg == _FIELD]
    return _listed(_value(tree, given[0])) if given else ()


def _value(tree: ast.Module, given: ast.expr) -> ast.expr:
    """Return an expression, or what the program assigns to the name that it is."""
    if not isinstance(given, ast.Name):
        return given
    assigned = [statement for statement in tree.body if isinstance(statement, ast.Assign)]
    named = [each.value for each in assigned if ast.unparse(each.targets[0]) == given.id]
    return named[-1] if named else given


def _listed(value: ast.expr) -> tuple[str, ...] | None:
    """Return the lines of a literal list; None for anything else."""
    try:
        listed = ast.literal_eval(value)
    except (ValueError, TypeError):
        return None
    lines = listed.splitlines() if isinstance(listed, str) else listed
    if not isinstance(lines, list | tuple) or not all(isinstance(line, str) for line in lines):
        return None
    return tuple(line.strip() for line in lines if line.strip())


def _tree(content: bytes) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(content)
    except (SyntaxError, ValueError):
        return ast.Module([], [])


def _of_settings(content: bytes) -> tuple[str, ...]:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(content.decode(errors="replace"))
    except configparser.Error:
        return ()
    listed = parser.get("options", _FIELD, fallback="")
    lines = (line.strip() for line in listed.splitlines())
    return tuple(line for line in lines if line and not line.startswith(("#", "file:")))
