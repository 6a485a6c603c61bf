"""Two YAML documents compared value by value, so that order and form alone are no difference. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, pairwise
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
        first = f"`{self.path[0]}`"
        usual = dict.fromkeys(_OF_ALL_JOBS, "the workflow").get(self.path[0], first)
        job = f"job `{children['jobs']}`" if "jobs" in children else usual
        return f"step `{children['steps']}`" if "steps" in children else job

    def __str__(self) -> str:
        """Return `` `jobs.up.timeout-minutes` `180` → `10` ``."""
        name = self.name.replace("`", "'")
        # `id-token: write` has the name of a secret.
        return f"`{name}` {change(self.before, self.after, self.key.replace('id-token', ''))}"


def leaf_edits(sides: Sides) -> list[LeafEdit]:
    """Return the values that differ, in order. A text that can't be read is one value."""
    old = _leaves(sides.before)
    new = _leaves(sides.after)
    differing = dict(old.items() ^ new.items())
    paths = filter(differing.__contains__, dict.fromkeys((*new, *old)))
    edits = [LeafEdit(path, old.get(path, ""), new.get(path, "")) for path in paths]
    if not edits and list(old) != list(new):
        edits.append(LeafEdit(("order of the values",), "", "changed"))
    return edits


def _leaves(text: str) -> dict[Path, str]:
    import yaml  # Needed only for an edited YAML file.

    try:
        # A file of GitLab can have a header of its own, which is a document.
        roots = enumerate(yaml.compose_all(text[: MOST_READ + 1], Loader=yaml.SafeLoader))
        left = iter(range(_MOST_NODES))
        documents = [_walk(root, (f"document {number}",)[:number], left) for number, root in roots]
        leaves = dict(chain.from_iterable(documents))
    except (yaml.YAMLError, StopIteration, RuntimeError, ValueError):
        return {("text",): text}
    return leaves if len(text) <= MOST_READ else {("text",): text}


def _walk(node: Any, path: Path, left: Iterator[int]) -> Iterator[tuple[Path, str]]:
    """Yield each value. Raises RuntimeError after too many nodes: an alias can name the same node many times."""
    next(left)
    children = _children(node)
    scalars = [child.value for _, child in children if child.id == "scalar"]
    if node.id == "sequence" and len(scalars) == len(children):
        yield path, ", ".join(scalars) or "{}"
    elif node.id == "scalar" or not children:
        yield path, str(node.value or "{}")
    else:
        for name, child in children:
            yield from _walk(child, (*path, name), left)


def _children(node: Any) -> list[tuple[str, Any]]:
    """Return the values of a mapping by key, or the items of a list by name: a step's name, action or first line."""
    if node.id == "sequence":
        names = list(map(_name, node.value))
        labels = [f"{name} {at}" if name in names[:at] else name for at, name in enumerate(names)]
        return list(zip(labels, node.value, strict=True))
    return [(str(key.value), value) for key, value in node.value] if node.id == "mapping" else []


def _name(item: Any) -> str:
    values = dict(_children(item)) if item.id == "mapping" else {}
    named = [str(values[key].value) for key in filter(values.__contains__, _NAMES)]
    return (*named, "item")[0].partition("@")[0].strip().partition("\n")[0][:60]
