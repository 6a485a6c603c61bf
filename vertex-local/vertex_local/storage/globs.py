"""Glob patterns of names, as `matchGlob` has them: `*` and `?` stay within a folder, and `**` does not."""

import re
from collections.abc import Callable

from . import errors

_TOKEN = re.compile(r"\*\*|[*?{},]|\[[!^]?\]?[^\]]*\]|\\.|[^\\\[]", re.DOTALL)
_MEANS = {"**": ".*", "*": "[^/]*", "?": "[^/]", "{": "(?:", "}": ")"}


def test(glob: str) -> Callable[[str], bool]:
    """Return a test of names; the empty glob is every name's. Raises 400 for a glob that can't be read."""
    if not glob:
        return lambda name: True
    expression, depth, at = "", 0, 0
    while at < len(glob):
        token = _TOKEN.match(glob, at)
        if token is None:
            raise _unreadable(glob)
        at, text = token.end(), token[0]
        depth += (text == "{") - (text == "}" and depth > 0)
        expression += _meaning(text, depth > 0)
    try:
        pattern = re.compile(expression, re.DOTALL)
    except re.error as error:
        raise _unreadable(glob) from error
    return lambda name: pattern.fullmatch(name) is not None


def _meaning(text: str, inside: bool) -> str:
    """Return a token's part of a regular expression; a comma `inside` of braces stands between alternatives."""
    if text == "," and inside:
        return "|"
    if text.startswith("[") and len(text) > 1:
        negated = text[1] in "!^"
        letters = text[2 if negated else 1 : -1].replace("\\", "\\\\").replace("[", "\\[")
        return f"[{'^' * negated}{letters}]"
    return _MEANS.get(text) or re.escape(text[-1])


def _unreadable(glob: str) -> Exception:
    return errors.invalid(f"Invalid value for matchGlob: '{glob}'.")
