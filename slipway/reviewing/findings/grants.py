"""IAM grants that a changed program makes, as far as its calls have literal arguments. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import chain

from slipway.base.formatting import few
from slipway.reviewing.change.files import MOST_READ, Sides
from slipway.reviewing.change.lines import PARSE_ERRORS

_GRANTING = re.compile(r"\w*I[Aa][Mm](Member|Binding)")
_PLACES = ("bucket", "project", "service_account_id", "secret_id", "repository", "dataset_id", "topic", "folder")
"""Arguments that name what a role is granted on."""


def new_grants(sides: Sides) -> Iterator[str]:
    """Yield sentences about grants that only the new side has."""
    known = set(_grants(sides.before))
    for sentence in _grants(sides.after):
        if sentence not in known:
            yield sentence


def _grants(text: str) -> Iterator[str]:
    if len(text) > MOST_READ:
        return
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except PARSE_ERRORS:
        return
    for node in nodes:
        if isinstance(node, ast.Call) and _GRANTING.fullmatch(_called(node.func)):
            yield from _grant(node)


def _called(function: ast.expr) -> str:
    """Return the last name of a called function."""
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _grant(call: ast.Call) -> Iterator[str]:
    """Yield a sentence if the role and the members are literals."""
    literals = {str(keyword.arg): _literals(keyword.value) for keyword in call.keywords}
    roles = literals.get("role", [])
    members = [*literals.get("member", []), *literals.get("members", [])]
    if not roles or not members:
        return
    places = list(chain.from_iterable(literals.get(name, []) for name in _PLACES))
    on = f" on `{places[0]}`" if places else ""
    sentence = f"grants `{roles[0]}`{on} to {few(f'`{member}`' for member in members)}"
    if _called(call.func).endswith("Binding"):
        sentence = f"{sentence}, and takes it from all others"
    yield sentence


def _literals(value: ast.expr) -> list[str]:
    """Return the texts of a literal or of a list of literals."""
    items = value.elts if isinstance(value, ast.List | ast.Tuple) else [value]
    return [item.value for item in items if isinstance(item, ast.Constant) and isinstance(item.value, str)]
