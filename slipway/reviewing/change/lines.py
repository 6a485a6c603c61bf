"""Changed lines of a file, and whether a change of its text has an effect. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher

from slipway.authoring.stack.secrets import lines_have_secret
from slipway.base.formatting import counted
from slipway.reviewing.change.files import Sides, printable
from slipway.reviewing.change.secret_values import HIDDEN, bare

MOST_READ = 200_000
"""Characters of a file that is compared line by line."""
_MOST_LINES = 5_000
_LONGEST = 400
_BREAK = " ⏎ "
_UNREAD = re.compile("\ufffd|^# /// ", re.MULTILINE)
"""Bytes that are not UTF-8, and comments that declare what to install (PEP 723)."""
_ACTS = re.compile(r"\b(docopt|defopt|dspy|__doc__|getdoc)\b|@[\w.]*tool\b")
"""Names of code that acts by docstrings."""
_HAS_BODY = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
PARSE_ERRORS = (SyntaxError, ValueError, RecursionError, MemoryError)
_COMMENT = re.compile(r"\s*(#(?!!).*|//.*)?")


def is_harmless(path: str, sides: Sides) -> bool:
    """Return whether two texts differ in comments, docstrings or form alone."""
    if max(len(sides.before), len(sides.after)) > MOST_READ:
        return False
    if path.endswith(".py"):
        return _same_program(sides.before, sides.after)
    if path.endswith((".yaml", ".yml")):
        return _same_yaml(sides.before, sides.after)
    if not sides.before or not sides.after:
        return False
    return _code_lines(sides.before) == _code_lines(sides.after)


def _code_lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines() if not _COMMENT.fullmatch(line)]


def _same_program(before: str, after: str) -> bool:
    both = f"{before}\n{after}"
    if _UNREAD.search(both):
        return False
    is_whole = _ACTS.search(both) is not None
    try:
        return _program(before, is_whole=is_whole) == _program(after, is_whole=is_whole)
    except PARSE_ERRORS:
        return False


def _program(text: str, *, is_whole: bool) -> str:
    """Return the code, without docstrings unless it is `whole`. It is parsed as bytes because a first line can declare
    another encoding."""
    tree = ast.parse(text.encode())
    if is_whole:
        return ast.dump(tree)
    for node in ast.walk(tree):
        if isinstance(node, _HAS_BODY) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:]
    return ast.dump(tree)


def _same_yaml(before: str, after: str) -> bool:
    import yaml  # Needed only for an edited YAML file.

    try:
        return list(_yaml_events(before)) == list(_yaml_events(after))
    except (yaml.YAMLError, ValueError):
        return False


def _yaml_events(text: str) -> Iterator[tuple[object, ...]]:
    import yaml

    parts = ("anchor", "tag", "value", "implicit")
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        yield (type(event), *[getattr(event, part, None) for part in parts])


def added_lines(sides: Sides) -> list[str]:
    """Return lines that only the new text has."""
    known = {*sides.before.splitlines()}
    return [line for line in sides.after.splitlines() if line not in known]


def changed_lines(path: str, sides: Sides) -> list[str]:
    """Return the changed places of a file, such as `` `a.py:7` `x = 1` → `x = 2` ``. Secrets are hidden."""
    name = printable(path)
    old = sides.before.splitlines()
    new = sides.after.splitlines()
    longest = max(len(sides.before), len(sides.after))
    if longest > MOST_READ or max(len(old), len(new)) > _MOST_LINES:
        return [f"`{name}` is too long to be compared line by line"]
    places = []
    for kind, start, end, new_start, new_end in SequenceMatcher(None, old, new).get_opcodes():
        gone = old[start:end]
        come = new[new_start:new_end]
        if kind == "equal" or not _has_text((*gone, *come)):
            continue
        first = next((at for at in range(new_start, new_end) if new[at].strip()), new_start)
        before = _block(gone, come, old[:start])
        after = _block(come, gone, new[:new_start])
        places.append(f"`{name}:{first + 1}` {before} → {after}")
    return places


def _has_text(lines: Iterable[str]) -> bool:
    return any(line.strip() for line in lines)


def _block(lines: Sequence[str], beside: Sequence[str], above: Sequence[str]) -> str:
    """Return lines as one, with the number of those that are left out."""
    if not _has_text(lines):
        return "none"
    if lines_have_secret(lines, above):
        return HIDDEN
    text = _joined(lines)
    part = bare(text, longest=_LONGEST, beside=_joined(beside))
    if part == HIDDEN:
        return HIDDEN
    left = text.count(_BREAK) - part.count(_BREAK)
    return f"`{part}` and {counted(left, 'more lines')}" if left else f"`{part}`"


def _joined(lines: Sequence[str]) -> str:
    stripped = [line.strip() for line in lines if line.strip()]
    code = [line for line in stripped if not line.startswith("#")]
    return _BREAK.join(code or stripped)
