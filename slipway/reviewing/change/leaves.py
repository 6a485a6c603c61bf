"""Two YAML documents compared value by value, so that order and form alone are no difference. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from slipway.reviewing.change.files import Sides
from slipway.reviewing.change.lines import MOST_READ
from slipway.reviewing.change.secret_values import change

_MOST_NODES = 20_000
_NAMES = ("name", "id", "uses", "repo", "run")
"""Keys by which an item of a list is recognized."""


@dataclass(frozen=True)
class LeafEdit:
    """A value of a YAML document before and after; an empty side has no such value."""

    path: tuple[str, ...]
    before: str
    after: str

    @property
    def key(self) -> str:
        return self.path[-1]

    @property
    def place(self) -> str:
        """Return `` job `up` ``, `` step `Approved` ``, or `the workflow`."""
        if "steps" in self.path[:-1]:
            return f"step `{self.path[self.path.index('steps') + 1]}`"
        if self.path[0] == "jobs" and len(self.path) > 2:
            return f"job `{self.path[1]}`"
        return "the workflow" if self.path[0] in ("on", "permissions", "concurrency", "env") else f"`{self.path[0]}`"

    @property
    def comes(self) -> frozenset[str]:
        """Words that only the new value has."""
        return frozenset(self.after.replace(",", " ").split()) - frozenset(self.before.replace(",", " ").split())

    @property
    def goes(self) -> frozenset[str]:
        return frozenset(self.before.replace(",", " ").split()) - frozenset(self.after.replace(",", " ").split())

    def __str__(self) -> str:
        """Return `` `jobs.up.timeout-minutes` `180` → `10` ``."""
        name = ".".join(self.path).replace("`", "'")
        return f"`{name}` {change(self.before, self.after, self.key)}"


def leaf_edits(sides: Sides) -> tuple[LeafEdit, ...] | None:
    """Return the values that differ, in order; None if either text can't be read."""
    old = _leaves(sides.before)
    new = _leaves(sides.after)
    if old is None or new is None:
        return None
    edits = []
    for path in dict.fromkeys((*new, *old)):
        before = old.get(path, "")
        after = new.get(path, "")
        if before != after:
            edits.append(LeafEdit(path, before, after))
    return tuple(edits)


def _leaves(text: str) -> dict[tuple[str, ...], str] | None:
    import yaml  # Needed only for an edited YAML file.

    if len(text) > MOST_READ:
        return None
    leaves: dict[tuple[str, ...], str] = {}
    try:
        # A file of GitLab can have a header of its own.
        for number, root in enumerate(yaml.compose_all(text, Loader=yaml.SafeLoader)):
            for count, (path, value) in enumerate(_walk(root, ())):
                if count > _MOST_NODES:
                    return None
                if path:
                    leaves[path if path not in leaves else (*path, str(number))] = value
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    return leaves


def _walk(node: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield each value, and an empty pair for each node on the way: an alias can name the same node many times."""
    yield (), ""
    if not isinstance(node.value, list):
        yield path, node.value or "{}"
    elif not node.value:
        yield path, "{}"
    elif node.id == "mapping":
        for key, value in node.value:
            yield from _walk(value, (*path, str(key.value)))
    elif all(isinstance(item.value, str) for item in node.value):
        yield path, ", ".join(item.value for item in node.value)
    else:
        seen: dict[str, int] = {}
        for item in node.value:
            name = _name(item)
            seen[name] = seen.get(name, 0) + 1
            label = name if seen[name] == 1 else f"{name} {seen[name]}"
            yield from _walk(item, (*path, label))


def _name(item: Any) -> str:
    """Return the name of a list's item: a step's name, action or first line."""
    if item.id != "mapping":
        return "item"
    values = {str(key.value): str(value.value) for key, value in item.value}
    for key in _NAMES:
        if values.get(key):
            return values[key].partition("@")[0].strip().partition("\n")[0][:60]
    return "item"
