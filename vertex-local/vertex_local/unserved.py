"""Words of served methods that the local cloud does not act on: it refuses whoever sends one, and ignores none.

The data are `unserved.toml`, and for Vertex AI `vertex/unserved.toml`: parameters by method, fields by message. What
changes nothing in the service either, or can't here, is taken, and stands in `docs/fidelity.md`.
"""

import tomllib
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from .wire import unimplemented

_FOLDER = Path(__file__).parent
_EMPTY: tuple[Any, ...] = ("", "false", 0, False, None, [], {})


def check_parameter(method: str, name: str, text: str) -> None:
    """Raise 501 for a parameter of a method (`storage.objects.get`) that is set and not served."""
    _check(_table("parameters"), method, name, text.lower())


def check_field(message: str, name: str, value: Any) -> None:
    """Raise 501 for a field of a message (`storage.Object`) that is set and not served."""
    _check(_table("fields"), message, name, value)


def _check(table: Mapping[str, Collection[str]], owner: str, name: str, value: Any) -> None:
    if name in table.get(owner, ()) and value not in _EMPTY:
        raise unimplemented(f"The local cloud does not implement '{name}' of {owner}. It does not ignore it either.")


@cache
def _table(part: str) -> Mapping[str, Collection[str]]:
    found: dict[str, Collection[str]] = {}
    for path in (_FOLDER / "unserved.toml", _FOLDER / "vertex" / "unserved.toml"):
        found |= tomllib.loads(path.read_text(encoding="utf-8")).get(part, {})
    return found
