"""Two YAML documents compared value by value, so that order and form alone are no difference. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from slipway.reviewing.change.files import MOST_READ, Sides
from slipway.reviewing.change.secret_values import change

_MOST_NODES = 5_000
_NAMES = ("name", "id", "uses", "repo", "run")
"""Keys by which an item of a list is recognized."""
_OF_ALL_JOBS = ("on", "permissions", "concurrency", "env", "defaults")
Path = tuple[str, ...]


@dataclass(frozen=True)
class LeafEdit:
    """A value of a YAML document before and after; an empty side has no such value."""

    path: Path
    before: str
    after: str

    @property
    def key(self) -> str:
        return self.path[-1]

    @property
    def name(self) -> str:
        return ".".join(self.path)

    @property
    def place(self) -> str:
        """Return `` job `up` ``, `` step `Approved` ``, or `the workflow`."""
        children = dict(pairwise(self.path))
        if "steps" in children:
            return f"step `{children['steps']}`"
        usual = "the workflow" if self.path[0] in _OF_ALL_JOBS else f"`{self.path[0]}`"
        return f"job `{children['jobs']}`" if "jobs" in children else usual

    def __str__(self) -> str:
        """Return `` `jobs.up.timeout-minutes` `180` → `10` ``."""
        name = self.name.replace("`", "'")
        # `id-token: write` has the name of a secret.
        return f"`{name}` {change(self.before, self.after, self.key.replace('id-token', ''))}"


def leaf_edits(sides: Sides) -> tuple[LeafEdit, ...] | None:
    """Return the values that differ, in order; None if either text can't be read."""
    old = _leaves(sides.before)
    new = _leaves(sides.after)
    if old is None or new is None:
        return None
    paths = dict.fromkeys((*new, *old))
    edits = tuple(LeafEdit(path, old.get(path, ""), new.get(path, "")) for path in paths)
    differing = tuple(edit for edit in edits if edit.before != edit.after)
    steps = [[path for path in side if "steps" in path] for side in (old, new)]
    if differing or steps[0] == steps[1]:
        return differing
    return (LeafEdit(("steps", "order"), "as before", "changed"),)


def _leaves(text: str) -> dict[Path, str] | None:
    import yaml  # Needed only for an edited YAML file.

    leaves: dict[Path, str] = {}
    if len(text) > MOST_READ:
        return None
    try:
        # A file of GitLab can have a header of its own.
        for number, root in enumerate(yaml.compose_all(text, Loader=yaml.SafeLoader)):
            for path, value in _walk(root, (f"document {number}",) if number else (), [_MOST_NODES]):
                leaves[path] = value
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    return leaves


def _walk(node: Any, path: Path, left: list[int]) -> Iterator[tuple[Path, str]]:
    """Yield each value. Raises ValueError after too many nodes: an alias can name the same node many times."""
    left[0] -= 1
    if left[0] < 0:
        raise ValueError("too many nodes")
    if isinstance(node.value, str) or not node.value:
        yield path, node.value or "{}"
    elif all(isinstance(getattr(item, "value", None), str) for item in node.value):
        yield path, ", ".join(item.value for item in node.value)
    else:
        for name, child in _children(node):
            yield from _walk(child, (*path, name), left)


def _children(node: Any) -> list[tuple[str, Any]]:
    """Return the values of a mapping by key, or the items of a list by name: a step's name, action or first line."""
    if node.id == "mapping":
        return [(str(key.value), value) for key, value in node.value]
    names = [_name(item) for item in node.value]
    labels = [f"{name} {at}" if name in names[:at] else name for at, name in enumerate(names)]
    return list(zip(labels, node.value, strict=True))


def _name(item: Any) -> str:
    values = dict(_children(item)) if item.id == "mapping" else {}
    named = [str(values[key].value) for key in _NAMES if key in values]
    return next(iter(named), "item").partition("@")[0].strip().partition("\n")[0][:60]
