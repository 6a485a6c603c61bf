"""An edit of the bounds of pools in a stack file's text, which leaves everything else as it is written. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import yaml

from slipway.authoring.stack.yaml_loader import StackLoader
from slipway.base.errors import ConfigError

PoolBounds = Mapping[tuple[str, str], tuple[int, int]]
"""The minimum and maximum machines by cluster and pool; equal ones are a fixed size."""


@dataclass(frozen=True)
class _Replacement:
    """Text that replaces the file's from `start` to `end`."""

    start: int
    end: int
    text: str


def with_bounds(text: str, bounds: PoolBounds) -> str:
    """Return the text of a stack file with other bounds of some pools. Raises ConfigError for a pool that is not
    written at its cluster: an alias or a merge gives the same bounds to several."""
    root = StackLoader(text).get_single_node()
    shared = _shared(root)
    pools = {name: _replicas(root, shared, *name) for name in bounds}
    edits = [edit for name, node in pools.items() for edit in _edits(node, *bounds[name])]
    # From the end of the file, so that the places of the edits before it stay right.
    for edit in sorted(edits, key=lambda edit: edit.start, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def _shared(root: yaml.Node | None) -> frozenset[int]:
    """Return the ids of nodes that are written once and used in several places."""
    seen: set[int] = set()
    twice: set[int] = set()
    pending = [root] if root is not None else []
    while pending:
        node = pending.pop()
        if id(node) in seen:
            twice.add(id(node))
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            pending += [child for _, child in node.value]
        elif isinstance(node, yaml.SequenceNode):
            pending += node.value
    return frozenset(twice)


def _replicas(root: yaml.Node | None, shared: frozenset[int], cluster: str, pool: str) -> yaml.Node:
    node = root
    for key in ("config", "slipway:persistentResources", cluster, "pools", pool, "replicas"):
        node = _child(node, key)
        if node is None or id(node) in shared:
            break
    if node is None or any(id(part) in shared for part in (node, *_values(node))):
        raise ConfigError(
            f"the file does not write the replicas of {cluster}/{pool} for that pool alone",
            why="they come from an alias or a merge, or from nowhere",
            fix="write them in its entry",
        )
    return node


def _values(node: yaml.Node) -> list[yaml.Node]:
    return [child for _, child in node.value] if isinstance(node, yaml.MappingNode) else []


def _child(node: yaml.Node | None, key: str) -> yaml.Node | None:
    if not isinstance(node, yaml.MappingNode):
        return None
    return next((child for name, child in node.value if name.value == key), None)


def _edits(node: yaml.Node, least: int, most: int) -> list[_Replacement]:
    """Return the replacements. A range stays a range in its present form; any other value is written anew."""
    low, high = _child(node, "min"), _child(node, "max")
    if low is None or high is None or least == most:
        text = str(least) if least == most else f"{{ min: {least}, max: {most} }}"
        return [_Replacement(start=node.start_mark.index, end=_end(node), text=text)]
    edits = [_scalar(low, least), _scalar(high, most)]
    initial = _child(node, "initial")
    if initial is not None:
        number: int = StackLoader("").construct_object(initial)
        edits.append(_scalar(initial, min(max(number, least), most)))
    return [edit for edit in edits if edit.text]


def _scalar(node: yaml.Node, number: int) -> _Replacement:
    return _Replacement(start=node.start_mark.index, end=node.end_mark.index, text=str(number))


def _end(node: yaml.Node) -> int:
    """Return the end of a node. A block's end is that of its last value: the text after it may be a comment, or the
    next key's indent."""
    if isinstance(node, yaml.MappingNode) and not node.flow_style:
        return max(int(child.end_mark.index) for child in _values(node))
    return int(node.end_mark.index)
