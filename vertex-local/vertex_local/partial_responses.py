"""Partial responses: the parts of an answer that `fields` selects, as in `items(name,owner/entity),nextPageToken`."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from .wire import ApiError, Call, Reply, invalid_argument

_TOKEN = re.compile(r"\s*([(),/.]|[A-Za-z0-9_@$*-]+)")
_EVERY = "*"

Selection: TypeAlias = "Mapping[str, Selection]"
"""Names, each with what is selected below it; a name with nothing below it is selected whole, `*` is every name."""


def asked(call: Call) -> str:
    """Return the text of what a call selects, "" where it wants the whole answer."""
    return call.query.get("fields") or call.query.get("$fields") or call.headers.get("x-goog-fieldmask", "")


def parsed(text: str) -> Selection:
    """Return what a text selects. Raises 400 INVALID_ARGUMENT."""
    tokens, at = [], 0
    while text[at:].strip():
        match = _TOKEN.match(text, at)
        if match is None:
            raise refusal(text)
        tokens.append(match[1])
        at = match.end()
    selection, rest = _listed(tokens, text)
    if rest:
        raise refusal(text)
    return selection


def refusal(name: str) -> ApiError:
    """Return the error of a selection that names no field."""
    return invalid_argument(f"Invalid field selection {name}")


def selected(reply: Reply, wanted: Selection) -> Reply:
    """Return an answer with what is wanted of it alone."""
    return replace(reply, body=part(reply.body, wanted)) if wanted and isinstance(reply.body, dict) else reply


def part(value: Any, wanted: Selection) -> Any:
    """Return what is wanted of a value."""
    if not wanted:
        return value
    if isinstance(value, list):
        return [part(item, wanted) for item in value]
    if not isinstance(value, dict):
        return {}
    below = ((name, wanted.get(name, wanted.get(_EVERY))) for name in value)
    parts = {name: part(value[name], rest) for name, rest in below if rest is not None}
    return {name: part for name, part in parts.items() if part != {} or value[name] == {}}


def _listed(tokens: list[str], text: str) -> tuple[dict[str, Any], list[str]]:
    """Return the selection at the beginning of a text's tokens, and the rest of them."""
    selection: dict[str, Any] = {}
    while True:
        path, tokens = _path(tokens, text)
        below: Mapping[str, Any] = {}
        if tokens[:1] == ["("]:
            below, tokens = _listed(tokens[1:], text)
            if tokens[:1] != [")"]:
                raise refusal(text)
            tokens = tokens[1:]
        for name in reversed(path):
            below = {name: below}
        _merge(selection, below)
        if tokens[:1] != [","]:
            return selection, tokens
        tokens = tokens[1:]


def _path(tokens: list[str], text: str) -> tuple[list[str], list[str]]:
    names: list[str] = []
    while True:
        if not tokens or not re.match(r"[\w@$*-]", tokens[0]):
            raise refusal(text)
        names.append(tokens[0])
        if tokens[1:2] not in (["/"], ["."]):
            return names, tokens[1:]
        tokens = tokens[2:]


def _merge(entry: dict[str, Any], more: Mapping[str, Any]) -> None:
    """Add a selection to another one; a name that is selected whole stays so."""
    for name, below in more.items():
        if name in entry and entry[name] and below:
            _merge(entry[name], below)
        else:
            entry[name] = {} if name in entry else below
