"""Two YAML documents compared value by value, so that order and form alone are no difference. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

from slipway.reviewing.change.files import MOST_READ, Sides
from slipway.reviewing.change.secret_values import change

_MOST_NODES = 5_000
_MOST_EVENTS = 12_000
_DEEPEST = 50
"""Nested lists and mappings."""
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
        first = f"`{self.path[0]}`"
        usual = dict.fromkeys(_OF_ALL_JOBS, "the workflow").get(self.path[0], first)
        job = f"job `{children['jobs']}`" if "jobs" in children else usual
        return f"step `{children['steps']}`" if "steps" in children else job

    def __str__(self) -> str:
        """Return `` `jobs.up.timeout-minutes` `180` → `10` ``."""
        name = self.name.replace("`", "'")
        # `id-token: write` has the name of a secret.
        return f"`{name}` {change(self.before, self.after, self.key.replace('id-token', ''))}"


@lru_cache(maxsize=64)
def leaf_edits(sides: Sides) -> tuple[LeafEdit, ...]:
    """Return the values that differ, in order. A text that can't be read is one value."""
    old = leaves(sides.before)
    new = leaves(sides.after)
    differing = dict(old.items() ^ new.items())
    paths = filter(differing.__contains__, dict.fromkeys((*new, *old)))
    edits = [LeafEdit(path, old.get(path, ""), new.get(path, "")) for path in paths]
    if not edits and list(old) != list(new):
        edits.append(LeafEdit(("order of the values",), "", "changed"))
    return tuple(edits)


def leaves(text: str) -> dict[Path, str]:
    """Return each value of a YAML text by its place, or the whole text if it can't be read."""
    import yaml  # Needed only for an edited YAML file.

    whole: dict[Path, str] = {("text",): text}
    if len(text) > MOST_READ:
        return whole
    try:
        _require_small(yaml.parse(text, Loader=yaml.SafeLoader))
        budget = _Budget(_MOST_NODES)
        found: dict[Path, str] = {}
        # A file of GitLab can have a header of its own, which is a document.
        for number, root in enumerate(yaml.compose_all(text, Loader=yaml.SafeLoader)):
            start = (f"document {number}",) if number else ()
            found.update(_walk(root, start, budget))
    except (yaml.YAMLError, ValueError):
        return whole
    return found


def _require_small(events: Iterable[Any]) -> None:
    """Raise ValueError after too many values, or too deep ones: composing them would take seconds."""
    depth = 0
    for count, event in enumerate(events):
        name = type(event).__name__
        depth += name.endswith("StartEvent")
        depth -= name.endswith("EndEvent")
        if count > _MOST_EVENTS or depth > _DEEPEST:
            raise ValueError("too large")


@dataclass
class _Budget:
    """The number of nodes that may still be read: an alias can name the same node many times."""

    left: int

    def take(self, count: int) -> None:
        """Raise ValueError if fewer nodes are left."""
        self.left -= count
        if self.left < 0:
            raise ValueError("too large")


def _walk(node: Any, path: Path, budget: _Budget) -> Iterator[tuple[Path, str]]:
    """Yield each value."""
    is_scalar = node.id == "scalar"
    budget.take(1 if is_scalar else len(node.value))
    children = [] if is_scalar else _children(node)
    scalars = [child.value for _, child in children if child.id == "scalar"]
    if not children:
        yield path, str(node.value or "{}")
    elif node.id == "sequence" and len(scalars) == len(children):
        yield path, ", ".join(scalars)
    else:
        for name, child in children:
            yield from _walk(child, (*path, name), budget)


def _children(node: Any) -> list[tuple[str, Any]]:
    """Return the values of a mapping by key, or the items of a list by name: a step's name, action or first line."""
    if node.id == "mapping":
        return [(str(key.value), value) for key, value in node.value]
    children = []
    seen: set[str] = set()
    for at, item in enumerate(node.value):
        name = _name(item)
        children.append((f"{name} {at}" if name in seen else name, item))
        seen.add(name)
    return children


def _name(item: Any) -> str:
    values = dict(_children(item)) if item.id == "mapping" else {}
    named = [str(values[key].value) for key in filter(values.__contains__, _NAMES)]
    return (*named, "item")[0].partition("@")[0].strip().partition("\n")[0][:60]
