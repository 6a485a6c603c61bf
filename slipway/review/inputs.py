"""Inputs of resources: where two differ, and as much of it as a sentence may repeat."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from slipway.formatting import short
from slipway.review.preview import SECRET, UNKNOWN
from slipway.stack.secrets import shown

_LONGEST = 80
_NOTHING: tuple[Any, ...] = (None, {}, [])
_SECRET_NAME = re.compile(
    r"(?i)(pass(word|wd|phrase)|secretdata|private_?key|access_?key|token|credential|connectionstring|clientsecret)"
)


@dataclass(frozen=True)
class Difference:
    """A path from one value to another; None is what is not there."""

    path: str
    before: Any
    after: Any

    def __str__(self) -> str:
        """`versioning.enabled` `true` → `false`; of what may be secret the path alone."""
        if _hidden(self.path, self.before) or _hidden(self.path, self.after):
            return f"`{self.path}`, which may be secret"
        return f"`{self.path}` {said(self.before)} → {said(self.after)}"


def said(value: Any) -> str:
    """A value that is not secret, in backticks and short."""
    if value is None:
        return "none"
    if value == UNKNOWN:
        return "what is known once it is deployed"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"`{short(text, _LONGEST).replace('`', chr(39))}`" if text else "empty"


def differences(before: Any, after: Any, path: str = "") -> Iterator[Difference]:
    """Leaf by leaf. Lists are compared by what is in them: an order alone is no difference, nor is nothing written
    down in place of nothing said."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in dict.fromkeys((*before, *after)):
            yield from differences(before.get(key), after.get(key), f"{path}.{key}" if path else str(key))
    elif isinstance(before, list) and isinstance(after, list):
        yield from _of_lists(before, after, path)
    elif before != after and not (before in _NOTHING and after in _NOTHING):
        yield Difference(path, before, after)


def unseen(paths: Iterable[str], found: Iterable[Difference]) -> tuple[str, ...]:
    """Return the engine's paths that differ where nothing is shown: in secrets, or in what the cloud computes."""
    tops = {top(one.path) for one in found}
    return tuple(dict.fromkeys(top(path) for path in paths if top(path) not in tops))


def texts(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every text in a value, with its path."""
    if isinstance(value, Mapping):
        for key, one in value.items():
            yield from texts(one, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for one in value:
            yield from texts(one, path)
    elif isinstance(value, str):
        yield path, value


def _of_lists(before: list[Any], after: list[Any], path: str) -> Iterator[Difference]:
    gone, added = _less(before, after), _less(after, before)
    if len(gone) == len(added) == 1:
        yield from differences(gone[0], added[0], f"{path}[{before.index(gone[0])}]")
    elif all(isinstance(one, str) for one in (*gone, *added)):
        if gone or added:
            yield Difference(path, ", ".join(gone) or None, ", ".join(added) or None)
    else:
        yield from (Difference(f"{path}[{before.index(one)}]", one, None) for one in gone)
        yield from (Difference(f"{path}[{after.index(one)}]", None, one) for one in added)


def _less(some: list[Any], others: list[Any]) -> list[Any]:
    left, rest = [], list(others)
    for one in some:
        if one in rest:
            rest.remove(one)
        else:
            left.append(one)
    return left


def top(path: str) -> str:
    """The input that a path begins at: `versioning` of `versioning.enabled`."""
    return re.split(r"[.\[]", path, maxsplit=1)[0]


def _hidden(path: str, value: Any) -> bool:
    if isinstance(value, Mapping | list):
        return any(_hidden(f"{path}.{key}", one) for key, one in texts(value))
    return SECRET in str(value) or bool(_SECRET_NAME.search(path) or shown(str(value)) == "hidden")
