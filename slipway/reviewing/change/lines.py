"""Changed lines of a file, and whether its change has an effect. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from pathlib import PurePosixPath

from slipway.authoring.stack.secrets import lines_have_secret
from slipway.base.formatting import counted
from slipway.reviewing.change.files import MOST_READ, Sides, printable
from slipway.reviewing.change.leaves import leaf_edits
from slipway.reviewing.change.secret_values import HIDDEN, bare

_MOST_LINES = 5_000
_LONGEST = 400
_BREAK = " ⏎ "
_UNREAD = re.compile("\ufffd|^# /// ", re.MULTILINE)
"""Bytes that are not UTF-8, and comments that declare what to install (PEP 723)."""
_ACTS = re.compile(r"\b(docopt|defopt|dspy|__doc__|getdoc)\b|@[\w.]*tool\b")
"""Names of code that acts by docstrings."""
_HAS_BODY = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
PARSE_ERRORS = (SyntaxError, ValueError, RecursionError, MemoryError)
_COMMENT_LINE = re.compile(r"^[ \t]*(#(?!!).*|//.*)?\n|[ \t]+$", re.MULTILINE)


def is_harmless(path: str, sides: Sides) -> bool:
    """Return whether two texts differ in comments, docstrings or form alone."""
    same = _SAME.get(PurePosixPath(path).suffix, _same_lines)
    return sides.before == sides.after or (sides.longest <= MOST_READ and same(sides))


def _same_lines(sides: Sides) -> bool:
    texts = {_COMMENT_LINE.sub("", f"{text}\n") for text in (sides.before, sides.after)}
    return len(texts) == 1


def _same_yaml(sides: Sides) -> bool:
    return not leaf_edits(sides)


def _same_program(sides: Sides) -> bool:
    both = f"{sides.before}\n{sides.after}"
    if _UNREAD.search(both):
        return False
    is_whole = _ACTS.search(both) is not None
    try:
        return _program(sides.before, is_whole=is_whole) == _program(sides.after, is_whole=is_whole)
    except PARSE_ERRORS:
        return False


def _program(text: str, *, is_whole: bool) -> str:
    """Return the code, with docstrings if it is `whole`. A first line can declare an encoding of its bytes."""
    tree = ast.parse(text.encode())
    if not is_whole:
        _drop_docstrings(tree)
    return ast.dump(tree)


def _drop_docstrings(tree: ast.Module) -> None:
    for node in ast.walk(tree):
        if isinstance(node, _HAS_BODY) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:]


def code_of(text: str) -> str:
    """Return Python code without comments and docstrings; the same text if it can't be parsed."""
    if len(text) > MOST_READ:
        return text
    try:
        tree = ast.parse(text)
        _drop_docstrings(tree)
        return ast.unparse(tree)
    except PARSE_ERRORS:
        return text


_SAME = {".py": _same_program, ".yaml": _same_yaml, ".yml": _same_yaml}


def changed_lines(path: str, sides: Sides) -> Iterator[str]:
    """Yield the changed places of a file, such as `` `a.py:7` `x = 1` → `x = 2` ``. Secrets are hidden."""
    name = printable(path)
    old = sides.before.splitlines()
    new = sides.after.splitlines()
    if sides.longest > MOST_READ or max(len(old), len(new)) > _MOST_LINES:
        yield f"`{name}` is too long to be compared line by line"
        return
    for kind, start, end, new_start, new_end in SequenceMatcher(None, old, new).get_opcodes():
        if kind == "equal":
            continue
        before = _block(old[start:end], new[new_start:new_end], old[:start])
        after = _block(new[new_start:new_end], old[start:end], new[:new_start])
        if before != after:
            yield f"`{name}:{new_start + 1}` {before} → {after}"


def _block(lines: Sequence[str], beside: Sequence[str], above: Sequence[str]) -> str:
    """Return lines as one, with the number of those that are left out; `none` for blank lines."""
    text = _joined(lines)
    part = bare(text, longest=_LONGEST, beside=_joined(beside))
    if part == HIDDEN or lines_have_secret(lines, above):
        return HIDDEN
    left = text.count(_BREAK) - part.count(_BREAK)
    more = f" and {counted(left, 'more lines')}" if left else ""
    return f"`{part}`{more}" if text else "none"


def _joined(lines: Sequence[str]) -> str:
    return _BREAK.join(filter(None, map(str.strip, lines)))
