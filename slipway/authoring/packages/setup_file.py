"""Requirements that a setup.py or a setup.cfg lists, read without being run. Pure."""

from __future__ import annotations

import ast
import configparser
import warnings
from collections.abc import Mapping

PROGRAM, SETTINGS = "setup.py", "setup.cfg"
_FIELD = "install_requires"


def requirements(files: Mapping[str, bytes]) -> tuple[str, tuple[str, ...] | None]:
    """Return the file that lists requirements, and these: None where only running the file tells them."""
    of_program = _of_program(files.get(PROGRAM, b""))
    if of_program == ():
        return SETTINGS, _of_settings(files.get(SETTINGS, b""))
    return PROGRAM, of_program


class _Listing(ast.NodeVisitor):
    """Values that a program assigns to names, and the list that it calls `setup` with."""

    def __init__(self) -> None:
        self.named: dict[str, ast.expr] = {}
        self.given: ast.expr | None = None

    def visit_Assign(self, node: ast.Assign) -> None:
        self.named[ast.unparse(node.targets[0])] = node.value
        self.generic_visit(node)

    def visit_keyword(self, node: ast.keyword) -> None:
        if node.arg == _FIELD:
            self.given = node.value
        self.generic_visit(node)


def _of_program(content: bytes) -> tuple[str, ...] | None:
    listing = _Listing()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            listing.visit(ast.parse(content))
    except (SyntaxError, ValueError):
        return ()
    if listing.given is None:
        return ()
    value = listing.named.get(ast.unparse(listing.given), listing.given)
    try:
        return _lines(ast.literal_eval(value))
    except (ValueError, TypeError):
        return None


def _lines(value: object) -> tuple[str, ...]:
    """Return the lines of a list or a text. Raises TypeError for anything else."""
    listed = value.splitlines() if isinstance(value, str) else value
    if not isinstance(listed, list | tuple):
        raise TypeError(f"{listed!r} is not a list")
    stripped = map(str.strip, listed)
    return tuple(filter(None, stripped))


def _of_settings(content: bytes) -> tuple[str, ...]:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(content.decode(errors="replace"))
    except configparser.Error:
        return ()
    listed = _lines(parser.get("options", _FIELD, fallback=""))
    return tuple(line for line in listed if not line.startswith(("#", "file:")))
